// Warp collectives whose mask names lanes that do not come.

#include "gpu/cuda.hpp"
#include "gpu/launch.hpp"
#include "tests/faults/fault_case.hpp"

namespace sevenloops::SEVENLOOPS_BUILD {
namespace {

using simt::FaultKind;

// Half of the lanes enter the branch, all are named.
template <bool kBroken>
__global__ void shuffle_in_branch(float* y) {
  float value = static_cast<float>(threadIdx.x);
  if (threadIdx.x % 32 < 16) {
    const unsigned mask = kBroken && threadIdx.x >= 32 ? 0xffffffffu : 0x0000ffffu;
    value = __shfl_down_sync(mask, value, 1);  // FAULT shuffle_in_branch
  }
  y[blockIdx.x * 64 + threadIdx.x] = value;
}

// Lane 31 of each warp has returned.
template <bool kBroken>
__global__ void shuffle_after_return(float* y) {
  if (threadIdx.x % 32 == 31) return;
  const unsigned mask = kBroken ? 0xffffffffu : 0x7fffffffu;
  float value = static_cast<float>(threadIdx.x);
  value = __shfl_sync(mask, value, 0);  // FAULT shuffle_after_return
  y[blockIdx.x * 64 + threadIdx.x] = value;
}

// A vote at the end of a loop which the lanes leave at different turns.
template <bool kBroken>
__global__ void vote_in_uneven_loop(float* y) {
  const unsigned lane = threadIdx.x % 32;
  float votes = 0.0f;
  for (unsigned i = 0; i < (kBroken ? lane + 1 : 32); ++i) {
    const unsigned ballot = __ballot_sync(0xffffffffu, i < lane);  // FAULT vote_in_uneven_loop
    votes += static_cast<float>(__popc(ballot));
  }
  y[blockIdx.x * 64 + threadIdx.x] = votes;
}

// A warp barrier that names the lanes which took the other branch.
template <bool kBroken>
__global__ void warp_barrier_in_branch(float* y) {
  __shared__ float tile[64];
  tile[threadIdx.x] = static_cast<float>(threadIdx.x);
  float value = 0.0f;
  if constexpr (!kBroken) __syncwarp();
  if (threadIdx.x % 32 != 7) {
    if constexpr (kBroken) {
      __syncwarp();  // FAULT warp_barrier_in_branch
    }
    value = tile[threadIdx.x];
  }
  y[blockIdx.x * 64 + threadIdx.x] = value;
}

// A block of 48 threads: its second warp has 16 lanes only.
template <bool kBroken>
__global__ void vote_in_partial_warp(float* y) {
  const unsigned mask = !kBroken && threadIdx.x >= 32 ? 0x0000ffffu : 0xffffffffu;
  const bool all = __all_sync(mask, threadIdx.x < 64);  // FAULT vote_in_partial_warp
  y[blockIdx.x * 64 + threadIdx.x] = all ? 1.0f : 0.0f;
}

// The caller itself is not named by the mask.
template <bool kBroken>
__global__ void shuffle_without_caller(float* y) {
  float value = static_cast<float>(threadIdx.x);
  if (kBroken || threadIdx.x % 32 != 4) {
    value = __shfl_sync(0xffffffefu, value, 0);  // FAULT shuffle_without_caller
  }
  y[blockIdx.x * 64 + threadIdx.x] = value;
}

template <void (*kBrokenKernel)(float*), void (*kRepairedKernel)(float*), unsigned kThreads = 64>
std::vector<float> run(bool broken) {
  Memory y("y", std::vector<float>(128));
  launch(broken ? kBrokenKernel : kRepairedKernel, LaunchShape{dim3(2), dim3(kThreads)}, nullptr,
         y.data());
  return y.values();
}

}  // namespace

std::vector<FaultCase> collective_cases() {
  const auto absent = [](const char* name, const char* kernel,
                         std::vector<float> (*function)(bool)) {
    return FaultCase{name, "collective.cu", FaultKind::absent_lanes, kernel, {}, {}, {}, function};
  };
  return {
      absent("shuffle_in_branch", "shuffle_in_branch<true>",
             run<shuffle_in_branch<true>, shuffle_in_branch<false>>),
      absent("shuffle_after_return", "shuffle_after_return<true>",
             run<shuffle_after_return<true>, shuffle_after_return<false>>),
      absent("vote_in_uneven_loop", "vote_in_uneven_loop<true>",
             run<vote_in_uneven_loop<true>, vote_in_uneven_loop<false>>),
      absent("warp_barrier_in_branch", "warp_barrier_in_branch<true>",
             run<warp_barrier_in_branch<true>, warp_barrier_in_branch<false>>),
      absent("vote_in_partial_warp", "vote_in_partial_warp<true>",
             run<vote_in_partial_warp<true>, vote_in_partial_warp<false>, 48>),
      absent("shuffle_without_caller", "shuffle_without_caller<true>",
             run<shuffle_without_caller<true>, shuffle_without_caller<false>>),
  };
}

}  // namespace sevenloops::SEVENLOOPS_BUILD
