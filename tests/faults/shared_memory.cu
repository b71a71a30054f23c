// Shared memory read before it was written, and accesses that leave their shared array.

#include "gpu/cuda.hpp"
#include "gpu/launch.hpp"
#include "tests/faults/fault_case.hpp"

namespace sevenloops::SEVENLOOPS_BUILD {
namespace {

using simt::FaultKind;

// Element 41 was never written; thread 41 of block 1 reads it.
template <bool kBroken>
__global__ void shared_read_of_unwritten(float* y) {
  __shared__ float tile[64];
  if (!kBroken || blockIdx.x != 1 || threadIdx.x != 41) tile[threadIdx.x] = 1.0f;
  __syncthreads();
  y[blockIdx.x * 64 + threadIdx.x] = tile[threadIdx.x];  // FAULT shared_read_of_unwritten
}

// What block 0 wrote is gone when block 1 starts, whatever the hardware leaves behind.
template <bool kBroken>
__global__ void shared_read_of_last_block(float* y) {
  __shared__ float tile[64];
  if (!kBroken || blockIdx.x == 0) tile[threadIdx.x] = 1.0f;
  __syncthreads();
  y[blockIdx.x * 64 + threadIdx.x] = tile[threadIdx.x];  // FAULT shared_read_of_last_block
}

// The same in dynamic shared memory, and through a 16-byte access of which 4 bytes were written.
template <bool kBroken>
__global__ void shared_read_of_unwritten_vector(float* y) {
  float* tile = dynamic_shared<float>();
  if (threadIdx.x < 16) {
    tile[threadIdx.x * 4] = 1.0f;
    if (!kBroken || threadIdx.x != 9) tile[threadIdx.x * 4 + 1] = 2.0f;
    tile[threadIdx.x * 4 + 2] = 3.0f;
    tile[threadIdx.x * 4 + 3] = 4.0f;
  }
  __syncthreads();
  if (threadIdx.x < 16) {
    const float4* fours = reinterpret_cast<const float4*>(tile);
    float4 four = fours[threadIdx.x];  // FAULT shared_read_of_unwritten_vector
    y[blockIdx.x * 64 + threadIdx.x] = four.x + four.y + four.z + four.w;
  }
}

// Thread 63 writes one element past the end of `first`.
template <bool kBroken>
__global__ void shared_overrun_by_one(float* y) {
  __shared__ float first[64];
  __shared__ float second[64];
  first[threadIdx.x] = 0.0f;
  second[threadIdx.x] = 0.0f;
  __syncthreads();
  first[threadIdx.x + (kBroken ? 1 : 0)] = 1.0f;  // FAULT shared_overrun_by_one
  __syncthreads();
  y[blockIdx.x * 64 + threadIdx.x] = first[threadIdx.x] + second[threadIdx.x];
}

// Thread 0 reads one element before the start of `second`.
template <bool kBroken>
__global__ void shared_underrun_by_one(float* y) {
  __shared__ float first[64];
  __shared__ float second[64];
  first[threadIdx.x] = 1.0f;
  second[threadIdx.x] = 2.0f;
  __syncthreads();
  const int slot = static_cast<int>(threadIdx.x) - (kBroken ? 1 : 0);
  const float value = second[slot];  // FAULT shared_underrun_by_one
  y[blockIdx.x * 64 + threadIdx.x] = value + first[threadIdx.x];
}

// The same through a pointer, which knows no size: the end of an array is no neighbor's start.
template <bool kBroken>
__global__ void shared_overrun_by_pointer(float* y, float value) {
  __shared__ float first[64];
  __shared__ float second[64];
  first[threadIdx.x] = 0.0f;
  second[threadIdx.x] = 0.0f;
  __syncthreads();
  float* target = value > 0.0f ? first : second;
  target += threadIdx.x;
  target[kBroken ? 1 : 0] = value;  // FAULT shared_overrun_by_pointer
  __syncthreads();
  y[blockIdx.x * 64 + threadIdx.x] = first[threadIdx.x] + second[threadIdx.x];
}

// So far past the end of the first that the address is inside of the third.
template <bool kBroken>
__global__ void shared_overrun_into_another(float* y) {
  __shared__ float first[64];
  __shared__ float second[64];
  __shared__ float third[64];
  first[threadIdx.x] = 1.0f;
  second[threadIdx.x] = 2.0f;
  third[threadIdx.x] = 3.0f;
  __syncthreads();
  const unsigned slot = kBroken && threadIdx.x == 10 ? 64 + 64 + 20 : threadIdx.x;
  const float value = second[slot];  // FAULT shared_overrun_into_another
  y[blockIdx.x * 64 + threadIdx.x] = value + first[threadIdx.x] + third[threadIdx.x];
}

// Far past the end: row 64 of an array of 4 rows.
template <bool kBroken>
__global__ void shared_overrun_far(float* y) {
  __shared__ float rows[4][64];
  rows[blockIdx.x][threadIdx.x] = 0.0f;
  __syncthreads();
  const int row = kBroken && blockIdx.x == 1 && threadIdx.x == 20 ? 4096 : blockIdx.x;
  rows[row][threadIdx.x] = 1.0f;  // FAULT shared_overrun_far
  __syncthreads();
  y[blockIdx.x * 64 + threadIdx.x] = rows[blockIdx.x][threadIdx.x];
}

// The launch asked for 64 floats of dynamic shared memory; thread 63 touches the 65th.
template <bool kBroken>
__global__ void dynamic_shared_overrun(float* y) {
  float* tile = dynamic_shared<float>();
  tile[threadIdx.x] = 1.0f;
  __syncthreads();
  const unsigned slot = kBroken && threadIdx.x == 63 ? 64 : threadIdx.x;
  tile[slot] = 2.0f;  // FAULT dynamic_shared_overrun
  __syncthreads();
  y[blockIdx.x * 64 + threadIdx.x] = tile[threadIdx.x];
}

// A 16-byte access to shared memory at an address that is a multiple of 4 only.
template <bool kBroken>
__global__ void shared_misaligned(float* y) {
  __shared__ float tile[72];
  tile[threadIdx.x] = 1.0f;
  if (threadIdx.x < 8) tile[64 + threadIdx.x] = 1.0f;
  __syncthreads();
  float value = 0.0f;
  if (threadIdx.x == 12) {
    const float* start = tile + 16 + (kBroken ? 1 : 0);
    float4 four = *reinterpret_cast<const float4*>(start);  // FAULT shared_misaligned
    value = four.x + four.w;
  }
  y[blockIdx.x * 64 + threadIdx.x] = value;
}

template <void (*kBrokenKernel)(float*), void (*kRepairedKernel)(float*)>
std::vector<float> run(bool broken) {
  Memory y("y", std::vector<float>(128));
  launch(broken ? kBrokenKernel : kRepairedKernel, LaunchShape{dim3(2), dim3(64), 256}, nullptr,
         y.data());
  return y.values();
}

std::vector<float> run_by_pointer(bool broken) {
  Memory y("y", std::vector<float>(128));
  launch(broken ? shared_overrun_by_pointer<true> : shared_overrun_by_pointer<false>,
         LaunchShape{dim3(2), dim3(64)}, nullptr, y.data(), 1.0f);
  return y.values();
}

}  // namespace

std::vector<FaultCase> shared_memory_cases() {
  const auto fault = [](FaultKind kind, const char* name, const char* kernel, const char* array,
                        std::vector<simt::Triple> blocks, std::vector<simt::Triple> threads,
                        std::vector<float> (*function)(bool)) {
    return FaultCase{name, "shared_memory.cu", kind, kernel, {array}, blocks, threads, function};
  };
  constexpr auto uninitialized = FaultKind::shared_uninitialized_read;
  constexpr auto overrun = FaultKind::shared_overrun;
  return {
      fault(uninitialized, "shared_read_of_unwritten", "shared_read_of_unwritten<true>", "tile",
            {{1, 0, 0}}, {{41, 0, 0}},
            run<shared_read_of_unwritten<true>, shared_read_of_unwritten<false>>),
      fault(uninitialized, "shared_read_of_last_block", "shared_read_of_last_block<true>", "tile",
            {{1, 0, 0}}, {},
            run<shared_read_of_last_block<true>, shared_read_of_last_block<false>>),
      fault(uninitialized, "shared_read_of_unwritten_vector",
            "shared_read_of_unwritten_vector<true>", "dynamic shared memory", {}, {{9, 0, 0}},
            run<shared_read_of_unwritten_vector<true>, shared_read_of_unwritten_vector<false>>),
      fault(overrun, "shared_overrun_by_one", "shared_overrun_by_one<true>", "first", {},
            {{63, 0, 0}}, run<shared_overrun_by_one<true>, shared_overrun_by_one<false>>),
      fault(overrun, "shared_overrun_by_pointer", "shared_overrun_by_pointer<true>", "first", {},
            {{63, 0, 0}}, run_by_pointer),
      fault(overrun, "shared_overrun_into_another", "shared_overrun_into_another<true>", "second",
            {}, {{10, 0, 0}},
            run<shared_overrun_into_another<true>, shared_overrun_into_another<false>>),
      fault(overrun, "shared_underrun_by_one", "shared_underrun_by_one<true>", "second", {},
            {{0, 0, 0}}, run<shared_underrun_by_one<true>, shared_underrun_by_one<false>>),
      fault(overrun, "shared_overrun_far", "shared_overrun_far<true>", "rows", {{1, 0, 0}},
            {{20, 0, 0}}, run<shared_overrun_far<true>, shared_overrun_far<false>>),
      fault(overrun, "dynamic_shared_overrun", "dynamic_shared_overrun<true>",
            "dynamic shared memory", {}, {{63, 0, 0}},
            run<dynamic_shared_overrun<true>, dynamic_shared_overrun<false>>),
      fault(FaultKind::misaligned_access, "shared_misaligned", "shared_misaligned<true>", "tile",
            {}, {{12, 0, 0}}, run<shared_misaligned<true>, shared_misaligned<false>>),
  };
}

}  // namespace sevenloops::SEVENLOOPS_BUILD
