// The kernel that measures the emulator: a tiled matrix product, bench/oclgrind/tiled.cl in CUDA.

#include "bench/simt_tiled.hpp"
#include "gpu/cuda.hpp"
#include "gpu/launch.hpp"

namespace sevenloops::SEVENLOOPS_BUILD {
namespace {

constexpr int kTile = 32;

__global__ void matmul_tiled(const float* x, const float* w, float* y, int n) {
  __shared__ float x_tile[kTile][kTile];
  __shared__ float w_tile[kTile][kTile];
  const int column = blockIdx.x * kTile + threadIdx.x;
  const int row = blockIdx.y * kTile + threadIdx.y;
  float sum = 0.0f;
  for (int first = 0; first < n; first += kTile) {
    x_tile[threadIdx.y][threadIdx.x] = x[row * n + first + threadIdx.x];
    w_tile[threadIdx.y][threadIdx.x] = w[(first + threadIdx.y) * n + column];
    __syncthreads();
    for (int i = 0; i < kTile; ++i) {
      sum = fma(x_tile[threadIdx.y][i], w_tile[i][threadIdx.x], sum);
    }
    __syncthreads();
  }
  y[row * n + column] = sum;
}

}  // namespace

void launch_matmul_tiled(const float* x, const float* w, float* y, int n) {
  const unsigned tiles = static_cast<unsigned>(n / kTile);
  launch(matmul_tiled, LaunchShape{dim3(tiles, tiles), dim3(kTile, kTile)}, nullptr, x, w, y, n);
}

}  // namespace sevenloops::SEVENLOOPS_BUILD
