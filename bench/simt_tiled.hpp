#pragma once
// The kernel that measures the emulator, once per compilation.

#include <cstdint>

namespace sevenloops {

/// y = x * w for n x n matrices in the emulator's memory, row by row; n a multiple of 32.
namespace build_plain {
void launch_matmul_tiled(const float* x, const float* w, float* y, int n);
}
namespace build_traced {
void launch_matmul_tiled(const float* x, const float* w, float* y, int n);
}

/// Loads and stores made by all its threads: of each thread 2 from global and 2 to shared memory a
/// tile, 2 from shared memory a term, 1 result.
constexpr std::int64_t matmul_tiled_accesses(std::int64_t n) {
  return n * n * (n / 32 * 4 + n * 2 + 1);
}

}  // namespace sevenloops
