#pragma once
// Kernels whose counters are known, by hand or from a GPU's own, and kernels of which the result
// tells whether the emulator keeps CUDA's rules. Each works on floats in the emulator's memory.

#include <cstddef>

namespace sevenloops {

/// n x n row-major matrices; n a multiple of the tiles. `y` is the result.
#define SEVENLOOPS_COUNT_KERNELS(build)                                            \
  namespace build {                                                                \
  void launch_copy(const float* x, float* y, int threads, int stride, int offset); \
  void launch_copy4(const float* x, float* y, int vectors);                        \
  void launch_broadcast(const float* x, float* y, int threads);                    \
  void launch_matmul_uncoalesced(const float* x, const float* w, float* y, int n); \
  void launch_matmul_naive(const float* x, const float* w, float* y, int n);       \
  void launch_matmul_tiled(const float* x, const float* w, float* y, int n);       \
  void launch_transpose_naive(const float* x, float* y, int n);                    \
  void launch_transpose_shared(const float* x, float* y, int n);                   \
  void launch_transpose_padded(const float* x, float* y, int n);                   \
  void launch_shared4(const float* x, float* y, int stride);                       \
  void launch_shared_uniform4(const float* x, float* y);                           \
  void launch_shared_stride(const float* x, float* y, int stride);                 \
  void launch_shared_double(const double* x, double* y, int stride);               \
  void launch_half_warp(const float* x, float* y);                                 \
  void launch_uneven_loops(const float* x, float* y);                              \
  void launch_nested_loops(const float* x, float* y, int blocks);                  \
  void launch_block_sum(const float* x, float* y, int blocks);                     \
  void launch_votes(float* y);                                                     \
  void launch_shuffles(float* y);                                                  \
  void launch_partial_masks(float* y);                                             \
  void launch_atomics(unsigned* y, int blocks);                                    \
  void launch_ids(float* y);                                                       \
  void launch_vectors(const float* x, float* y);                                   \
  void launch_double_buffer(const float* x, float* y, int tiles);                  \
  void launch_async_double_buffer(const float* x, float* y, int tiles);            \
  }
SEVENLOOPS_COUNT_KERNELS(build_plain)
SEVENLOOPS_COUNT_KERNELS(build_traced)
SEVENLOOPS_COUNT_KERNELS(build_gpu)
#undef SEVENLOOPS_COUNT_KERNELS

}  // namespace sevenloops
