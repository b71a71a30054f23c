#pragma once
// Kernels that do one thing only, as fast as a GPU can. Compiled for GPUs alone.

#include <cstddef>

#include "reference/core/stage.hpp"

namespace sevenloops::build_gpu {

/// Chains of `steps` dependent FMAs, kFmaChains a thread, `threads` threads (a multiple of 256),
/// all in registers. Writes nothing. T is float or double.
inline constexpr int kFmaChains = 16;
template <typename T>
void launch_fma_chains(int threads, int steps, T* sink, Stream stream);

/// Reads `bytes` (a multiple of 16) from `memory` once, in order. Writes nothing.
void launch_read(const void* memory, std::size_t bytes, float* sink, Stream stream);

}  // namespace sevenloops::build_gpu
