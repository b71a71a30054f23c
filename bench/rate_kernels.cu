// Kernels that do one thing only, as fast as a GPU can.

#include "bench/rate_kernels.hpp"
#include "gpu/cuda.hpp"
#include "gpu/launch.hpp"

namespace sevenloops::SEVENLOOPS_BUILD {
namespace {

constexpr int kThreads = 256;

// x -> x * a + b with |a| < 1 stays finite and away from subnormals. The sum is stored under a
// condition that never holds and that the compiler cannot know.
template <typename T>
__global__ void fma_chains(int steps, T a, T b, T* sink) {
  T x[kFmaChains];
#pragma unroll
  for (int i = 0; i < kFmaChains; ++i) x[i] = static_cast<T>(threadIdx.x + i);
#pragma unroll 8
  for (int step = 0; step < steps; ++step) {
#pragma unroll
    for (int i = 0; i < kFmaChains; ++i) x[i] = fma(x[i], a, b);
  }
  T sum = 0;
#pragma unroll
  for (int i = 0; i < kFmaChains; ++i) sum += x[i];
  if (sum == static_cast<T>(-1)) *sink = sum;
}

__global__ void read_once(const float4* memory, std::size_t count, float* sink) {
  float sum = 0;
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += step) {
    const float4 four = memory[i];
    sum += four.x + four.y + four.z + four.w;
  }
  if (sum == -1.0f) *sink = sum;
}

}  // namespace

template <typename T>
void launch_fma_chains(int threads, int steps, T* sink, Stream stream) {
  const dim3 grid(static_cast<unsigned>(threads / kThreads));
  launch(fma_chains<T>, LaunchShape{grid, dim3(kThreads)}, stream, steps, static_cast<T>(0.999),
         static_cast<T>(0.5), sink);
}

template void launch_fma_chains(int, int, float*, Stream);
template void launch_fma_chains(int, int, double*, Stream);

void launch_read(const void* memory, std::size_t bytes, float* sink, Stream stream) {
  launch(read_once, LaunchShape{dim3(4096), dim3(kThreads)}, stream,
         static_cast<const float4*>(memory), bytes / sizeof(float4), sink);
}

}  // namespace sevenloops::SEVENLOOPS_BUILD
