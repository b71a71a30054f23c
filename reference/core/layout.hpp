#pragma once
// Layouts are only strides. The three with names, and any other by hand.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "reference/core/tensor_view.hpp"

namespace sevenloops {

using Extents = std::array<std::int64_t, 4>;  ///< N, C, H, W (or K, C, R, S)
using Strides = std::array<std::int64_t, 4>;  ///< in elements, same axis order

/// "2 x 3 x 7 x 9", for messages.
inline std::string text_of(const Extents& e) {
  return std::to_string(e[0]) + " x " + std::to_string(e[1]) + " x " + std::to_string(e[2]) +
         " x " + std::to_string(e[3]);
}

/// Memory order, slowest axis first: nchw (W fastest), nhwc (C fastest), chwn (N fastest).
enum class Layout { nchw, nhwc, chwn };

/// Dense strides of `extents` in `layout`. For a filter K plays N: krsc is nhwc.
constexpr Strides strides_of(Layout layout, const Extents& e) {
  switch (layout) {
    case Layout::nhwc:
      return {e[1] * e[2] * e[3], 1, e[3] * e[1], e[1]};
    case Layout::chwn:
      return {1, e[2] * e[3] * e[0], e[3] * e[0], e[0]};
    default:
      return {e[1] * e[2] * e[3], e[2] * e[3], e[3], 1};
  }
}

/// A dense view of memory at `data`.
template <typename T>
constexpr TensorView<T> view_of(T* data, const Extents& extents, Layout layout = Layout::nchw) {
  return {data, extents, strides_of(layout, extents)};
}

constexpr std::string_view name_of(Layout layout) {
  return layout == Layout::nchw ? "nchw" : layout == Layout::nhwc ? "nhwc" : "chwn";
}

/// Elements from the first to one past the last that a tensor of these extents and non-negative
/// strides touches; 0 when an extent is 0.
constexpr std::int64_t span_of(const Extents& e, const Strides& s) {
  std::int64_t last = 0;
  for (int axis = 0; axis < 4; ++axis) {
    if (e[axis] == 0) return 0;
    last += (e[axis] - 1) * s[axis];
  }
  return last + 1;
}

}  // namespace sevenloops
