// Blocks of one launch that touch the same global element: their order is nobody's promise.

#include "gpu/cuda.hpp"
#include "gpu/launch.hpp"
#include "tests/faults/fault_case.hpp"

namespace sevenloops::SEVENLOOPS_BUILD {
namespace {

using simt::FaultKind;

// Every block adds its part of the sum; without atomics all but one of the parts may be lost.
template <bool kBroken>
__global__ void sum_over_blocks(float* y) {
  if (threadIdx.x != 0) return;
  const float part = static_cast<float>(blockIdx.x + 1);
  if constexpr (kBroken) {
    y[0] = part;  // FAULT sum_over_blocks
  } else {
    atomicAdd(&y[0], part);
  }
}

// Tiles of 64 elements that start every 63: one element belongs to two blocks.
template <bool kBroken>
__global__ void overlapping_tiles(float* y) {
  const unsigned first = blockIdx.x * (kBroken ? 63 : 64);
  y[first + threadIdx.x] = static_cast<float>(threadIdx.x);  // FAULT overlapping_tiles
}

// One block adds atomically, the other stores plainly.
template <bool kBroken>
__global__ void atomic_beside_store(float* y) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    atomicAdd(&y[5], 1.0f);  // FAULT atomic_beside_store
  } else {
    y[kBroken ? 5 : 6] = 2.0f;  // FAULT atomic_beside_store
  }
}

template <void (*kBrokenKernel)(float*), void (*kRepairedKernel)(float*)>
std::vector<float> run(bool broken) {
  Memory y("y", std::vector<float>(128));
  launch(broken ? kBrokenKernel : kRepairedKernel, LaunchShape{dim3(2), dim3(64)}, nullptr,
         y.data());
  return y.values();
}

}  // namespace

std::vector<FaultCase> global_race_cases() {
  const auto race = [](const char* name, const char* kernel, std::vector<float> (*function)(bool)) {
    return FaultCase{
        name, "global_race.cu", FaultKind::global_race_between_blocks, kernel, {"y"}, {},
        {},   function};
  };
  return {
      race("sum_over_blocks", "sum_over_blocks<true>",
           run<sum_over_blocks<true>, sum_over_blocks<false>>),
      race("overlapping_tiles", "overlapping_tiles<true>",
           run<overlapping_tiles<true>, overlapping_tiles<false>>),
      race("atomic_beside_store", "atomic_beside_store<true>",
           run<atomic_beside_store<true>, atomic_beside_store<false>>),
  };
}

}  // namespace sevenloops::SEVENLOOPS_BUILD
