// The definition of convolution against values worked out by hand, and against the second,
// independent implementation.

#include <gtest/gtest.h>

#include "reference/conv2d/gemm_oracle.hpp"
#include "reference/core/error.hpp"
#include "reference/core/numerics.hpp"
#include "tests/support/conv2d_samples.hpp"

namespace sevenloops {
namespace {

using testing::const_view;
using testing::equal;
using testing::integers;
using testing::mapped;
using testing::sample_problems;

// A tensor of these extents with these elements in row-major order.
template <typename T>
Tensor<T> tensor_of(const Extents& extents, std::vector<T> elements) {
  Tensor<T> tensor(extents);
  EXPECT_EQ(tensor.buffer().size(), elements.size());
  tensor.buffer() = std::move(elements);
  return tensor;
}

struct HandMade {
  const char* text;
  std::vector<double> x, w, y, magnitude;
  std::vector<std::int64_t> taps;
};

TEST(HandMade, Forward) {
  const HandMade cases[] = {
      // 1 2 3   times 1 2 at each of the four corners: 1*1 + 2*2 + 4*3 + 5*4 = 37, ...
      // 4 5 6         3 4
      // 7 8 9
      {"n1c1h3w3_k1r2s2",
       {1, 2, 3, 4, 5, 6, 7, 8, 9},
       {1, 2, 3, 4},
       {37, 47, 67, 77},
       {37, 47, 67, 77},
       {4, 4, 4, 4}},
      // The same with the filter rotated to 4 3 / 2 1.
      {"n1c1h3w3_k1r2s2_conv",
       {1, 2, 3, 4, 5, 6, 7, 8, 9},
       {1, 2, 3, 4},
       {23, 33, 53, 63},
       {23, 33, 53, 63},
       {4, 4, 4, 4}},
      // Columns -1, 1, 3 and 1, 3, 5 of 1 2 3 4 5; -1 and 5 are padding.
      {"n1c1h1w5_k1r1s3_p0x1x0x2_u2_d2",
       {1, 2, 3, 4, 5},
       {1, 10, 100},
       {420, 42},
       {420, 42},
       {2, 2}},
      {"n1c1h1w5_k1r1s3_p0x1x0x2_u2_d2_conv",
       {1, 2, 3, 4, 5},
       {1, 10, 100},
       {24, 240},
       {24, 240},
       {2, 2}},
      // Two filters for each of two channels.
      {"n1c2h1w1_k4r1s1_g2",
       {3, -5},
       {1, -2, 3, 4},
       {3, -6, -15, -20},
       {3, 6, 15, 20},
       {1, 1, 1, 1}},
      // Two images of two channels; channels are summed, images are not.
      {"n2c2h1w1_k1r1s1", {1, 2, 3, 4}, {10, -100}, {-190, -370}, {210, 430}, {2, 2}},
      // An output wholly in padding is +0.
      {"n1c1h1w1_k1r1s1_p1x0", {7}, {2}, {0, 14, 0}, {0, 14, 0}, {0, 1, 0}},
  };
  for (const HandMade& hand : cases) {
    SCOPED_TRACE(hand.text);
    const Conv2dProblem prob = parse_conv2d(hand.text);
    const auto x = tensor_of(x_extents(prob), hand.x), w = tensor_of(w_extents(prob), hand.w);
    const ReferenceResult got = conv2d_forward(prob, const_view(x), const_view(w));
    EXPECT_TRUE(equal(got.value, tensor_of(y_extents(prob), hand.y)));
    EXPECT_TRUE(equal(got.magnitude, tensor_of(y_extents(prob), hand.magnitude)));
    EXPECT_TRUE(equal(got.taps, tensor_of(y_extents(prob), hand.taps)));
  }
}

TEST(HandMade, BackwardData) {
  const Conv2dProblem prob = parse_conv2d("n1c1h3w3_k1r2s2");
  const auto w = tensor_of<double>(w_extents(prob), {1, 2, 3, 4});
  const auto dy = tensor_of<double>(y_extents(prob), {1, 1, 1, 1});
  const ReferenceResult got = conv2d_backward_data(prob, const_view(dy), const_view(w));
  EXPECT_TRUE(equal(got.value, tensor_of<double>(x_extents(prob), {1, 3, 2, 4, 10, 6, 3, 7, 4})));
  EXPECT_TRUE(
      equal(got.taps, tensor_of<std::int64_t>(x_extents(prob), {1, 2, 1, 2, 4, 2, 1, 2, 1})));
}

TEST(HandMade, BackwardFilter) {
  const Conv2dProblem prob = parse_conv2d("n1c1h3w3_k1r2s2");
  const auto x = tensor_of<double>(x_extents(prob), {1, 2, 3, 4, 5, 6, 7, 8, 9});
  const auto dy = tensor_of<double>(y_extents(prob), {1, 1, 1, 1});
  const ReferenceResult got = conv2d_backward_filter(prob, const_view(x), const_view(dy));
  EXPECT_TRUE(equal(got.value, tensor_of<double>(w_extents(prob), {12, 16, 24, 28})));
  EXPECT_TRUE(equal(got.taps, tensor_of<std::int64_t>(w_extents(prob), {4, 4, 4, 4})));
}

// ---- The loops against the matrix products: integers, so every element must be equal. -----------

// S and the tap counts are convolutions too: of absolute values, and of ones.
Tensor<double> ones(const Extents& extents) {
  return mapped(Tensor<double>(extents), [](double) { return 1.0; });
}
Tensor<double> absolute(const Tensor<double>& tensor) {
  return mapped(tensor, [](double v) { return std::abs(v); });
}

// `oracle(a, b)` computes with the second implementation what `got` says with the first.
template <typename Oracle>
void expect_agreement(const ReferenceResult& got, const Tensor<double>& a, const Tensor<double>& b,
                      Oracle&& oracle) {
  EXPECT_TRUE(equal(got.value, mapped(oracle(a, b), [](double v) { return v + 0.0; })));
  EXPECT_TRUE(equal(got.magnitude, oracle(absolute(a), absolute(b))));
  EXPECT_TRUE(
      equal(converted<double>(got.taps.view()), oracle(ones(a.extents()), ones(b.extents()))));
}

TEST(LoopsAgainstProducts, AllDirections) {
  unsigned seed = 0;
  for (const Conv2dProblem& prob : sample_problems(300)) {
    SCOPED_TRACE(print(prob));
    const auto x = integers(x_extents(prob), ++seed), w = integers(w_extents(prob), ++seed),
               dy = integers(y_extents(prob), ++seed);
    expect_agreement(conv2d_forward(prob, const_view(x), const_view(w)), x, w,
                     [&](const auto& a, const auto& b) {
                       return gemm_oracle_forward(prob, const_view(a), const_view(b));
                     });
    expect_agreement(conv2d_backward_data(prob, const_view(dy), const_view(w)), dy, w,
                     [&](const auto& a, const auto& b) {
                       return gemm_oracle_backward_data(prob, const_view(a), const_view(b));
                     });
    expect_agreement(conv2d_backward_filter(prob, const_view(x), const_view(dy)), x, dy,
                     [&](const auto& a, const auto& b) {
                       return gemm_oracle_backward_filter(prob, const_view(a), const_view(b));
                     });
    if (HasFailure()) break;  // one problem's output is enough to read
  }
}

// Large enough for several blocks of the lowered input; in float, whose integers are exact here.
TEST(LoopsAgainstProducts, SeveralBlocks) {
  const Conv2dProblem prob = parse_conv2d("n3c32h66w67_k4r5s5_p2x1x3x2");
  const auto x = integers(x_extents(prob), 1), w = integers(w_extents(prob), 2),
             dy = integers(y_extents(prob), 3);
  const auto xf = converted<float>(const_view(x)), wf = converted<float>(const_view(w)),
             dyf = converted<float>(const_view(dy));
  const auto cxf = std::as_const(xf).view(), cwf = std::as_const(wf).view(),
             cdyf = std::as_const(dyf).view();
  EXPECT_TRUE(
      equal(converted<float>(const_view(conv2d_forward(prob, const_view(x), const_view(w)).value)),
            gemm_oracle_forward(prob, cxf, cwf)));
  EXPECT_TRUE(equal(
      converted<float>(const_view(conv2d_backward_data(prob, const_view(dy), const_view(w)).value)),
      gemm_oracle_backward_data(prob, cdyf, cwf)));
  EXPECT_TRUE(equal(converted<float>(const_view(
                        conv2d_backward_filter(prob, const_view(x), const_view(dy)).value)),
                    gemm_oracle_backward_filter(prob, cxf, cdyf)));
}

TEST(LoopsAgainstProducts, TheOracleReadsAnyStrides) {
  const Conv2dProblem prob = parse_conv2d("n2c4h5w6_k6r3s2_p1_u2x1_g2");
  const auto x = integers(x_extents(prob), 1), w = integers(w_extents(prob), 2),
             dy = integers(y_extents(prob), 3);
  const auto strided = [](const Tensor<double>& tensor) {
    const Extents& e = tensor.extents();  // channels innermost, a gap after every row and element
    return testing::restrided(const_view(tensor),
                              {(e[2] * (e[3] + 1)) * e[1] * 2, 2, (e[3] + 1) * e[1] * 2, e[1] * 2});
  };
  EXPECT_TRUE(equal(gemm_oracle_forward(prob, const_view(strided(x)), const_view(strided(w))),
                    gemm_oracle_forward(prob, const_view(x), const_view(w))));
  EXPECT_TRUE(
      equal(gemm_oracle_backward_data(prob, const_view(strided(dy)), const_view(strided(w))),
            gemm_oracle_backward_data(prob, const_view(dy), const_view(w))));
  EXPECT_TRUE(
      equal(gemm_oracle_backward_filter(prob, const_view(strided(x)), const_view(strided(dy))),
            gemm_oracle_backward_filter(prob, const_view(x), const_view(dy))));
}

// ---- The twin
// ------------------------------------------------------------------------------------

template <typename T>
Tensor<T> twin(const char* text, std::vector<T> x, std::vector<T> w, T alpha = 1, T beta = 0,
               std::vector<T> y0 = {}) {
  const Conv2dProblem prob = parse_conv2d(text);
  const auto tx = tensor_of(x_extents(prob), std::move(x));
  const auto tw = tensor_of(w_extents(prob), std::move(w));
  if (y0.empty()) return conv2d_forward_twin(prob, tx.view(), tw.view(), alpha, beta);
  const auto ty0 = tensor_of(y_extents(prob), std::move(y0));
  return conv2d_forward_twin(prob, tx.view(), tw.view(), alpha, beta, ty0.view());
}

TEST(Twin, AddsWithOneRoundingInOrder) {
  // a*a = 1 + 2^-11 + 2^-24 is a tie in float and rounds to b; a fused product keeps the 2^-24.
  const float a = 1 + 0x1p-12f, b = 1 + 0x1p-11f;
  EXPECT_EQ(twin<float>("n1c1h1w2_k1r1s2", {-b, a}, {1, a})(0, 0, 0, 0), 0x1p-24f);
  EXPECT_EQ(twin<float>("n1c1h1w2_k1r1s2", {a, -b}, {a, 1})(0, 0, 0, 0), 0.0f);
  // The order is c, then r, then s, in the order of the stored filter whatever the mode is.
  EXPECT_EQ(twin<float>("n1c1h2w1_k1r2s1", {-b, a}, {1, a})(0, 0, 0, 0), 0x1p-24f);
  EXPECT_EQ(twin<float>("n1c2h1w1_k1r1s1", {-b, a}, {1, a})(0, 0, 0, 0), 0x1p-24f);
  EXPECT_EQ(twin<float>("n1c1h1w2_k1r1s2_conv", {a, -b}, {1, a})(0, 0, 0, 0), 0x1p-24f);
  // s runs inside r, r inside c: -b and a*a must be neighbors among large terms that cancel.
  EXPECT_EQ(twin<float>("n1c1h2w2_k1r2s2", {0x1p40f, -0x1p40f, -b, a}, {1, 1, 1, a})(0, 0, 0, 0),
            0x1p-24f);
  EXPECT_EQ(twin<float>("n1c2h2w1_k1r2s1", {0x1p40f, -0x1p40f, -b, a}, {1, 1, 1, a})(0, 0, 0, 0),
            0x1p-24f);
}

TEST(Twin, ScalesAsDocumented) {
  const float a = 1 + 0x1p-12f, b = 1 + 0x1p-11f;
  EXPECT_EQ(twin<float>("n1c1h1w1_k1r1s1", {a}, {1}, a)(0, 0, 0, 0), b);
  EXPECT_EQ(twin<float>("n1c1h1w1_k1r1s1", {-b}, {1}, 1, a, {a})(0, 0, 0, 0), 0x1p-24f);
  EXPECT_EQ(twin<float>("n1c1h1w1_k1r1s1", {a}, {1}, a, -1, {b})(0, 0, 0, 0), 0.0f);
}

TEST(Twin, EqualsTheDefinitionOnIntegers) {
  unsigned seed = 100;
  for (const Conv2dProblem& prob : sample_problems(60)) {
    SCOPED_TRACE(print(prob));
    const auto x = integers(x_extents(prob), ++seed), w = integers(w_extents(prob), ++seed),
               y0 = integers(y_extents(prob), ++seed);
    const auto expected =
        conv2d_forward(prob, const_view(x), const_view(w), 2, -3, const_view(y0)).value;
    EXPECT_TRUE(equal(
        mapped(conv2d_forward_twin(prob, const_view(x), const_view(w), 2.0, -3.0, const_view(y0)),
               [](double v) { return v + 0.0; }),
        mapped(expected, [](double v) { return v + 0.0; })));
  }
}

// ---- What is refused
// -----------------------------------------------------------------------------

TEST(Refused, ShapesThatDoNotFitTheProblem) {
  const Conv2dProblem prob = parse_conv2d("n2c3h5w6_k4r3s2");
  const Tensor<double> x(x_extents(prob)), w(w_extents(prob)), y(y_extents(prob));
  const auto cx = x.view(), cw = w.view(), cy = y.view();
  EXPECT_THROW(conv2d_forward(prob, cw, cw), Error);
  EXPECT_THROW(conv2d_forward(prob, cx, cx), Error);
  EXPECT_THROW(conv2d_forward(prob, cx, cw, 1, 1, cx), Error);
  EXPECT_THROW(conv2d_forward(prob, cx, cw, 1, 1), Error);  // beta without y0
  EXPECT_THROW(conv2d_backward_data(prob, cx, cw), Error);
  EXPECT_THROW(conv2d_backward_filter(prob, cx, cx), Error);
  EXPECT_THROW(conv2d_forward_twin(prob, cx, cx), Error);
  EXPECT_THROW(gemm_oracle_forward(prob, cx, cx), Error);
  EXPECT_THROW(gemm_oracle_backward_data(prob, cy, cy), Error);
  EXPECT_THROW(gemm_oracle_backward_filter(prob, cy, cy), Error);
  try {
    conv2d_forward(prob, cw, cw);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "the shape of x is 4 x 3 x 3 x 2, but must be 2 x 3 x 5 x 6 for this problem");
  }
}

}  // namespace
}  // namespace sevenloops
