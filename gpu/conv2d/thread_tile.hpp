#pragma once
// The tile of sums that a thread of a matrix product keeps in registers.
//
// The lanes of a warp stand in 8 columns and 4 rows. A lane's sums lie in groups of kGroup x
// kGroup; neighboring lanes have neighboring groups, and a lane's own groups lie 8 (4) groups apart
// along the columns (filters). So a lane reads its factors from shared memory 16 bytes at a time,
// and 8 lanes read 128 bytes side by side, which touch all banks once.

#include "gpu/async_copy.hpp"
#include "gpu/cuda.hpp"

namespace sevenloops::SEVENLOOPS_BUILD {

template <typename T>
constexpr int kGroup = 16 / sizeof(T);  ///< elements in 16 bytes
template <typename T>
constexpr int kSide = 2 * kGroup<T>;  ///< sums of a thread along either side of a square tile

/// Columns and filters of a warp whose threads have kSums along them.
template <int kSums>
constexpr int kWarpM = 8 * kSums;
template <int kSums>
constexpr int kWarpK = 4 * kSums;

/// Copies 16 aligned bytes in one access.
__device__ __forceinline__ void copy_group(float* to, const float* from) {
  *reinterpret_cast<float4*>(to) = *reinterpret_cast<const float4*>(from);
}
__device__ __forceinline__ void copy_group(double* to, const double* from) {
  *reinterpret_cast<double2*>(to) = *reinterpret_cast<const double2*>(from);
}

/// The same from global to shared memory, as async_copy().
template <typename T>
__device__ __forceinline__ void async_copy_group(T* to, const T* from) {
  async_copy(reinterpret_cast<float4*>(to), reinterpret_cast<const float4*>(from));
}

/// How far a thread's sum number i lies from its first, along the columns or along the filters.
template <typename T>
__device__ __forceinline__ constexpr int column_offset(int i) {
  return i / kGroup<T> * 8 * kGroup<T> + i % kGroup<T>;
}
template <typename T>
__device__ __forceinline__ constexpr int filter_offset(int i) {
  return i / kGroup<T> * 4 * kGroup<T> + i % kGroup<T>;
}

/// Where the first of this thread's kFilters x kColumns sums lies in its block's tile, which is
/// `warps_m` warps wide.
struct ThreadPlace {
  int m, k;
};
template <typename T, int kFilters, int kColumns>
__device__ __forceinline__ ThreadPlace thread_place(int warps_m) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  return {warp % warps_m * kWarpM<kColumns> + lane % 8 * kGroup<T>,
          warp / warps_m * kWarpK<kFilters> + lane / 8 * kGroup<T>};
}

/// sum[a][b] += w_row[filter a] * x_row[column b] for one row of both tiles in shared memory, which
/// are aligned to 16 bytes.
template <typename T, int kFilters, int kColumns>
__device__ __forceinline__ void add_row(const T* x_row, const T* w_row, ThreadPlace place,
                                        T (&sum)[kFilters][kColumns]) {
  __align__(16) T x_own[kColumns], w_own[kFilters];
  SEVENLOOPS_UNROLL
  for (int b = 0; b < kColumns; b += kGroup<T>) {
    copy_group(&x_own[b], &x_row[place.m + column_offset<T>(b)]);
  }
  SEVENLOOPS_UNROLL
  for (int a = 0; a < kFilters; a += kGroup<T>) {
    copy_group(&w_own[a], &w_row[place.k + filter_offset<T>(a)]);
  }
  SEVENLOOPS_UNROLL
  for (int a = 0; a < kFilters; ++a) {
    SEVENLOOPS_UNROLL
    for (int b = 0; b < kColumns; ++b) sum[a][b] = fma(x_own[b], w_own[a], sum[a][b]);
  }
}

}  // namespace sevenloops::SEVENLOOPS_BUILD
