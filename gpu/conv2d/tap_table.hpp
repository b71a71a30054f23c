#pragma once
// The rows of implicit GEMM's virtual matrix as a table: where each tap c, r, s reads x.

#include <array>

#include "gpu/conv2d/conv2d_forward.hpp"
#include "gpu/cuda.hpp"
#include "gpu/launch.hpp"

namespace sevenloops::SEVENLOOPS_BUILD {

/// In which order the rows follow each other. crs: s fastest, as in the definition. rsc: c fastest,
/// so that neighboring rows read x at the same h and w, a channel apart.
enum class RowOrder { crs, rsc };

/// Where a row reads x, counted from the corner of an output's window.
struct Tap {
  std::int64_t offset;  ///< in elements
  int h, w;             ///< in rows and columns
};

/// Tap number `row` of `order`, of a filter of one group. A rotated filter starts at the far corner
/// of the window.
__device__ __forceinline__ std::array<int, 3> tap_index(const Conv2dProblem& prob, RowOrder order,
                                                        int row) {
  const int C = prob.channels_per_group(), R = prob.R, S = prob.S;
  if (order == RowOrder::crs) return {row / S / R, row / S % R, row % S};
  return {row % C, row / C / S, row / C % S};
}

/// taps[row] for every row of a group, in elements of an x with these strides; one thread a row.
template <int kThreads>
__global__ void write_taps(Conv2dProblem prob, RowOrder order, std::array<std::int64_t, 4> strides,
                           Tap* taps) {
  const int row = blockIdx.x * kThreads + threadIdx.x;
  if (row >= row_count(prob)) return;
  const auto [c, r, s] = tap_index(prob, order, row);
  const bool rotated = prob.mode == ConvMode::convolution;
  const std::int64_t h = (rotated ? prob.R - 1 - r : r) * prob.dilation_h;
  const std::int64_t v = (rotated ? prob.S - 1 - s : s) * prob.dilation_w;
  taps[row] = {c * strides[1] + h * strides[2] + v * strides[3], static_cast<int>(h),
               static_cast<int>(v)};
}

/// Copies the filters to `rows_of_w`: groups x padded_rows x pitch, filters fastest, zeros where
/// there is no tap or filter; one thread an element.
template <typename T, int kThreads>
__global__ void write_filter_rows(Conv2dProblem prob, RowOrder order, int padded_rows, int pitch,
                                  TensorView<const T> w, T* rows_of_w) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (thread >= prob.groups * padded_rows * pitch) return;
  const int k = thread % pitch, row = thread / pitch % padded_rows;
  const std::int64_t g = thread / pitch / padded_rows, K = prob.filters_per_group();
  T value = 0;
  if (k < K && row < prob.channels_per_group() * prob.R * prob.S) {
    const auto [c, r, s] = tap_index(prob, order, row);
    value = w(g * K + k, c, r, s);
  }
  rows_of_w[thread] = value;
}

/// Launches write_taps.
inline void launch_write_taps(const Conv2dForward::Args& args, RowOrder order, Tap* taps,
                              Stream stream) {
  constexpr int kThreads = 256;
  const dim3 grid(ceil_div(row_count(args.prob), kThreads));
  launch(write_taps<kThreads>, LaunchShape{grid, dim3(kThreads)}, stream, args.prob, order,
         args.x.strides, taps);
}

/// Launches write_filter_rows.
template <typename T>
void launch_write_filter_rows(const Conv2dForward::Args& args, RowOrder order, int padded_rows,
                              int pitch, T* rows_of_w, Stream stream) {
  constexpr int kThreads = 256;
  const std::int64_t elements = args.prob.groups * padded_rows * pitch;
  launch(write_filter_rows<T, kThreads>,
         LaunchShape{dim3(ceil_div(elements, kThreads)), dim3(kThreads)}, stream, args.prob, order,
         padded_rows, pitch, args.w.as<const T>(), rows_of_w);
}

}  // namespace sevenloops::SEVENLOOPS_BUILD
