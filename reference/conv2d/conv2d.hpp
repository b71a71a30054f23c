#pragma once
// The definition of 2-D convolution and its two gradients: seven nested loops each.

#include "reference/conv2d/problem.hpp"
#include "reference/core/tensor.hpp"

namespace sevenloops {

/// Extents of the operands of `prob`: x (N,C,H,W), w (K,C/groups,R,S), y (N,K,P,Q).
Extents x_extents(const Conv2dProblem& prob);
Extents w_extents(const Conv2dProblem& prob);
Extents y_extents(const Conv2dProblem& prob);

/// What the definition says about each element of a result.
struct ReferenceResult {
  Tensor<double> value;       ///< alpha * sum + beta * old, in fp64
  Tensor<double> magnitude;   ///< S = sum |x||w| over the taps used (before alpha)
  Tensor<std::int64_t> taps;  ///< taps used; those in padding are not counted
};

/// Forward: y[n,k,p,q] = alpha * sum_{c,r,s} x[n,gC+c,h,w] w[k,c,r,s] + beta * y0[n,k,p,q].
/// All operands in fp64 (already rounded to their storage type), any strides from 0 up, 64-bit
/// indexing. Dense NCHW results. Numerics: NaN and infinities propagate, also through alpha = 0;
/// padding contributes nothing, whatever the filter holds there; y0 is read only when beta != 0.
/// Errors: Error when `prob` is not valid or extents do not match it.
ReferenceResult conv2d_forward(const Conv2dProblem& prob, TensorView<const double> x,
                               TensorView<const double> w, double alpha = 1, double beta = 0,
                               TensorView<const double> y0 = {});

/// Backward data: dx[n,c,h,w] = alpha * sum of dy[n,k,p,q] w[k,c,r,s] over all taps that read
/// x[n,c,h,w] forward, + beta * dx0. Otherwise like conv2d_forward().
ReferenceResult conv2d_backward_data(const Conv2dProblem& prob, TensorView<const double> dy,
                                     TensorView<const double> w, double alpha = 1, double beta = 0,
                                     TensorView<const double> dx0 = {});

/// Backward filter: dw[k,c,r,s] = alpha * sum_{n,p,q} dy[n,k,p,q] x[n,gC+c,h,w] + beta * dw0.
/// Otherwise like conv2d_forward(). N = 0 gives beta * dw0.
ReferenceResult conv2d_backward_filter(const Conv2dProblem& prob, TensorView<const double> x,
                                       TensorView<const double> dy, double alpha = 1,
                                       double beta = 0, TensorView<const double> dw0 = {});

/// The twin of conv2d_forward in type T (float, double): sum starts at +0 and adds with explicit
/// std::fma in the order c, r, s, skipping padding; then `alpha == 1 && beta == 0 ? sum :
/// beta == 0 ? alpha*sum : fma(beta, y0, alpha*sum)` with each operation rounded to T.
/// Stages of Order::reference must equal it bit for bit on any data.
template <typename T>
Tensor<T> conv2d_forward_twin(const Conv2dProblem& prob, TensorView<const T> x,
                              TensorView<const T> w, T alpha = 1, T beta = 0,
                              TensorView<const T> y0 = {});

}  // namespace sevenloops
