#pragma once
// The bridge to Eigen: any plane of a tensor view, of whatever layout, is an Eigen matrix.

#include <Eigen/Core>

#include "reference/core/tensor_view.hpp"

namespace sevenloops {

/// A row-major Eigen matrix of run-time size.
template <typename T>
using RowMatrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// An Eigen matrix over memory somebody else owns, with any distance between rows and columns.
template <typename T>
using Plane =
    Eigen::Map<RowMatrix<T>, Eigen::Unaligned, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>;

/// The same, not to be written.
template <typename T>
using ConstPlane =
    Eigen::Map<const RowMatrix<T>, Eigen::Unaligned, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>;

/// Plane (n, c) of `view`, H x W: `plane(x, n, c)(h, w)` is `x(n, c, h, w)`. Copies nothing and
/// stays valid as long as the view's memory. Strides must not be negative.
template <typename T>
Plane<T> plane(const TensorView<T>& view, std::int64_t n, std::int64_t c) {
  return {view.data + view.offset(n, c, 0, 0),
          view.extent(2),
          view.extent(3),
          {view.stride(2), view.stride(3)}};
}

template <typename T>
ConstPlane<T> plane(const TensorView<const T>& view, std::int64_t n, std::int64_t c) {
  return {view.data + view.offset(n, c, 0, 0),
          view.extent(2),
          view.extent(3),
          {view.stride(2), view.stride(3)}};
}

}  // namespace sevenloops
