// Kernels that differ in how their warps touch memory.

#include "gpu/cuda.hpp"
#include "gpu/launch.hpp"
#include "tests/counts/count_kernels.hpp"

namespace sevenloops::SEVENLOOPS_BUILD {
namespace {

constexpr int kTile = 32;

__global__ void copy(const float* x, float* y, int stride, int offset) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i * stride + offset];
}

__global__ void copy4(const float4* x, float4* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i];
}

__global__ void broadcast(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[blockIdx.x];
}

// One thread an element of y = x * w; `kRowFast` maps neighboring threads to neighboring rows.
template <bool kRowFast>
__global__ void matmul(const float* x, const float* w, float* y, int n) {
  const int fast = blockIdx.x * blockDim.x + threadIdx.x;
  const int slow = blockIdx.y * blockDim.y + threadIdx.y;
  const int row = kRowFast ? fast : slow, column = kRowFast ? slow : fast;
  float sum = 0.0f;
  for (int k = 0; k < n; ++k) sum = fma(x[row * n + k], w[k * n + column], sum);
  y[row * n + column] = sum;
}

__global__ void matmul_tiled(const float* x, const float* w, float* y, int n) {
  __shared__ float x_tile[kTile][kTile];
  __shared__ float w_tile[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0.0f;
  for (int first = 0; first < n; first += kTile) {
    x_tile[threadIdx.y][threadIdx.x] = x[row * n + first + threadIdx.x];
    w_tile[threadIdx.y][threadIdx.x] = w[(first + threadIdx.y) * n + column];
    __syncthreads();
    for (int k = 0; k < kTile; ++k) {
      sum = fma(x_tile[threadIdx.y][k], w_tile[k][threadIdx.x], sum);
    }
    __syncthreads();
  }
  y[row * n + column] = sum;
}

__global__ void transpose_naive(const float* x, float* y, int n) {
  const int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  y[column * n + row] = x[row * n + column];
}

template <int kPitch>
__global__ void transpose_shared(const float* x, float* y, int n) {
  __shared__ float tile[kTile][kPitch];
  const int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  tile[threadIdx.y][threadIdx.x] = x[row * n + column];
  __syncthreads();
  const int y_row = blockIdx.x * kTile + threadIdx.y, y_column = blockIdx.y * kTile + threadIdx.x;
  y[y_row * n + y_column] = tile[threadIdx.x][threadIdx.y];
}

// One warp stores and loads float4 `stride` apart.
__global__ void shared4(const float4* x, float4* y, int stride) {
  __shared__ float4 tile[32 * 9];
  tile[threadIdx.x * stride] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x * stride];
}

__global__ void shared_uniform4(const float4* x, float4* y) {
  __shared__ float4 tile[1];
  if (threadIdx.x == 0) tile[0] = x[0];
  __syncthreads();
  y[threadIdx.x] = tile[0];
}

template <typename T>
__global__ void shared_stride(const T* x, T* y, int stride) {
  __shared__ T tile[32 * 33];
  tile[threadIdx.x * stride] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x * stride];
}

dim3 tiles(int n) { return dim3(n / kTile, n / kTile); }

const float4* four(const float* x) { return reinterpret_cast<const float4*>(x); }
float4* four(float* y) { return reinterpret_cast<float4*>(y); }

}  // namespace

void launch_copy(const float* x, float* y, int threads, int stride, int offset) {
  launch(copy, LaunchShape{dim3(threads / 64), dim3(64)}, nullptr, x, y, stride, offset);
}
void launch_copy4(const float* x, float* y, int vectors) {
  launch(copy4, LaunchShape{dim3(vectors / 64), dim3(64)}, nullptr, four(x), four(y));
}
void launch_broadcast(const float* x, float* y, int threads) {
  launch(broadcast, LaunchShape{dim3(threads / 64), dim3(64)}, nullptr, x, y);
}
void launch_matmul_uncoalesced(const float* x, const float* w, float* y, int n) {
  launch(matmul<true>, LaunchShape{tiles(n), dim3(kTile, kTile)}, nullptr, x, w, y, n);
}
void launch_matmul_naive(const float* x, const float* w, float* y, int n) {
  launch(matmul<false>, LaunchShape{tiles(n), dim3(kTile, kTile)}, nullptr, x, w, y, n);
}
void launch_matmul_tiled(const float* x, const float* w, float* y, int n) {
  launch(matmul_tiled, LaunchShape{tiles(n), dim3(kTile, kTile)}, nullptr, x, w, y, n);
}
void launch_transpose_naive(const float* x, float* y, int n) {
  launch(transpose_naive, LaunchShape{tiles(n), dim3(kTile, kTile)}, nullptr, x, y, n);
}
void launch_transpose_shared(const float* x, float* y, int n) {
  launch(transpose_shared<32>, LaunchShape{tiles(n), dim3(kTile, kTile)}, nullptr, x, y, n);
}
void launch_transpose_padded(const float* x, float* y, int n) {
  launch(transpose_shared<33>, LaunchShape{tiles(n), dim3(kTile, kTile)}, nullptr, x, y, n);
}
void launch_shared4(const float* x, float* y, int stride) {
  launch(shared4, LaunchShape{dim3(1), dim3(32)}, nullptr, four(x), four(y), stride);
}
void launch_shared_uniform4(const float* x, float* y) {
  launch(shared_uniform4, LaunchShape{dim3(1), dim3(32)}, nullptr, four(x), four(y));
}
void launch_shared_stride(const float* x, float* y, int stride) {
  launch(shared_stride<float>, LaunchShape{dim3(1), dim3(32)}, nullptr, x, y, stride);
}
void launch_shared_double(const double* x, double* y, int stride) {
  launch(shared_stride<double>, LaunchShape{dim3(1), dim3(32)}, nullptr, x, y, stride);
}

}  // namespace sevenloops::SEVENLOOPS_BUILD
