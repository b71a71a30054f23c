// Facts about convolution that need no second implementation. The data are integers, so that every
// one holds exactly.

#include <gtest/gtest.h>

#include "tests/support/conv2d_samples.hpp"

namespace sevenloops {
namespace {

using testing::combined;
using testing::const_view;
using testing::equal;
using testing::inner_product;
using testing::integers;
using testing::part;
using testing::restrided;
using testing::sample_problems;

Tensor<double> forward(const Conv2dProblem& prob, TensorView<const double> x,
                       TensorView<const double> w) {
  return conv2d_forward(prob, x, w).value;
}
Tensor<double> forward(const Conv2dProblem& prob, const Tensor<double>& x,
                       const Tensor<double>& w) {
  return forward(prob, x.view(), w.view());
}

// The samples with their integers.
struct Sample {
  Conv2dProblem prob;
  Tensor<double> x, w, dy;
};

std::vector<Sample> samples() {
  std::vector<Sample> samples;
  unsigned seed = 0;
  for (const Conv2dProblem& prob : sample_problems(60)) {
    samples.push_back({prob, integers(x_extents(prob), ++seed), integers(w_extents(prob), ++seed),
                       integers(y_extents(prob), ++seed)});
  }
  return samples;
}

// <conv(x, w), dy> = <x, backward_data(dy, w)> = <w, backward_filter(x, dy)>
TEST(Property, GradientsAreAdjoint) {
  for (const auto& [prob, x, w, dy] : samples()) {
    SCOPED_TRACE(print(prob));
    const double expected = inner_product(forward(prob, x, w), dy);
    EXPECT_EQ(inner_product(x, conv2d_backward_data(prob, const_view(dy), const_view(w)).value),
              expected);
    EXPECT_EQ(inner_product(w, conv2d_backward_filter(prob, const_view(x), const_view(dy)).value),
              expected);
  }
}

// The three directions use the same taps, so they use equally many.
TEST(Property, EveryDirectionCountsTheSameTaps) {
  for (const auto& [prob, x, w, dy] : samples()) {
    SCOPED_TRACE(print(prob));
    const auto total = [](const ReferenceResult& result) {
      std::int64_t sum = 0;
      for (const std::int64_t taps : result.taps.buffer()) sum += taps;
      return sum;
    };
    const auto expected = total(conv2d_forward(prob, const_view(x), const_view(w)));
    EXPECT_EQ(total(conv2d_backward_data(prob, const_view(dy), const_view(w))), expected);
    EXPECT_EQ(total(conv2d_backward_filter(prob, const_view(x), const_view(dy))), expected);
  }
}

TEST(Property, LinearInEachOperand) {
  unsigned seed = 1000;
  for (const auto& [prob, x, w, dy] : samples()) {
    SCOPED_TRACE(print(prob));
    const auto x2 = integers(x.extents(), ++seed), w2 = integers(w.extents(), ++seed);
    EXPECT_TRUE(equal(forward(prob, combined(2, x, -3, x2), w),
                      combined(2, forward(prob, x, w), -3, forward(prob, x2, w))));
    EXPECT_TRUE(equal(forward(prob, x, combined(2, w, -3, w2)),
                      combined(2, forward(prob, x, w), -3, forward(prob, x, w2))));
  }
}

// A single one in the input draws the filter, mirrored, into the output.
TEST(Property, ImpulseDrawsTheFilter) {
  const Conv2dProblem prob = parse_conv2d("n2c3h8w9_k2r3s4");
  const auto w = integers(w_extents(prob), 1);
  Tensor<double> x(x_extents(prob));
  x(1, 2, 4, 5) = 1;
  const auto y = forward(prob, x, w);
  for_each_index(y.extents(), [&](auto n, auto k, auto p, auto q) {
    const std::int64_t r = 4 - p, s = 5 - q;
    const bool drawn = n == 1 && 0 <= r && r < prob.R && 0 <= s && s < prob.S;
    EXPECT_EQ(y(n, k, p, q), drawn ? w(k, 2, r, s) : 0);
  });
}

TEST(Property, DeltaFilterCopiesTheInput) {
  for (const char* text : {"n2c3h6w7_k3r3s5_p1x2", "n2c3h6w7_k3r3s5_p1x2_conv"}) {
    const Conv2dProblem prob = parse_conv2d(text);
    const auto x = integers(x_extents(prob), 1);
    Tensor<double> w(w_extents(prob));
    for (std::int64_t k = 0; k < prob.K; ++k) w(k, k, 1, 2) = 1;
    EXPECT_TRUE(equal(forward(prob, x, w), x));
  }
}

// Without padding, moving the input by one stride moves the output by one.
TEST(Property, TranslationFollows) {
  for (auto [prob, x, w, dy] : samples()) {
    prob.pad_top = prob.pad_left = prob.pad_bottom = prob.pad_right = 0;
    prob.H = prob.dilation_h * (prob.R - 1) + 1 + 3 * prob.stride_h;
    prob.W = prob.dilation_w * (prob.S - 1) + 1 + 2 * prob.stride_w;
    SCOPED_TRACE(print(prob));
    Conv2dProblem large = prob;
    large.H += prob.stride_h;
    large.W += prob.stride_w;
    const auto wide = integers(x_extents(large), 1);
    const auto y = forward(large, wide, w);
    const auto moved = forward(
        prob, part(wide.view(), {0, 0, prob.stride_h, prob.stride_w}, x_extents(prob)), w.view());
    EXPECT_TRUE(equal(moved.view(), part(y.view(), {0, 0, 1, 1}, moved.extents())));
  }
}

TEST(Property, ImagesAndFiltersAreIndependent) {
  const Conv2dProblem prob = parse_conv2d("n4c3h6w5_k5r3s2_p1_u2x1_conv");
  const auto x = integers(x_extents(prob), 1), w = integers(w_extents(prob), 2);
  const auto y = forward(prob, x, w);
  Conv2dProblem slice = prob;
  slice.N = 2;
  slice.K = 3;
  const auto got = forward(slice, part(x.view(), {1, 0, 0, 0}, x_extents(slice)),
                           part(w.view(), {2, 0, 0, 0}, w_extents(slice)));
  EXPECT_TRUE(equal(got.view(), part(y.view(), {1, 2, 0, 0}, y_extents(slice))));
}

// Layout is only strides: any of them, with gaps of NaN, give the same.
TEST(Property, LayoutsAndStridesDoNotMatter) {
  const auto layouts = [](const Extents& e) {
    return std::vector<Strides>{strides_of(Layout::nchw, e), strides_of(Layout::nhwc, e),
                                strides_of(Layout::chwn, e),
                                // rows along the columns, gaps between all elements
                                Strides{e[1] * e[2] * e[3] * 5, e[2] * e[3] * 4, 3, e[2] * 3 + 1}};
  };
  for (const char* text : {"n2c4h5w6_k6r3s2_p1x0x2x1_u2x1_g2", "n2c3h5w6_k2r3s2_d1x3_conv"}) {
    const Conv2dProblem prob = parse_conv2d(text);
    const auto x = integers(x_extents(prob), 1), w = integers(w_extents(prob), 2),
               dy = integers(y_extents(prob), 3);
    for (const Strides& sa : layouts(x.extents())) {
      for (const Strides& sb : layouts(w.extents())) {
        EXPECT_TRUE(equal(forward(prob, restrided(x.view(), sa), restrided(w.view(), sb)),
                          forward(prob, x, w)));
      }
      for (const Strides& sb : layouts(dy.extents())) {
        const auto xs = restrided(x.view(), sa), dys = restrided(dy.view(), sb);
        EXPECT_TRUE(equal(conv2d_backward_filter(prob, const_view(xs), const_view(dys)).value,
                          conv2d_backward_filter(prob, const_view(x), const_view(dy)).value));
      }
    }
    for (const Strides& sa : layouts(dy.extents())) {
      for (const Strides& sb : layouts(w.extents())) {
        const auto dys = restrided(dy.view(), sa), ws = restrided(w.view(), sb);
        EXPECT_TRUE(equal(conv2d_backward_data(prob, const_view(dys), const_view(ws)).value,
                          conv2d_backward_data(prob, const_view(dy), const_view(w)).value));
      }
    }
  }
}

TEST(Property, GroupsAreConcatenatedConvolutions) {
  for (const auto& [prob, x, w, dy] : samples()) {
    if (prob.groups == 1) continue;
    SCOPED_TRACE(print(prob));
    const auto y = forward(prob, x, w);
    Conv2dProblem one = prob;
    one.groups = 1;
    one.C = prob.channels_per_group();
    one.K = prob.filters_per_group();
    for (std::int64_t g = 0; g < prob.groups; ++g) {
      const auto got = forward(one, part(x.view(), {0, g * one.C, 0, 0}, x_extents(one)),
                               part(w.view(), {g * one.K, 0, 0, 0}, w_extents(one)));
      EXPECT_TRUE(equal(got.view(), part(y.view(), {0, g * one.K, 0, 0}, y_extents(one))));
    }
  }
}

TEST(Property, ConvolutionIsCorrelationWithTheRotatedFilter) {
  for (const Sample& sample : samples()) {
    const Conv2dProblem& prob = sample.prob;
    const Tensor<double>&x = sample.x, &w = sample.w;
    SCOPED_TRACE(print(prob));
    Conv2dProblem other = prob;
    other.mode =
        prob.mode == ConvMode::convolution ? ConvMode::cross_correlation : ConvMode::convolution;
    Tensor<double> rotated(w.extents());
    for_each_index(w.extents(), [&](auto k, auto c, auto r, auto s) {
      rotated(k, c, prob.R - 1 - r, prob.S - 1 - s) = w(k, c, r, s);
    });
    EXPECT_TRUE(equal(forward(other, x, rotated), forward(prob, x, w)));
  }
}

TEST(Property, DilationStuffsZerosIntoTheFilter) {
  for (const Sample& sample : samples()) {
    const Conv2dProblem& prob = sample.prob;
    const Tensor<double>&x = sample.x, &w = sample.w;
    SCOPED_TRACE(print(prob));
    Conv2dProblem dense = prob;
    dense.dilation_h = dense.dilation_w = 1;
    dense.R = prob.dilation_h * (prob.R - 1) + 1;
    dense.S = prob.dilation_w * (prob.S - 1) + 1;
    Tensor<double> stuffed(w_extents(dense));
    for_each_index(w.extents(), [&](auto k, auto c, auto r, auto s) {
      stuffed(k, c, r * prob.dilation_h, s * prob.dilation_w) = w(k, c, r, s);
    });
    EXPECT_TRUE(equal(forward(dense, x, stuffed), forward(prob, x, w)));
  }
}

TEST(Property, StrideSkipsOutputs) {
  for (const auto& [prob, x, w, dy] : samples()) {
    SCOPED_TRACE(print(prob));
    Conv2dProblem dense = prob;
    dense.stride_h = dense.stride_w = 1;
    const auto y = forward(dense, x, w);
    TensorView<const double> every = y.view();
    every.extents = y_extents(prob);
    every.strides[2] *= prob.stride_h;
    every.strides[3] *= prob.stride_w;
    EXPECT_TRUE(equal(const_view(forward(prob, x, w)), every));
  }
}

TEST(Property, PaddingIsABorderOfZeros) {
  for (const Sample& sample : samples()) {
    const Conv2dProblem& prob = sample.prob;
    const Tensor<double>&x = sample.x, &w = sample.w;
    SCOPED_TRACE(print(prob));
    Conv2dProblem bare = prob;
    bare.pad_top = bare.pad_left = bare.pad_bottom = bare.pad_right = 0;
    bare.H += prob.pad_top + prob.pad_bottom;
    bare.W += prob.pad_left + prob.pad_right;
    Tensor<double> bordered(x_extents(bare));
    for_each_index(x.extents(), [&](auto n, auto c, auto h, auto column) {
      bordered(n, c, h + prob.pad_top, column + prob.pad_left) = x(n, c, h, column);
    });
    EXPECT_TRUE(equal(forward(bare, bordered, w), forward(prob, x, w)));
  }
}

// An operand that is only read may repeat its elements by strides of zero.
TEST(Property, BroadcastOperandsMayRepeat) {
  const Conv2dProblem prob = parse_conv2d("n3c4h5w5_k4r3s3");
  const auto x = integers(x_extents(prob), 1);
  const auto plane = integers({1, 1, prob.R, prob.S}, 2);
  Tensor<double> repeated(w_extents(prob));
  for_each_index(repeated.extents(),
                 [&](auto k, auto c, auto r, auto s) { repeated(k, c, r, s) = plane(0, 0, r, s); });
  const TensorView<const double> broadcast{
      plane.buffer().data(), w_extents(prob), {0, 0, prob.S, 1}};
  EXPECT_TRUE(equal(forward(prob, x.view(), broadcast), forward(prob, x, repeated)));
}

}  // namespace
}  // namespace sevenloops
