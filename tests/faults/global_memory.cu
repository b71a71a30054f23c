// Global memory outside of every allocation, misaligned, never written, or not to be written.

#include "gpu/cuda.hpp"
#include "gpu/launch.hpp"
#include "tests/faults/fault_case.hpp"

namespace sevenloops::SEVENLOOPS_BUILD {
namespace {

using simt::FaultKind;

// Two blocks of 64 threads for 100 elements, with no check of the bounds.
template <bool kBroken>
__global__ void global_read_after_end(const float* x, float* y) {
  const unsigned i = blockIdx.x * 64 + threadIdx.x;
  if (i >= (kBroken ? 101 : 100)) return;
  const float value = x[i];  // FAULT global_read_after_end
  y[i % 100] = value;
}

template <bool kBroken>
__global__ void global_write_after_end(const float* x, float* y) {
  const unsigned i = blockIdx.x * 64 + threadIdx.x;
  if (i >= (kBroken ? 101 : 100)) return;
  const float value = i < 100 ? x[i] : 0.0f;
  y[i] = value;  // FAULT global_write_after_end
}

// A one-dimensional stencil that forgets the left border.
template <bool kBroken>
__global__ void global_read_before_start(const float* x, float* y) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i >= 100) return;
  const int left = !kBroken && i == 0 ? 0 : i - 1;
  const float value = x[left];  // FAULT global_read_before_start
  y[i] = value;
}

// `offset` leads from inside x past its end, to memory that belongs to neither x nor y.
template <bool kBroken>
__global__ void global_write_between(float* x, float* y, int offset) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i >= 100) return;
  y[i] = 2.0f;
  x[kBroken && i == 70 ? offset : i] = 1.0f;  // FAULT global_write_between
}

template <bool kBroken>
__global__ void global_null(const float* x, float* y) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i >= 100) return;
  const float* source = kBroken && i == 64 ? nullptr : x + i;
  const float value = *source;  // FAULT global_null
  y[i] = value;
}

// The last of 100 / 4 vectors, shifted by one element, would also leave x: thread 7 only.
template <bool kBroken>
__global__ void global_misaligned_load(const float* x, float* y) {
  if (blockIdx.x != 0 || threadIdx.x >= 25) return;
  const float* start = x + 4 * threadIdx.x + (kBroken && threadIdx.x == 7 ? 1 : 0);
  float4 four = *reinterpret_cast<const float4*>(start);  // FAULT global_misaligned_load
  y[threadIdx.x] = four.x + four.y + four.z + four.w;
}

template <bool kBroken>
__global__ void global_misaligned_store(const float* x, float* y) {
  if (blockIdx.x != 0 || threadIdx.x >= 12) return;
  float* start = y + 8 * threadIdx.x + (kBroken && threadIdx.x == 2 ? 2 : 0);
  float4 four = make_float4(x[0], 1.0f, 2.0f, 3.0f);
  *reinterpret_cast<float4*>(start) = four;  // FAULT global_misaligned_store
}

// Only element 50 of `scratch` was never written.
template <bool kBroken>
__global__ void global_read_of_unwritten(float* scratch, float* y) {
  const int i = threadIdx.x;
  if (blockIdx.x != 0) return;
  if (!kBroken || i != 50) scratch[i] = 3.0f;
  const float value = scratch[i];  // FAULT global_read_of_unwritten
  y[i] = value;
}

// x is an input: the host declared it read-only.
template <bool kBroken>
__global__ void global_write_to_input(const float* x, float* y) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i >= 100) return;
  float* target = kBroken && i == 99 ? const_cast<float*>(x) : y;
  target[i] = 5.0f;  // FAULT global_write_to_input
}

template <bool kBroken>
__global__ void global_atomic_on_input(const float* x, float* y) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i >= 100) return;
  float* target = kBroken && i == 0 ? const_cast<float*>(x) : y;
  atomicAdd(&target[i], 5.0f);  // FAULT global_atomic_on_input
}

template <void (*kBrokenKernel)(const float*, float*),
          void (*kRepairedKernel)(const float*, float*)>
std::vector<float> run(bool broken) {
  Memory x("x", counting(100)), y("y", std::vector<float>(100));
  simt::set_read_only(x.data(), true);
  launch(broken ? kBrokenKernel : kRepairedKernel, LaunchShape{dim3(2), dim3(64)}, nullptr,
         static_cast<const float*>(x.data()), y.data());
  return y.values();
}

// Aims at the first float past the allocation that lies lower.
std::vector<float> run_between(bool broken) {
  Memory x("x", 100), y("y", 100);
  const bool x_is_lower = x.data() < y.data();
  Memory& lower = x_is_lower ? x : y;
  Memory& higher = x_is_lower ? y : x;
  launch(broken ? global_write_between<true> : global_write_between<false>,
         LaunchShape{dim3(2), dim3(64)}, nullptr, lower.data(), higher.data(), 100);
  std::vector<float> both = lower.values();
  for (const float value : higher.values()) both.push_back(value);
  return both;
}

std::vector<float> run_unwritten(bool broken) {
  Memory scratch("scratch", 64), y("y", 64);
  launch(broken ? global_read_of_unwritten<true> : global_read_of_unwritten<false>,
         LaunchShape{dim3(2), dim3(64)}, nullptr, scratch.data(), y.data());
  return y.values();
}

}  // namespace

std::vector<FaultCase> global_memory_cases() {
  const auto fault = [](FaultKind kind, const char* name, const char* kernel,
                        std::vector<const char*> arrays, simt::Triple block, simt::Triple thread,
                        std::vector<float> (*function)(bool)) {
    return FaultCase{name, "global_memory.cu", kind, kernel, arrays, {block}, {thread}, function};
  };
  constexpr auto outside = FaultKind::global_out_of_bounds;
  return {
      fault(outside, "global_read_after_end", "global_read_after_end<true>", {"x"}, {1, 0, 0},
            {36, 0, 0}, run<global_read_after_end<true>, global_read_after_end<false>>),
      fault(outside, "global_write_after_end", "global_write_after_end<true>", {"y"}, {1, 0, 0},
            {36, 0, 0}, run<global_write_after_end<true>, global_write_after_end<false>>),
      fault(outside, "global_read_before_start", "global_read_before_start<true>", {"x"}, {0, 0, 0},
            {0, 0, 0}, run<global_read_before_start<true>, global_read_before_start<false>>),
      fault(outside, "global_write_between", "global_write_between<true>", {}, {1, 0, 0}, {6, 0, 0},
            run_between),
      fault(outside, "global_null", "global_null<true>", {}, {1, 0, 0}, {0, 0, 0},
            run<global_null<true>, global_null<false>>),
      fault(FaultKind::misaligned_access, "global_misaligned_load", "global_misaligned_load<true>",
            {"x"}, {0, 0, 0}, {7, 0, 0},
            run<global_misaligned_load<true>, global_misaligned_load<false>>),
      fault(FaultKind::misaligned_access, "global_misaligned_store",
            "global_misaligned_store<true>", {"y"}, {0, 0, 0}, {2, 0, 0},
            run<global_misaligned_store<true>, global_misaligned_store<false>>),
      fault(FaultKind::global_uninitialized_read, "global_read_of_unwritten",
            "global_read_of_unwritten<true>", {"scratch"}, {0, 0, 0}, {50, 0, 0}, run_unwritten),
      fault(FaultKind::write_to_const, "global_write_to_input", "global_write_to_input<true>",
            {"x"}, {1, 0, 0}, {35, 0, 0},
            run<global_write_to_input<true>, global_write_to_input<false>>),
      fault(FaultKind::write_to_const, "global_atomic_on_input", "global_atomic_on_input<true>",
            {"x"}, {0, 0, 0}, {0, 0, 0},
            run<global_atomic_on_input<true>, global_atomic_on_input<false>>),
  };
}

}  // namespace sevenloops::SEVENLOOPS_BUILD
