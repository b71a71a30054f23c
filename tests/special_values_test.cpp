// The scalars alpha and beta, NaN and infinities, and what padding is not.

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/conv2d_samples.hpp"

namespace sevenloops {
namespace {

using testing::combined;
using testing::const_view;
using testing::equal;
using testing::integers;
using testing::mapped;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

Tensor<double> forward(const Conv2dProblem& prob, const Tensor<double>& x,
                       const Tensor<double>& w) {
  return conv2d_forward(prob, x.view(), w.view()).value;
}

TEST(SpecialValues, AlphaAndBeta) {
  unsigned seed = 0;
  for (const Conv2dProblem& prob : testing::sample_problems(60)) {
    SCOPED_TRACE(print(prob));
    const auto x = integers(x_extents(prob), ++seed), w = integers(w_extents(prob), ++seed),
               dy = integers(y_extents(prob), ++seed);
    const auto y = conv2d_forward(prob, const_view(x), const_view(w), 2, -3, const_view(dy));
    EXPECT_TRUE(equal(y.value, combined(2, forward(prob, x, w), -3, dy)));
    const auto dx = conv2d_backward_data(prob, const_view(dy), const_view(w), 2, -3, const_view(x));
    EXPECT_TRUE(
        equal(dx.value,
              combined(2, conv2d_backward_data(prob, const_view(dy), const_view(w)).value, -3, x)));
    const auto dw =
        conv2d_backward_filter(prob, const_view(x), const_view(dy), 2, -3, const_view(w));
    EXPECT_TRUE(equal(
        dw.value,
        combined(2, conv2d_backward_filter(prob, const_view(x), const_view(dy)).value, -3, w)));
    // Neither S nor the taps know about the scalars.
    const auto plain = conv2d_forward(prob, const_view(x), const_view(w));
    EXPECT_TRUE(equal(y.magnitude, plain.magnitude));
    EXPECT_TRUE(equal(y.taps, plain.taps));
  }
}

Tensor<double> all(const Extents& extents, double value) {
  return mapped(Tensor<double>(extents), [=](double) { return value; });
}

TEST(SpecialValues, BetaZeroNeverReadsTheOldResult) {
  const Conv2dProblem prob = parse_conv2d("n2c3h5w6_k4r3s2_p1");
  const auto x = integers(x_extents(prob), 1), w = integers(w_extents(prob), 2),
             dy = integers(y_extents(prob), 3);
  const auto cx = x.view(), cw = w.view(), cdy = dy.view();
  const auto nan_y = all(dy.extents(), kNan), nan_x = all(x.extents(), kNan),
             nan_w = all(w.extents(), kNan);
  EXPECT_TRUE(equal(conv2d_forward(prob, cx, cw, 1, 0, const_view(nan_y)).value,
                    conv2d_forward(prob, cx, cw).value));
  EXPECT_TRUE(equal(conv2d_backward_data(prob, cdy, cw, 1, 0, const_view(nan_x)).value,
                    conv2d_backward_data(prob, cdy, cw).value));
  EXPECT_TRUE(equal(conv2d_backward_filter(prob, cx, cdy, 1, 0, const_view(nan_w)).value,
                    conv2d_backward_filter(prob, cx, cdy).value));
  EXPECT_TRUE(equal(conv2d_forward_twin(prob, cx, cw, 1.0, 0.0, const_view(nan_y)),
                    conv2d_forward_twin(prob, cx, cw)));
}

// NaN and infinity reach exactly the outputs whose window holds them.
TEST(SpecialValues, NanAndInfinityPropagate) {
  const Conv2dProblem prob = parse_conv2d("n2c2h7w8_k3r3s3_p1");
  const auto w = all(w_extents(prob), 1);
  for (const double poison : {kNan, kInf, -kInf}) {
    auto x = integers(x_extents(prob), 1);
    const auto clean = forward(prob, x, w);
    x(1, 0, 3, 4) = poison;
    const auto y = forward(prob, x, w), twin = conv2d_forward_twin(prob, const_view(x), w.view());
    for_each_index(y.extents(), [&](auto n, auto k, auto p, auto q) {
      const bool reached = n == 1 && std::abs(p - 3) <= 1 && std::abs(q - 4) <= 1;
      if (!reached) {
        EXPECT_EQ(y(n, k, p, q), clean(n, k, p, q));
      } else if (std::isnan(poison)) {
        EXPECT_TRUE(std::isnan(y(n, k, p, q)));
      } else {
        EXPECT_EQ(y(n, k, p, q), poison);
      }
    });
    EXPECT_TRUE(equal(twin, y));
  }
}

// Padding is not a multiplication by zero: it contributes nothing even to infinities and NaN.
TEST(SpecialValues, PaddingContributesNothing) {
  for (const double poison : {kNan, kInf}) {
    const Conv2dProblem prob = parse_conv2d("n1c1h1w1_k1r3s3_p1");
    auto w = all(w_extents(prob), poison);
    w(0, 0, 1, 1) = 2;  // the only tap inside the image
    const auto x = all(x_extents(prob), 3);
    EXPECT_EQ(forward(prob, x, w)(0, 0, 0, 0), 6);
    EXPECT_EQ(conv2d_forward_twin(prob, x.view(), const_view(w))(0, 0, 0, 0), 6);
    EXPECT_EQ(conv2d_backward_data(prob, x.view(), const_view(w)).value(0, 0, 0, 0), 6);
    const auto dw = conv2d_backward_filter(
        prob, x.view(), const_view(all(w_extents(parse_conv2d("n1c1h1w1_k1r1s1")), poison)));
    for_each_index(dw.value.extents(), [&](auto k, auto c, auto r, auto s) {
      const double got = dw.value(k, c, r, s);
      EXPECT_TRUE(r == 1 && s == 1 ? !std::isfinite(got) : got == 0) << got;
    });
  }
}

}  // namespace
}  // namespace sevenloops
