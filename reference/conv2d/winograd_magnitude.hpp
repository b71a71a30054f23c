#pragma once
// Winograd's convolution F(m x m, 3 x 3), run on magnitudes.

#include "reference/conv2d/problem.hpp"
#include "reference/conv2d/transform_magnitude.hpp"
#include "reference/core/tensor_view.hpp"

namespace sevenloops {

/// With the transforms' coefficients taken without their signs, sum is
///
///     |A^T| [ sum_c (|G| |g| |G^T|) o (|B^T| |d| |B|) ] |A|
///
/// for every tile of m x m outputs (m = 2 or 4; tiles start at output 0, 0), d the m+2 x m+2 inputs
/// under it with zeros for the padding, g the filter. Every computed number is a sum of terms that
/// also stand there, each off by its own roundings; so a result is off by gamma times this sum for
/// as many roundings as lie on the longest path.
///
/// `prob` has R = S = 3, stride and dilation 1. `tiny` is the number below which an operation in
/// the accumulation type may lose more than its relative share (eta / u).
/// Source: Lavin and Gray, Fast algorithms for convolutional neural networks (CVPR 2016), for the
/// transforms; Higham, Accuracy and Stability of Numerical Algorithms, chapter 3, for the bound.
TransformMagnitude winograd_magnitude(const Conv2dProblem& prob, int m, TensorView<const double> x,
                                      TensorView<const double> w, double tiny);

}  // namespace sevenloops
