#pragma once
// A right result of a small convolution with everything that judges it.

#include <utility>

#include "reference/conv2d/conv2d.hpp"
#include "reference/core/agreement.hpp"
#include "reference/core/data.hpp"
#include "reference/core/numerics.hpp"

namespace sevenloops::testing {

/// y of exact or real data, with the comparisons of each tier.
struct JudgedSample {
  Conv2dProblem prob = parse_conv2d("n2c5h7w9_k4r3s2_p1x0");
  bool exact;
  Tensor<float> x, w, y;
  ReferenceResult reference;

  explicit JudgedSample(bool exact_data)
      : exact(exact_data), x(x_extents(prob)), w(w_extents(prob)) {
    if (exact) {
      const ExactRange range = exact_range(Dtype::f32, Dtype::f32, 30);
      fill_exact(x.view(), 1, range.largest);
      fill_exact(w.view(), 2, range.largest);
    } else {
      fill_real(x.view(), 1);
      fill_real(w.view(), 2);
    }
    y = computed(x, w);
    const Tensor<double> x64 = converted<double>(std::as_const(x).view());
    const Tensor<double> w64 = converted<double>(std::as_const(w).view());
    reference = conv2d_forward(prob, x64.view(), w64.view());
  }

  Tensor<float> computed(const Tensor<float>& some_x, const Tensor<float>& some_w) const {
    return conv2d_forward_twin<float>(prob, some_x.view(), some_w.view());
  }

  Agreement bitwise(const Tensor<float>& got) const {
    return agree_bitwise<float>(got.view(), value(), taps());
  }
  Agreement twin(const Tensor<float>& got) const {
    return agree_with_twin<float>(got.view(), std::as_const(y).view());
  }
  Agreement bound(const Tensor<float>& got) const {
    return agree_within_bound<float>(got.view(), value(), std::as_const(reference.magnitude).view(),
                                     taps(), bound_terms(Dtype::f32, Dtype::f32));
  }

 private:
  TensorView<const double> value() const { return std::as_const(reference.value).view(); }
  TensorView<const std::int64_t> taps() const { return std::as_const(reference.taps).view(); }
};

}  // namespace sevenloops::testing
