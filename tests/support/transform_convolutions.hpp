#pragma once
// Convolutions by way of transforms, written as plainly as possible: right results for the judge to
// pass, and material for wrong ones.

#include "gpu/conv2d/verify.hpp"

namespace sevenloops::testing {

/// Winograd's F(m x m, 3 x 3) for 3 x 3 filters of stride and dilation 1, m = 2 or 4. Filters are
/// transformed by whole numbers and divided once, so that integers stay exact where they can.
/// Everything is rounded to T.
template <typename T>
Tensor<T> winograd_convolution(const Conv2dOperands<T>& on, int m);

/// Products of 2-D Fourier transforms of a power of two in each direction. Any problem.
template <typename T>
Tensor<T> fourier_convolution(const Conv2dOperands<T>& on);

/// The one or the other.
template <typename T>
Tensor<T> transform_convolution(const Conv2dOperands<T>& on, Algorithm algorithm);

/// DataKind::exact on which F(4x4) is exact too: filters of -576, 0 and 576, inputs so small that
/// the sums fit.
template <typename T>
Conv2dOperands<T> operands_exact_for_4x4(const Conv2dProblem& prob, Layout layout,
                                         std::uint64_t seed);

}  // namespace sevenloops::testing
