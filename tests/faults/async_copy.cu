// Shared memory read while an asynchronous copy may still be filling it.

#include "gpu/async_copy.hpp"
#include "gpu/cuda.hpp"
#include "gpu/launch.hpp"
#include "tests/faults/fault_case.hpp"

namespace sevenloops::SEVENLOOPS_BUILD {
namespace {

using simt::FaultKind;

// The barrier makes the threads meet, but says nothing about the copies.
template <bool kBroken>
__global__ void async_copy_without_wait(const float* x, float* y) {
  __shared__ float tile[64];
  async_copy(&tile[threadIdx.x], &x[blockIdx.x * 64 + threadIdx.x]);
  async_commit();
  if constexpr (!kBroken) async_wait<0>();
  __syncthreads();
  y[blockIdx.x * 64 + threadIdx.x] = tile[63 - threadIdx.x];  // FAULT async_copy_without_wait
}

// Two groups are on their way; the wait lets the one that is read stay behind.
template <bool kBroken>
__global__ void async_copy_waits_for_too_few(const float* x, float* y) {
  __shared__ float first[64];
  __shared__ float second[64];
  async_copy(&first[threadIdx.x], &x[threadIdx.x]);
  async_commit();
  async_copy(&second[threadIdx.x], &x[64 + threadIdx.x]);
  async_commit();
  async_wait<kBroken ? 1 : 0>();
  __syncthreads();
  float sum = first[63 - threadIdx.x];
  sum += second[63 - threadIdx.x];  // FAULT async_copy_waits_for_too_few
  y[blockIdx.x * 64 + threadIdx.x] = sum;
}

// Only what was committed is waited for.
template <bool kBroken>
__global__ void async_copy_without_commit(const float* x, float* y) {
  __shared__ float4 tile[64];
  float* floats = reinterpret_cast<float*>(tile);
  if (threadIdx.x < 16) {
    async_copy(&tile[threadIdx.x], reinterpret_cast<const float4*>(x) + threadIdx.x);
  }
  if constexpr (!kBroken) async_commit();
  async_wait<0>();
  __syncthreads();
  y[blockIdx.x * 64 + threadIdx.x] = floats[threadIdx.x];  // FAULT async_copy_without_commit
}

// Thread 9 does not wait: the element it reads is another's, but the one it copied is read too.
template <bool kBroken>
__global__ void async_copy_one_thread_forgets(const float* x, float* y) {
  __shared__ float tile[64];
  async_copy(&tile[threadIdx.x], &x[blockIdx.x * 64 + threadIdx.x]);
  async_commit();
  if (!kBroken || threadIdx.x != 9) async_wait<0>();
  __syncthreads();
  y[blockIdx.x * 64 + threadIdx.x] = tile[63 - threadIdx.x];  // FAULT async_copy_one_thread_forgets
}

// Each thread waited for its own copies: only a barrier after that says the same of the others'.
template <bool kBroken>
__global__ void async_copy_without_barrier(const float* x, float* y) {
  __shared__ float tile[64];
  async_copy(&tile[threadIdx.x], &x[blockIdx.x * 64 + threadIdx.x]);
  async_commit();
  if constexpr (kBroken) __syncthreads();
  async_wait<0>();
  if constexpr (!kBroken) __syncthreads();
  y[blockIdx.x * 64 + threadIdx.x] = tile[threadIdx.x ^ 32];  // FAULT async_copy_without_barrier
}

// The next copy starts while other threads may still read what the last one brought.
template <bool kBroken>
__global__ void async_copy_over_values_in_use(const float* x, float* y) {
  __shared__ float tile[64];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  const float value = tile[threadIdx.x ^ 32];  // FAULT async_copy_over_values_in_use
  if constexpr (!kBroken) __syncthreads();
  async_copy(&tile[threadIdx.x], &x[64 + threadIdx.x]);  // FAULT async_copy_over_values_in_use
  async_commit();
  if constexpr (kBroken) __syncthreads();
  async_wait<0>();
  __syncthreads();
  y[blockIdx.x * 64 + threadIdx.x] = value + tile[threadIdx.x ^ 32];
}

template <void (*kBrokenKernel)(const float*, float*),
          void (*kRepairedKernel)(const float*, float*)>
std::vector<float> run(bool broken) {
  Memory x("x", counting(128)), y("y", std::vector<float>(128));
  launch(broken ? kBrokenKernel : kRepairedKernel, LaunchShape{dim3(2), dim3(64)}, nullptr,
         static_cast<const float*>(x.data()), y.data());
  return y.values();
}

}  // namespace

std::vector<FaultCase> async_copy_cases() {
  const auto early = [](const char* name, const char* kernel, const char* array,
                        std::vector<float> (*function)(bool)) {
    return FaultCase{name, "async_copy.cu", FaultKind::async_copy_not_awaited, kernel, {array}, {},
                     {},   function};
  };
  return {
      early("async_copy_without_wait", "async_copy_without_wait<true>", "tile",
            run<async_copy_without_wait<true>, async_copy_without_wait<false>>),
      early("async_copy_waits_for_too_few", "async_copy_waits_for_too_few<true>", "second",
            run<async_copy_waits_for_too_few<true>, async_copy_waits_for_too_few<false>>),
      early("async_copy_without_commit", "async_copy_without_commit<true>", "tile",
            run<async_copy_without_commit<true>, async_copy_without_commit<false>>),
      early("async_copy_one_thread_forgets", "async_copy_one_thread_forgets<true>", "tile",
            run<async_copy_one_thread_forgets<true>, async_copy_one_thread_forgets<false>>),
      early("async_copy_without_barrier", "async_copy_without_barrier<true>", "tile",
            run<async_copy_without_barrier<true>, async_copy_without_barrier<false>>),
      {"async_copy_over_values_in_use",
       "async_copy.cu",
       FaultKind::shared_race,
       "async_copy_over_values_in_use<true>",
       {"tile"},
       {},
       {},
       run<async_copy_over_values_in_use<true>, async_copy_over_values_in_use<false>>,
       {FaultKind::async_copy_not_awaited}},
  };
}

}  // namespace sevenloops::SEVENLOOPS_BUILD
