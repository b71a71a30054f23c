// Shared memory touched by two threads within one barrier interval, at least one of them writing.

#include "gpu/cuda.hpp"
#include "gpu/launch.hpp"
#include "tests/faults/fault_case.hpp"

namespace sevenloops::SEVENLOOPS_BUILD {
namespace {

using simt::FaultKind;

// Threads 3 (warp 0) and 40 (warp 1) of block 1 write the same element.
template <bool kBroken>
__global__ void write_write_across_warps(float* y) {
  __shared__ float tile[64];
  unsigned slot = threadIdx.x;
  if (kBroken && blockIdx.x == 1 && threadIdx.x == 40) slot = 3;
  tile[threadIdx.x] = 0.0f;
  __syncthreads();
  tile[slot] = static_cast<float>(threadIdx.x);  // FAULT write_write_across_warps
  __syncthreads();
  y[blockIdx.x * 64 + threadIdx.x] = tile[threadIdx.x];
}

// Threads 3 and 5 of one warp write the same element.
template <bool kBroken>
__global__ void write_write_in_warp(float* y) {
  __shared__ float tile[64];
  unsigned slot = threadIdx.x;
  if (kBroken && blockIdx.x == 1 && threadIdx.x == 5) slot = 3;
  tile[threadIdx.x] = 0.0f;
  __syncthreads();
  tile[slot] = static_cast<float>(threadIdx.x);  // FAULT write_write_in_warp
  __syncthreads();
  y[blockIdx.x * 64 + threadIdx.x] = tile[threadIdx.x];
}

// Thread 40 of block 0 reads what thread 8 wrote, with no barrier between.
template <bool kBroken>
__global__ void read_write_across_warps(float* y) {
  __shared__ float tile[64];
  tile[threadIdx.x] = static_cast<float>(threadIdx.x);
  __syncthreads();
  if (blockIdx.x == 0 && threadIdx.x == 8) tile[8] = 80.0f;  // FAULT read_write_across_warps
  if constexpr (!kBroken) __syncthreads();
  float value = 0.0f;
  if (blockIdx.x == 0 && threadIdx.x == 40) {
    value = tile[8];  // FAULT read_write_across_warps
  }
  y[blockIdx.x * 64 + threadIdx.x] = value;
}

// Lane 1 reads lane 0's element without a warp barrier: lanes need not run in lockstep.
template <bool kBroken>
__global__ void read_write_in_warp(float* y) {
  __shared__ float tile[64];
  tile[threadIdx.x] = 1.0f;
  __syncthreads();
  if (threadIdx.x == 0) tile[0] = 2.0f;  // FAULT read_write_in_warp
  if constexpr (!kBroken) __syncwarp();
  float value = 0.0f;
  if (threadIdx.x == 1) value = tile[0];  // FAULT read_write_in_warp
  y[blockIdx.x * 64 + threadIdx.x] = value;
}

// A warp barrier orders lanes of one warp only: thread 40 stands in another warp.
template <bool kBroken>
__global__ void warp_barrier_is_not_enough(float* y) {
  __shared__ float tile[64];
  tile[threadIdx.x] = 1.0f;
  __syncthreads();
  if (threadIdx.x == 8) tile[8] = 2.0f;  // FAULT warp_barrier_is_not_enough
  if constexpr (kBroken) {
    __syncwarp();
  } else {
    __syncthreads();
  }
  float value = 0.0f;
  if (threadIdx.x == 40) value = tile[8];  // FAULT warp_barrier_is_not_enough
  y[blockIdx.x * 64 + threadIdx.x] = value;
}

// Only one byte of a word is shared by two threads.
template <bool kBroken>
__global__ void write_write_one_byte(float* y) {
  __shared__ unsigned char bytes[64];
  bytes[threadIdx.x] = 0;
  __syncthreads();
  const unsigned slot = kBroken && threadIdx.x == 33 ? 32 : threadIdx.x;
  bytes[slot] = static_cast<unsigned char>(threadIdx.x);  // FAULT write_write_one_byte
  __syncthreads();
  y[blockIdx.x * 64 + threadIdx.x] = bytes[threadIdx.x];
}

// A plain write beside an atomic one to the same element.
template <bool kBroken>
__global__ void atomic_and_plain_write(float* y) {
  __shared__ float sum;
  if (threadIdx.x == 0) sum = 0.0f;
  __syncthreads();
  if (threadIdx.x == 7) atomicAdd(&sum, 7.0f);  // FAULT atomic_and_plain_write
  if constexpr (!kBroken) __syncthreads();
  if (threadIdx.x == 50) sum = 50.0f;  // FAULT atomic_and_plain_write
  __syncthreads();
  y[blockIdx.x * 64 + threadIdx.x] = sum;
}

constexpr int kTile = 8;

// y = x * x for n x n matrices by tiles; kBroken leaves out the barrier after the tile was used.
template <bool kBroken>
__global__ void matmul_without_last_barrier(const float* x, float* y, int n) {
  __shared__ float left[kTile][kTile];
  __shared__ float right[kTile][kTile];
  const int column = blockIdx.x * kTile + threadIdx.x;
  const int row = blockIdx.y * kTile + threadIdx.y;
  float sum = 0.0f;
  for (int first = 0; first < n; first += kTile) {
    const float left_value = x[row * n + first + threadIdx.x];
    const float right_value = x[(first + threadIdx.y) * n + column];
    left[threadIdx.y][threadIdx.x] = left_value;    // FAULT matmul_without_last_barrier
    right[threadIdx.y][threadIdx.x] = right_value;  // FAULT matmul_without_last_barrier
    __syncthreads();
    for (int i = 0; i < kTile; ++i) {
      const float left_factor = left[threadIdx.y][i];    // FAULT matmul_without_last_barrier
      const float right_factor = right[i][threadIdx.x];  // FAULT matmul_without_last_barrier
      sum = fma(left_factor, right_factor, sum);
    }
    if constexpr (!kBroken) __syncthreads();
  }
  y[row * n + column] = sum;
}

// A block sum that leaves out the barrier between two of its halvings.
template <bool kBroken>
__global__ void tree_sum_without_barrier(const float* x, float* y) {
  __shared__ float sums[64];
  sums[threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
  __syncthreads();
  if (threadIdx.x < 32) sums[threadIdx.x] += sums[threadIdx.x + 32];
  __syncthreads();
  if (threadIdx.x < 16) {
    const float upper = sums[threadIdx.x + 16];
    sums[threadIdx.x] += upper;  // FAULT tree_sum_without_barrier
  }
  if constexpr (!kBroken) __syncthreads();
  float total = 0.0f;
  if (threadIdx.x == 63) {
    for (int i = 0; i < 16; ++i) {
      total += sums[i];  // FAULT tree_sum_without_barrier
    }
    y[blockIdx.x] = total;
  }
}

template <void (*kBrokenKernel)(float*), void (*kRepairedKernel)(float*)>
std::vector<float> run(bool broken) {
  Memory y("y", 128);
  launch(broken ? kBrokenKernel : kRepairedKernel, LaunchShape{dim3(2), dim3(64)}, nullptr,
         y.data());
  return y.values();
}

std::vector<float> run_matmul(bool broken) {
  constexpr int n = 3 * kTile;
  Memory x("x", counting(n * n)), y("y", n * n);
  launch(broken ? matmul_without_last_barrier<true> : matmul_without_last_barrier<false>,
         LaunchShape{dim3(3, 3), dim3(kTile, kTile)}, nullptr, static_cast<const float*>(x.data()),
         y.data(), n);
  return y.values();
}

std::vector<float> run_tree_sum(bool broken) {
  Memory x("x", counting(128)), y("y", 2);
  launch(broken ? tree_sum_without_barrier<true> : tree_sum_without_barrier<false>,
         LaunchShape{dim3(2), dim3(64)}, nullptr, static_cast<const float*>(x.data()), y.data());
  return y.values();
}

}  // namespace

std::vector<FaultCase> shared_race_cases() {
  const auto race = [](const char* name, const char* kernel, std::vector<const char*> arrays,
                       std::vector<simt::Triple> blocks, std::vector<simt::Triple> threads,
                       std::vector<float> (*function)(bool)) {
    return FaultCase{name,    "shared_race.cu", FaultKind::shared_race, kernel, arrays, blocks,
                     threads, function};
  };
  return {
      race("write_write_across_warps", "write_write_across_warps<true>", {"tile"}, {{1, 0, 0}},
           {{3, 0, 0}, {40, 0, 0}},
           run<write_write_across_warps<true>, write_write_across_warps<false>>),
      race("write_write_in_warp", "write_write_in_warp<true>", {"tile"}, {{1, 0, 0}},
           {{3, 0, 0}, {5, 0, 0}}, run<write_write_in_warp<true>, write_write_in_warp<false>>),
      race("read_write_across_warps", "read_write_across_warps<true>", {"tile"}, {{0, 0, 0}},
           {{8, 0, 0}, {40, 0, 0}},
           run<read_write_across_warps<true>, read_write_across_warps<false>>),
      race("read_write_in_warp", "read_write_in_warp<true>", {"tile"}, {}, {{0, 0, 0}, {1, 0, 0}},
           run<read_write_in_warp<true>, read_write_in_warp<false>>),
      race("warp_barrier_is_not_enough", "warp_barrier_is_not_enough<true>", {"tile"}, {},
           {{8, 0, 0}, {40, 0, 0}},
           run<warp_barrier_is_not_enough<true>, warp_barrier_is_not_enough<false>>),
      race("write_write_one_byte", "write_write_one_byte<true>", {"bytes"}, {},
           {{32, 0, 0}, {33, 0, 0}}, run<write_write_one_byte<true>, write_write_one_byte<false>>),
      race("atomic_and_plain_write", "atomic_and_plain_write<true>", {"sum"}, {},
           {{7, 0, 0}, {50, 0, 0}},
           run<atomic_and_plain_write<true>, atomic_and_plain_write<false>>),
      race("matmul_without_last_barrier", "matmul_without_last_barrier<true>", {"left", "right"},
           {}, {}, run_matmul),
      race("tree_sum_without_barrier", "tree_sum_without_barrier<true>", {"sums"}, {}, {},
           run_tree_sum),
  };
}

}  // namespace sevenloops::SEVENLOOPS_BUILD
