// Barriers that not every thread of the block reaches. Under CUDA's rules a kernel may hang there.

#include "gpu/cuda.hpp"
#include "gpu/launch.hpp"
#include "tests/faults/fault_case.hpp"

namespace sevenloops::SEVENLOOPS_BUILD {
namespace {

using simt::FaultKind;

// Threads 40 to 63 of block 1 skip the barrier.
template <bool kBroken>
__global__ void barrier_in_branch(float* y) {
  __shared__ float tile[64];
  tile[threadIdx.x] = static_cast<float>(threadIdx.x);
  if (!kBroken || blockIdx.x == 0 || threadIdx.x < 40) {
    __syncthreads();  // FAULT barrier_in_branch
  }
  y[blockIdx.x * 64 + threadIdx.x] = tile[threadIdx.x];
}

// Thread 37 returns while the others wait for it.
template <bool kBroken>
__global__ void barrier_after_return(float* y) {
  __shared__ float tile[64];
  tile[threadIdx.x] = static_cast<float>(threadIdx.x);
  if constexpr (!kBroken) __syncthreads();
  if (threadIdx.x == 37) return;
  if constexpr (kBroken) {
    __syncthreads();  // FAULT barrier_after_return
  }
  y[blockIdx.x * 64 + threadIdx.x] = tile[63 - threadIdx.x] + tile[threadIdx.x];
}

// The usual guard of a partial last block, placed before the barrier.
template <bool kBroken>
__global__ void barrier_after_bounds_check(float* y, int n) {
  __shared__ float tile[64];
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (kBroken && i >= n) return;
  tile[threadIdx.x] = static_cast<float>(i);
  __syncthreads();  // FAULT barrier_after_bounds_check
  if (i < n) y[i] = tile[threadIdx.x];
}

// Warps 0 and 1 wait at different barriers. They are not the same barrier, though each is reached.
template <bool kBroken>
__global__ void barriers_in_both_branches(float* y) {
  __shared__ float tile[64];
  tile[threadIdx.x] = static_cast<float>(threadIdx.x);
  float value = 0.0f;
  if constexpr (!kBroken) __syncthreads();
  if (threadIdx.x < 32) {
    if constexpr (kBroken) {
      __syncthreads();  // FAULT barriers_in_both_branches
    }
    value = tile[threadIdx.x + 32];
  } else {
    value = tile[threadIdx.x];
    if constexpr (kBroken) {
      __syncthreads();  // FAULT barriers_in_both_branches
    }
  }
  y[blockIdx.x * 64 + threadIdx.x] = value;
}

// Thread 0 runs the loop once less than the others.
template <bool kBroken>
__global__ void barrier_in_uneven_loop(float* y) {
  __shared__ float turn[64];
  const int turns = kBroken && threadIdx.x == 0 ? 2 : 3;
  float sum = 0.0f;
  for (int i = 0; i < turns; ++i) {
    turn[threadIdx.x] = static_cast<float>(i);
    sum += turn[threadIdx.x];
    __syncthreads();  // FAULT barrier_in_uneven_loop
  }
  y[blockIdx.x * 64 + threadIdx.x] = sum;
}

// The voting barrier counts every thread: it must be reached by all just so.
template <bool kBroken>
__global__ void voting_barrier_in_branch(float* y) {
  int votes = 0;
  if (!kBroken || threadIdx.x != 63) {
    votes = __syncthreads_count(threadIdx.x % 2 == 0);  // FAULT voting_barrier_in_branch
  }
  y[blockIdx.x * 64 + threadIdx.x] = static_cast<float>(votes);
}

template <void (*kBrokenKernel)(float*), void (*kRepairedKernel)(float*)>
std::vector<float> run(bool broken) {
  Memory y("y", std::vector<float>(128));
  launch(broken ? kBrokenKernel : kRepairedKernel, LaunchShape{dim3(2), dim3(64)}, nullptr,
         y.data());
  return y.values();
}

std::vector<float> run_bounds_check(bool broken) {
  Memory y("y", 100);
  launch(broken ? barrier_after_bounds_check<true> : barrier_after_bounds_check<false>,
         LaunchShape{dim3(2), dim3(64)}, nullptr, y.data(), 100);
  return y.values();
}

}  // namespace

std::vector<FaultCase> barrier_cases() {
  const auto barrier = [](const char* name, const char* kernel, std::vector<simt::Triple> blocks,
                          std::vector<float> (*function)(bool)) {
    return FaultCase{name, "barrier.cu", FaultKind::barrier_not_reached_by_all, kernel, {}, blocks,
                     {},   function};
  };
  return {
      barrier("barrier_in_branch", "barrier_in_branch<true>", {{1, 0, 0}},
              run<barrier_in_branch<true>, barrier_in_branch<false>>),
      barrier("barrier_after_return", "barrier_after_return<true>", {},
              run<barrier_after_return<true>, barrier_after_return<false>>),
      barrier("barrier_after_bounds_check", "barrier_after_bounds_check<true>", {{1, 0, 0}},
              run_bounds_check),
      barrier("barriers_in_both_branches", "barriers_in_both_branches<true>", {},
              run<barriers_in_both_branches<true>, barriers_in_both_branches<false>>),
      barrier("barrier_in_uneven_loop", "barrier_in_uneven_loop<true>", {},
              run<barrier_in_uneven_loop<true>, barrier_in_uneven_loop<false>>),
      barrier("voting_barrier_in_branch", "voting_barrier_in_branch<true>", {},
              run<voting_barrier_in_branch<true>, voting_barrier_in_branch<false>>),
  };
}

}  // namespace sevenloops::SEVENLOOPS_BUILD
