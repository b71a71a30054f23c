#pragma once
// How the sums of a thread's tile reach y: 16 bytes at a time where y lies so, else one by one.

#include <cstdint>

#include "gpu/conv2d/conv2d_forward.hpp"
#include "gpu/conv2d/thread_tile.hpp"
#include "gpu/cuda.hpp"

namespace sevenloops::SEVENLOOPS_BUILD {

/// y as the product sees it: a matrix for each group, filters x columns n, p, q.
template <typename T>
struct Outputs {
  TensorView<T> y;
  T alpha, beta;
  int filters, columns;  ///< of a group
  bool in_groups;  ///< kGroup columns in turn, from a multiple of kGroup on, are 16 aligned bytes
};

template <typename T>
Outputs<T> outputs_of(const Conv2dForward::Args& args) {
  const auto& [n_stride, k_stride, p_stride, q_stride] = args.y.strides;
  const std::int64_t P = args.y.extents[2], Q = args.y.extents[3];
  const bool dense = q_stride == 1 && p_stride == Q;
  const bool whole = P * Q % kGroup<T> == 0 && k_stride % kGroup<T> == 0 &&
                     n_stride % kGroup<T> == 0 &&
                     reinterpret_cast<std::uintptr_t>(args.y.data) % 16 == 0;
  return {args.y.as<T>(),
          static_cast<T>(args.alpha),
          static_cast<T>(args.beta),
          static_cast<int>(args.prob.filters_per_group()),
          static_cast<int>(args.y.extents[0] * P * Q),
          dense && whole};
}

/// y = alpha * sum + beta * y for a thread's sums, the first of which is that of filter `k` of
/// group `g` and column `m`. beta = 0 does not read y.
template <typename T, int kFilters, int kColumns>
__device__ __forceinline__ void store_sums(const Outputs<T>& out, int g, int k, int m,
                                           const T (&sum)[kFilters][kColumns]) {
  const int P = out.y.extent(2), Q = out.y.extent(3);
  SEVENLOOPS_UNROLL
  for (int b = 0; b < kColumns; ++b) {
    const int column = m + column_offset<T>(b);
    if (column >= out.columns || (out.in_groups && b % kGroup<T> != 0)) continue;
    const int q = column % Q, p = column / Q % P, n = column / Q / P;
    T* const at = out.y.data + out.y.offset(n, std::int64_t{g} * out.filters, p, q);
    SEVENLOOPS_UNROLL
    for (int a = 0; a < kFilters; ++a) {
      const int filter = k + filter_offset<T>(a);
      if (filter >= out.filters) continue;
      T* const to = at + filter * out.y.stride(1);
      __align__(16) T group[kGroup<T>];
      if (out.in_groups) {
        if (out.beta != 0) copy_group(group, to);
        SEVENLOOPS_UNROLL
        for (int i = 0; i < kGroup<T>; ++i) {
          const T scaled = out.alpha * sum[a][b / kGroup<T> * kGroup<T> + i];
          group[i] = out.beta == 0 ? scaled : fma(out.beta, group[i], scaled);
        }
        copy_group(to, group);
      } else {
        const T scaled = out.alpha * sum[a][b];
        *to = out.beta == 0 ? scaled : fma(out.beta, *to, scaled);
      }
    }
  }
}

}  // namespace sevenloops::SEVENLOOPS_BUILD
