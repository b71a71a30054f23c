#pragma once
// Starting kernels: the only place that knows how each of the three builds does it.

#include <cstddef>

#include "gpu/cuda.hpp"
#include "gpu/simt/runtime.hpp"
#include "reference/core/stage.hpp"

#if defined(__CUDACC__)
#include "gpu/check.hpp"
#endif

namespace sevenloops::SEVENLOOPS_BUILD {

/// How many blocks of how many threads, and the bytes of dynamic_shared() each block gets.
struct LaunchShape {
  dim3 grid, block;
  std::size_t dynamic_shared_bytes = 0;
};

/// The block's dynamic shared memory, aligned to 16 bytes; its size is the launch's.
template <typename T>
__device__ __forceinline__ T* dynamic_shared() {
#if defined(__CUDACC__)
  extern __shared__ __align__(16) unsigned char dynamic_shared_bytes[];
  return reinterpret_cast<T*>(dynamic_shared_bytes);
#else
  return static_cast<T*>(simt::dynamic_shared_memory());
#endif
}

/// Runs `kernel(args...)` in `shape`, asynchronously on `stream` on a GPU, at once in the emulator.
/// Throws Error when the shape is beyond what CUDA devices allow or the launch fails.
template <typename... Parameters, typename... Args>
void launch(void (*kernel)(Parameters...), const LaunchShape& shape, Stream stream,
            Args&&... args) {
  const dim3 &grid = shape.grid, &block = shape.block;
#if defined(__CUDACC__)
  constexpr std::size_t kWithoutAsking = 48 * 1024;  // CUDA gives more only to kernels that ask
  simt::require_possible({grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, 0,
                         shape.dynamic_shared_bytes);
  if (shape.dynamic_shared_bytes > kWithoutAsking) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shape.dynamic_shared_bytes)));
  }
  kernel<<<grid, block, shape.dynamic_shared_bytes, static_cast<cudaStream_t>(stream)>>>(
      static_cast<Parameters>(args)...);
  check(cudaGetLastError());
#else
  (void)stream;
  const auto bound = [kernel, ... values = static_cast<Parameters>(args)] { kernel(values...); };
  using Bound = decltype(bound);
  simt::launch({
      .grid = {grid.x, grid.y, grid.z},
      .block = {block.x, block.y, block.z},
      .dynamic_shared_bytes = shape.dynamic_shared_bytes,
      .kernel = reinterpret_cast<const void*>(kernel),
      .body = [](const void* call) { (*static_cast<Bound*>(call))(); },
      .arguments = &bound,
      .arguments_bytes = sizeof(bound),
#ifdef SEVENLOOPS_TRACED
      .traced = true,
#else
      .traced = false,
#endif
  });
#endif
}

}  // namespace sevenloops::SEVENLOOPS_BUILD
