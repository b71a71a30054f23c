// Kernels whose threads part, meet, vote and exchange.

#include "gpu/async_copy.hpp"
#include "gpu/cuda.hpp"
#include "gpu/launch.hpp"
#include "tests/counts/count_kernels.hpp"

namespace sevenloops::SEVENLOOPS_BUILD {
namespace {

__global__ void half_warp(const float* x, float* y) {
  const int i = threadIdx.x;
  if (i % 32 < 16) y[i] = x[i];
}

// Lane l reads l + 1 elements.
__global__ void uneven_loops(const float* x, float* y) {
  const int lane = threadIdx.x % 32;
  float sum = 0.0f;
  for (int i = 0; i <= lane; ++i) sum += x[i];
  y[threadIdx.x] = sum;
}

// The inner loop's length depends on the lane; each lane stays in its own bank.
__global__ void nested_loops(const float* x, float* y) {
  __shared__ float tile[16 * 32];
  const int lane = threadIdx.x;
  for (int i = 0; i < 16; ++i) tile[i * 32 + lane] = x[i * 32 + lane];
  __syncthreads();
  float sum = 0.0f;
  for (int turn = 0; turn < 4; ++turn) {
    for (int i = 0; i < 4 + lane % 3; ++i)
      sum = fma(tile[(turn * 4 + i) % 16 * 32 + lane], 2.0f, sum);
  }
  y[blockIdx.x * 32 + lane] = sum;
}

// Sum of 256 elements of each block: shuffles within warps, shared memory between them.
__global__ void block_sum(const float* x, float* y) {
  __shared__ float sums[8];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  float sum = x[blockIdx.x * 256 + threadIdx.x];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
  if (lane == 0) sums[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    sum = lane < 8 ? sums[lane] : 0.0f;
    for (int step = 4; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step, 8);
    if (lane == 0) y[blockIdx.x] = sum;
  }
}

// Threads that ended do not vote; 40 of 64 stay.
__global__ void votes(float* y) {
  const int i = threadIdx.x;
  const int even = __syncthreads_count(i % 2 == 0);
  const int all = __syncthreads_and(i < 64), not_all = __syncthreads_and(i < 63);
  const int any = __syncthreads_or(i == 63), none = __syncthreads_or(i == 64);
  const unsigned low = __ballot_sync(0xffffffff, i % 32 < 5);
  const int warp_all = __all_sync(0xffffffff, i >= 32), warp_any = __any_sync(0xffffffff, i == 40);
  y[i] = even + 100 * all + 1000 * not_all + 10000 * any + 100000 * none + 0.5f * (low == 31) +
         0.25f * warp_all + 0.125f * warp_any;
}

__global__ void shuffles(float* y) {
  const int lane = threadIdx.x;
  const double value = lane * 1.5;
  y[lane] = __shfl_sync(0xffffffff, lane, 35);
  y[32 + lane] = static_cast<float>(__shfl_up_sync(0xffffffff, value, 3));
  y[64 + lane] = static_cast<float>(__shfl_down_sync(0xffffffff, value, 3, 16));
  y[96 + lane] = __shfl_xor_sync(0xffffffff, static_cast<float>(lane), 5);
  y[128 + lane] = __shfl_sync(0xffffffff, lane, 2, 8);
}

// Odd and even lanes exchange among themselves; then lanes from 20 on are gone.
__global__ void partial_masks(float* y) {
  const int lane = threadIdx.x;
  const unsigned mask = lane % 2 == 0 ? 0x55555555 : 0xaaaaaaaa;
  int value = 0;
  if (lane % 2 == 0) {
    value = __shfl_sync(mask, lane, 30);
  } else {
    value = __shfl_sync(mask, lane, 1);
  }
  y[lane] = value;
  if (lane >= 20) return;
  y[32 + lane] = __popc(__ballot_sync(0x000fffff, lane % 4 == 0));
}

__global__ void atomics(unsigned* y) {
  __shared__ unsigned count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  const unsigned ticket = atomicAdd(&count, 1u);
  __syncthreads();
  atomicAdd(&y[0], ticket);
  atomicMax(&y[1], blockIdx.x * 64 + threadIdx.x);
  atomicMin(&y[2], blockIdx.x * 64 + threadIdx.x);
  if (threadIdx.x == 0) atomicExch(&y[3 + blockIdx.x], count);
  for (unsigned seen = y[64]; threadIdx.x == 0;) {
    const unsigned before = atomicCAS(&y[64], seen, seen + 2);
    if (before == seen) break;
    seen = before;
  }
}

// Every thread's place in a grid and blocks of three axes.
__global__ void ids(float* y) {
  const int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const int threads = blockDim.x * blockDim.y * blockDim.z;
  y[block * threads + thread] = blockIdx.z * 100 + blockIdx.y * 10 + blockIdx.x +
                                0.01f * threadIdx.x + 0.1f * threadIdx.y + 0.5f * threadIdx.z;
}

__global__ void vectors(const float* x, float* y) {
  float4* fours = dynamic_shared<float4>();
  const float4 value = reinterpret_cast<const float4*>(x)[threadIdx.x];
  fours[threadIdx.x] = make_float4(value.w, value.z, value.y, value.x);
  __syncthreads();
  const float4 back = fours[31 - threadIdx.x];
  float2* pairs = reinterpret_cast<float2*>(y);
  pairs[2 * threadIdx.x] = make_float2(back.x, back.y);
  pairs[2 * threadIdx.x + 1] = make_float2(back.z, back.w);
}

// y[i] = sum over tiles of x, where each tile is read backwards; one barrier a tile.
__global__ void double_buffer(const float* x, float* y, int tiles) {
  __shared__ float tile[2][64];
  const int i = threadIdx.x;
  tile[0][i] = x[i];
  __syncthreads();
  float sum = 0.0f;
  for (int t = 0; t < tiles; ++t) {
    if (t + 1 < tiles) tile[(t + 1) % 2][i] = x[(t + 1) * 64 + i];
    sum += tile[t % 2][63 - i];
    __syncthreads();
  }
  y[i] = sum;
}

// The same with copies that run beside the sum.
__global__ void async_double_buffer(const float* x, float* y, int tiles) {
  __shared__ float tile[2][64];
  const int i = threadIdx.x;
  async_copy(&tile[0][i], &x[i]);
  async_commit();
  float sum = 0.0f;
  for (int t = 0; t < tiles; ++t) {
    if (t + 1 < tiles) async_copy(&tile[(t + 1) % 2][i], &x[(t + 1) * 64 + i]);
    async_commit();
    async_wait<1>();
    __syncthreads();
    sum += tile[t % 2][63 - i];
    __syncthreads();
  }
  y[i] = sum;
}

}  // namespace

void launch_half_warp(const float* x, float* y) {
  launch(half_warp, LaunchShape{dim3(1), dim3(64)}, nullptr, x, y);
}
void launch_uneven_loops(const float* x, float* y) {
  launch(uneven_loops, LaunchShape{dim3(1), dim3(64)}, nullptr, x, y);
}
void launch_nested_loops(const float* x, float* y, int blocks) {
  launch(nested_loops, LaunchShape{dim3(blocks), dim3(32)}, nullptr, x, y);
}
void launch_block_sum(const float* x, float* y, int blocks) {
  launch(block_sum, LaunchShape{dim3(blocks), dim3(256)}, nullptr, x, y);
}
void launch_votes(float* y) { launch(votes, LaunchShape{dim3(1), dim3(64)}, nullptr, y); }
void launch_shuffles(float* y) { launch(shuffles, LaunchShape{dim3(1), dim3(32)}, nullptr, y); }
void launch_partial_masks(float* y) {
  launch(partial_masks, LaunchShape{dim3(1), dim3(32)}, nullptr, y);
}
void launch_atomics(unsigned* y, int blocks) {
  launch(atomics, LaunchShape{dim3(blocks), dim3(64)}, nullptr, y);
}
void launch_ids(float* y) { launch(ids, LaunchShape{dim3(2, 3, 2), dim3(4, 3, 2)}, nullptr, y); }
void launch_vectors(const float* x, float* y) {
  launch(vectors, LaunchShape{dim3(1), dim3(32), 32 * 16}, nullptr, x, y);
}
void launch_double_buffer(const float* x, float* y, int tiles) {
  launch(double_buffer, LaunchShape{dim3(1), dim3(64)}, nullptr, x, y, tiles);
}
void launch_async_double_buffer(const float* x, float* y, int tiles) {
  launch(async_double_buffer, LaunchShape{dim3(1), dim3(64)}, nullptr, x, y, tiles);
}

}  // namespace sevenloops::SEVENLOOPS_BUILD
