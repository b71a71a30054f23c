#pragma once
// The primitive "convolution forward" as the stages see it.

#include <array>

#include "reference/conv2d/problem.hpp"
#include "reference/core/stage.hpp"
#include "reference/core/tensor_view.hpp"

namespace sevenloops {

/// A view whose element type is known at run time only.
struct AnyView {
  void* data = nullptr;
  std::array<std::int64_t, 4> extents{};
  std::array<std::int64_t, 4> strides{};

  /// The typed view; T must be what the problem's dtype says.
  template <typename T>
  TensorView<T> as() const {
    return {static_cast<T*>(data), extents, strides};
  }

  /// Number of elements, gaps not counted.
  constexpr std::int64_t size() const { return extents[0] * extents[1] * extents[2] * extents[3]; }
};

/// Convolution forward: y = alpha * conv(x, w) + beta * y. See Conv2dProblem for the formula.
struct Conv2dForward {
  static constexpr const char* name = "conv2d";
  using Problem = Conv2dProblem;

  /// x: N x C x H x W and w: K x C/groups x R x S are read only; y: N x K x P x Q. All in the
  /// problem's dtype, with any strides, on the place where the stage runs; no two elements of y
  /// share memory. beta = 0 never reads y.
  struct Args {
    Conv2dProblem prob;
    AnyView x, w, y;
    double alpha = 1, beta = 0;
  };
};

/// What the plain stages say first. No to data other than fp32 and fp64, to sums in another type
/// than the data's, to padded extents and strides that 32-bit positions in a plane cannot count,
/// and to more than 2^31 - 1 `blocks`, the largest grid.
Support within_limits(const Conv2dProblem& prob, std::int64_t blocks);

/// What stages say that see convolution as a product of matrices. Those have C*R*S rows, K filters
/// and N*P*Q columns, of each at most 2^30, so that 32 bits count them with a tile hanging over.
Support within_matrix_limits(const Conv2dProblem& prob, std::int64_t blocks);

/// Throws Error unless `workspace` has the bytes that `stage` needs.
void require_workspace(const char* stage, Workspace workspace, std::size_t bytes);

/// Rows of the matrix of one group: C/groups*R*S.
constexpr std::int64_t row_count(const Conv2dProblem& prob) {
  return prob.channels_per_group() * prob.R * prob.S;
}

/// The least number of parts of `part` elements that hold `count`.
constexpr std::int64_t ceil_div(std::int64_t count, std::int64_t part) {
  return (count + part - 1) / part;
}

}  // namespace sevenloops
