#pragma once
// What a judge asks tensors: a part of one, and how large the whole numbers in it are.

#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/core/tensor.hpp"

namespace sevenloops {

/// The elements from `begin` on, as many as `extents` says.
template <typename T>
TensorView<T> box(const TensorView<T>& view, const Extents& begin, const Extents& extents) {
  if (view.size() == 0) return {view.data, extents, view.strides};
  return {view.data + view.offset(begin[0], begin[1], begin[2], begin[3]), extents, view.strides};
}

/// Largest |element| in units of `unit`, or infinity where one is no multiple of it.
inline double largest_multiple(const Tensor<double>& tensor, double unit) {
  double largest = 0;
  for (double element : tensor.buffer()) {
    const double multiple = element / unit;
    if (!std::isfinite(multiple) || multiple != std::floor(multiple)) {
      return std::numeric_limits<double>::infinity();
    }
    largest = std::max(largest, std::abs(multiple));
  }
  return largest;
}

}  // namespace sevenloops
