#pragma once
// The kernel of the full-size check, once per compilation.

#include "gpu/conv2d/conv2d_forward.hpp"
#include "reference/core/stage.hpp"

namespace sevenloops {

/// z[n,g,p,q] = sum over the filters k of group g of weights[k] * y[n,k,p,q], in fp64, where y is
/// N x K x P x Q and z dense N x groups x P x Q. T is float or double.
namespace build_plain {
template <typename T>
void contract(TensorView<const T> y, std::int64_t groups, const double* weights, double* z,
              Stream stream);
}
namespace build_traced {
template <typename T>
void contract(TensorView<const T> y, std::int64_t groups, const double* weights, double* z,
              Stream stream);
}
namespace build_gpu {
template <typename T>
void contract(TensorView<const T> y, std::int64_t groups, const double* weights, double* z,
              Stream stream);
}

}  // namespace sevenloops
