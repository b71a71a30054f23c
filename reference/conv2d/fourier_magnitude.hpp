#pragma once
// Norms that bound the errors of a convolution by way of Fourier transforms.

#include "reference/conv2d/problem.hpp"
#include "reference/conv2d/transform_magnitude.hpp"
#include "reference/core/tensor_view.hpp"

namespace sevenloops {

/// Radix-2 levels of a 2-D transform that covers the padded image: the logarithms of height and
/// width, rounded up, and one more in each direction for a transform of twice the size, or for
/// packing real numbers into complex ones.
int fourier_levels(const Conv2dProblem& prob);

/// A transform mixes its whole plane: an error comes from the largest elements of the plane,
/// wherever they are. So there is no bound by the terms of one output, and sum is the same for all
/// outputs of image n and filter k:
///
///     sum_c ||x[n,c]|| ||w[k,c]||          (2-norms of whole planes)
///
/// In units of this and of u, with L levels, a result is off by at most
/// - 8 L for each of x and w: a butterfly changes its numbers by at most 8 u relatively (a product
///   of complex numbers, a weight right to 2 u, an addition), a transform the norm of a plane by 8
///   u L; by Cauchy and Schwarz an error e in x moves no output by more than ||e|| ||w||;
/// - C + 4 for the products and their sums over the channels: what one frequency is off by reaches
///   all outputs, and sum_f |X_f| |W_f| / points is at most ||x|| ||w||, by Parseval;
/// - 8 L for the way back, whose additions have the same terms.
/// Errors that are not chosen by an enemy add up like a random walk of L + C steps (steps), which
/// is what transforms show: below 2 in these units.
///
/// `tiny` is the number below which an operation in the accumulation type may lose more than its
/// relative share (eta / u). Source: Higham, Accuracy and Stability of Numerical Algorithms,
/// theorem 24.2.
TransformMagnitude fourier_magnitude(const Conv2dProblem& prob, TensorView<const double> x,
                                     TensorView<const double> w, double tiny);

}  // namespace sevenloops
