#pragma once
// A second implementation that shares no index code with the seven loops: im2col times Eigen's
// product.

#include "reference/conv2d/problem.hpp"
#include "reference/core/tensor.hpp"

namespace sevenloops {

/// y = conv(x, w) as a matrix product over lowered x, in T (float or double). x N x C x H x W and
/// w K x C/groups x R x S in any strides; dense NCHW result. Fast: about the time of Eigen's own
/// product of the same sizes, with at most a few dozen MB of scratch memory beside the filters.
/// Numerics: sums in Eigen's order, exact on integers whose partial sums T holds. Padding is
/// multiplied as zeros, so operands must be finite. Errors: Error when `prob` is not valid or
/// extents do not match it.
template <typename T>
Tensor<T> gemm_oracle_forward(const Conv2dProblem& prob, TensorView<const T> x,
                              TensorView<const T> w);

/// dx = gradient of <y, dy> by x: the transposed product, then col2im. Dense NCHW.
template <typename T>
Tensor<T> gemm_oracle_backward_data(const Conv2dProblem& prob, TensorView<const T> dy,
                                    TensorView<const T> w);

/// dw = gradient of <y, dy> by w: dy times the transposed lowered x. Dense NCHW.
template <typename T>
Tensor<T> gemm_oracle_backward_filter(const Conv2dProblem& prob, TensorView<const T> x,
                                      TensorView<const T> dy);

}  // namespace sevenloops
