// How results of transform algorithms are judged: right ones pass on every kind of data, wrong ones
// fail, NaN and infinity may spread as far as the transform reaches and no further.

#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <limits>
#include <string>
#include <utility>

#include "reference/conv2d/fourier_magnitude.hpp"
#include "reference/conv2d/winograd_magnitude.hpp"
#include "reference/core/error.hpp"
#include "reference/core/numerics.hpp"
#include "tests/support/transform_convolutions.hpp"

namespace sevenloops {
namespace {

using testing::fourier_convolution;
using testing::operands_exact_for_4x4;
using testing::transform_convolution;
using testing::winograd_convolution;

constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNan = std::nanf("");

constexpr Algorithm kWinograds[] = {Algorithm::winograd_2x2, Algorithm::winograd_4x4};
constexpr Algorithm kTransforms[] = {Algorithm::winograd_2x2, Algorithm::winograd_4x4,
                                     Algorithm::fourier};
constexpr const char* kSquareFilters[] = {
    "n2c5h9w10_k4r3s3_p1x0",
    "n1c6h7w5_k4r3s3_p2x0x1x3_g2_conv",
    "n3c1h3w3_k2r3s3",
    "n1c40h6w11_k3r3s3_p1",
};
constexpr const char* kOtherFilters[] = {
    "n2c3h20w17_k2r5s7_p2x3",
    "n1c4h14w12_k4r4s3_p1x2x0x3_u2x3_d3x2_g2_conv",
};

Promises promises_of(Algorithm algorithm) {
  return {.algorithm = algorithm, .order = Order::own, .padding = Padding::multiplied};
}

std::string name_of(Algorithm algorithm) {
  return algorithm == Algorithm::fourier        ? "Fourier"
         : algorithm == Algorithm::winograd_2x2 ? "F(2x2)"
                                                : "F(4x4)";
}

std::vector<const char*> problems_of(Algorithm algorithm) {
  std::vector<const char*> problems(std::begin(kSquareFilters), std::end(kSquareFilters));
  if (algorithm == Algorithm::fourier) {
    problems.insert(problems.end(), std::begin(kOtherFilters), std::end(kOtherFilters));
  }
  return problems;
}

template <typename T>
Conv2dOperands<T> operands_of(const char* text, DataKind kind, double alpha = 1, double beta = 0,
                              std::uint64_t seed = 7) {
  Conv2dProblem prob = parse_conv2d(text);
  prob.dtype = prob.accumulate = dtype_v<T>;
  return make_operands<T>(prob, Layout::nchw, kind, seed, alpha, beta);
}

template <typename T>
void passes_right_results(Algorithm algorithm) {
  double worst_us = 0, worst_fraction = 0;
  for (const char* text : problems_of(algorithm)) {
    for (const DataKind kind : {DataKind::exact, DataKind::real, DataKind::adversarial}) {
      for (auto [alpha, beta] : {std::pair{1.0, 0.0}, {2.0, -0.5}, {-0.3, 0.7}}) {
        for (const std::uint64_t seed : {1, 2, 3}) {
          const auto on = operands_of<T>(text, kind, alpha, beta, seed);
          const Agreement agreement = Judge<T>(on, kind).judge(transform_convolution(on, algorithm),
                                                               promises_of(algorithm));
          EXPECT_TRUE(agreement.pass)
              << name_of(algorithm) << " on " << text << ", " << sevenloops::name_of(kind)
              << " data, alpha " << alpha << ": " << agreement.failure;
          EXPECT_EQ(agreement.compared, on.y0.size());
          if (kind != DataKind::real || alpha != 1) continue;
          worst_us = std::max(worst_us, agreement.worst_us);
          worst_fraction = std::max(worst_fraction, agreement.worst_bound_fraction);
        }
      }
    }
  }
  std::cout << name_of(algorithm) << " in " << sevenloops::name_of(dtype_v<T>)
            << ", real data: errors up to " << worst_us << " u times the magnitude, "
            << worst_fraction << " of the bound\n";
  EXPECT_GT(worst_us, 0.01) << "the magnitude has nothing to do with the errors";
}

TEST(TransformJudge, PassesRightResultsOnEveryKindOfData) {
  for (const Algorithm algorithm : kTransforms) {
    passes_right_results<float>(algorithm);
    passes_right_results<double>(algorithm);
  }
}

TEST(TransformJudge, HoldsSmallTilesToTheBitOnIntegers) {
  auto on = operands_of<float>(kSquareFilters[0], DataKind::exact);
  const Judge<float> judge(on, DataKind::exact);
  const Promises promises = promises_of(Algorithm::winograd_2x2);
  ASSERT_TRUE(judge.exact(Algorithm::winograd_2x2));
  Tensor<float> y = winograd_convolution(on, 2);
  EXPECT_TRUE(judge.judge(y, promises).bitwise);
  y(1, 2, 3, 4) = std::nextafter(y(1, 2, 3, 4), kInf);
  EXPECT_FALSE(judge.judge(y, promises).pass);
  EXPECT_FALSE(judge.exact(Algorithm::winograd_4x4)) << "filters that are no multiples of 576";
  EXPECT_FALSE(judge.exact(Algorithm::fourier));
  // 2^24 holds these sums, but not what the transforms make of them.
  for (float& element : on.x.buffer()) element *= 1024;
  const Judge<float> larger(on, DataKind::exact);
  EXPECT_TRUE(larger.exact());
  EXPECT_FALSE(larger.exact(Algorithm::winograd_2x2));
  EXPECT_TRUE(larger.judge(winograd_convolution(on, 2), promises).pass);
}

template <typename T>
void holds_large_tiles_to_the_bit(const char* text) {
  Conv2dProblem prob = parse_conv2d(text);
  prob.dtype = prob.accumulate = dtype_v<T>;
  const auto on = operands_exact_for_4x4<T>(prob, Layout::nchw, 3);
  const Judge<T> judge(on, DataKind::exact);
  ASSERT_TRUE(judge.exact(Algorithm::winograd_4x4));
  Tensor<T> y = winograd_convolution(on, 4);
  const Promises promises = promises_of(Algorithm::winograd_4x4);
  const Agreement agreement = judge.judge(y, promises);
  EXPECT_TRUE(agreement.pass && agreement.bitwise) << agreement.failure;
  y(0, 1, 0, 0) = std::nextafter(y(0, 1, 0, 0), T(1e30));
  EXPECT_FALSE(judge.judge(y, promises).pass);
  // The same filters divided before they are used: no whole numbers, and thus the bound.
  auto rounded = on;
  for (T& element : rounded.w.buffer()) element /= 5;
  EXPECT_FALSE(Judge<T>(rounded, DataKind::exact).exact(Algorithm::winograd_4x4));
}

TEST(TransformJudge, HoldsLargeTilesToTheBitOnMultiplesOf576) {
  for (const char* text : kSquareFilters) {
    SCOPED_TRACE(text);
    holds_large_tiles_to_the_bit<float>(text);
    holds_large_tiles_to_the_bit<double>(text);
  }
}

// An integer result is known once the error is below 1/2, and the bound says that it is.
TEST(TransformJudge, KnowsTheIntegersOfFourierTransforms) {
  const auto on = operands_of<float>("n2c3h20w17_k2r5s7_p2x3", DataKind::exact);
  const Judge<float> judge(on, DataKind::exact);
  Tensor<float> y = fourier_convolution(on);
  const Tensor<float> exact =
      conv2d_forward_twin<float>(on.prob, std::as_const(on.x).view(), std::as_const(on.w).view());
  for_each_index(y.extents(), [&](auto n, auto k, auto p, auto q) {
    EXPECT_EQ(std::round(y(n, k, p, q)), exact(n, k, p, q));
  });
  EXPECT_TRUE(judge.judge(y, promises_of(Algorithm::fourier)).pass);
  y(1, 1, 2, 3) = exact(1, 1, 2, 3) + 0.5f;
  EXPECT_FALSE(judge.judge(y, promises_of(Algorithm::fourier)).pass);
}

// With `bad` at one place of x or w: where may y be NaN, where must it be?
struct Spread {
  Conv2dOperands<float> on = operands_of<float>("n2c4h12w12_k4r3s3_p1_g2", DataKind::real);

  // Is the result, changed to `value` at one place, still right?
  bool passes(Algorithm algorithm, const std::array<std::int64_t, 4>& at, float value) const {
    Tensor<float> y = conv2d_forward_twin<float>(on.prob, on.x.view(), on.w.view());
    y(at[0], at[1], at[2], at[3]) = value;
    return Judge<float>(on, DataKind::adversarial).judge(y, promises_of(algorithm)).pass;
  }
};

TEST(TransformJudge, LetsWhatIsNotFiniteSpreadWithinWinogradsTiles) {
  for (const float bad : {kNan, kInf}) {
    Spread spread;
    spread.on.x(1, 2, 6, 6) = bad;  // channel 0 of group 1; outputs 5..7 by 5..7 use it
    for (const Algorithm algorithm : kWinograds) {
      SCOPED_TRACE(name_of(algorithm));
      // Tiles of 2 from 4 on, and of 4 from 4 on: both have output 4 beside output 5.
      EXPECT_TRUE(spread.passes(algorithm, {1, 3, 4, 5}, kNan));
      EXPECT_TRUE(spread.passes(algorithm, {1, 3, 5, 4}, -kInf));
      EXPECT_FALSE(spread.passes(algorithm, {1, 3, 4, 5}, 100)) << "a number, but a wrong one";
      EXPECT_FALSE(spread.passes(algorithm, {1, 3, 5, 5}, 1)) << "a number where none can be";
      EXPECT_FALSE(spread.passes(algorithm, {0, 3, 4, 5}, kNan)) << "another image";
      EXPECT_FALSE(spread.passes(algorithm, {1, 1, 4, 5}, kNan)) << "another group";
      EXPECT_FALSE(spread.passes(algorithm, {1, 3, 4, 3}, kNan)) << "another tile";
      EXPECT_FALSE(spread.passes(algorithm, {1, 2, 8, 4}, kNan)) << "another tile";
    }
    Spread filter;
    filter.on.w(2, 1, 0, 0) = bad;  // the first row and column of outputs does not use it
    for (const Algorithm algorithm : kTransforms) {
      SCOPED_TRACE(name_of(algorithm));
      EXPECT_TRUE(filter.passes(algorithm, {1, 2, 0, 5}, kNan));
      EXPECT_FALSE(filter.passes(algorithm, {1, 2, 1, 5}, 1));
      EXPECT_FALSE(filter.passes(algorithm, {1, 3, 0, 5}, kNan)) << "another filter";
    }
  }
}

TEST(TransformJudge, LetsWhatIsNotFiniteSpreadOverFouriersPlane) {
  Spread spread;
  spread.on.x(1, 2, 6, 6) = kInf;
  EXPECT_TRUE(spread.passes(Algorithm::fourier, {1, 3, 0, 11}, kNan));
  EXPECT_FALSE(spread.passes(Algorithm::fourier, {1, 3, 0, 11}, 100));
  EXPECT_FALSE(spread.passes(Algorithm::fourier, {1, 3, 5, 5}, 1));
  EXPECT_FALSE(spread.passes(Algorithm::fourier, {0, 3, 0, 11}, kNan)) << "another image";
  EXPECT_FALSE(spread.passes(Algorithm::fourier, {1, 1, 0, 11}, kNan)) << "another group";
}

TEST(TransformJudge, ExcusesOverflowOnlyWhereTheTransformsOverflow) {
  for (const Algorithm algorithm : kTransforms) {
    SCOPED_TRACE(name_of(algorithm));
    Spread spread;
    EXPECT_FALSE(spread.passes(algorithm, {1, 2, 3, 4}, kNan));
    EXPECT_FALSE(spread.passes(algorithm, {1, 2, 3, 4}, kInf));
    for (float& element : spread.on.x.buffer()) element *= 0x1p62f;
    for (float& element : spread.on.w.buffer()) element *= 0x1p63f;
    EXPECT_TRUE(spread.passes(algorithm, {1, 2, 3, 4}, kNan));
    EXPECT_FALSE(spread.passes(algorithm, {1, 2, 3, 4}, 0x1p127f)) << "a number, but a wrong one";
    for (float& element : spread.on.w.buffer()) element *= 0x1p-40f;
    EXPECT_FALSE(spread.passes(algorithm, {1, 2, 3, 4}, kNan));
  }
}

// Numbers so small that transforms cannot hold their parts.
TEST(TransformJudge, KnowsWhatUnderflowTakes) {
  for (const Algorithm algorithm : kTransforms) {
    for (auto [x_scale, w_scale] : {std::pair{0x1p60f, 0x1p-147f},
                                    {0x1p-147f, 0x1p60f},
                                    {0x1p-75f, 0x1p-73f},
                                    {0x1p-140f, 0x1p-140f}}) {
      auto on = operands_of<float>("n1c3h9w9_k3r3s3_p1", DataKind::real);
      for (float& element : on.x.buffer()) element *= x_scale;
      for (float& element : on.w.buffer()) element *= w_scale;
      const Agreement agreement =
          Judge<float>(on, DataKind::adversarial)
              .judge(transform_convolution(on, algorithm), promises_of(algorithm));
      EXPECT_TRUE(agreement.pass) << name_of(algorithm) << ", x of " << x_scale << ", w of "
                                  << w_scale << ": " << agreement.failure;
    }
  }
}

double magnitude_of_ones(int m, std::int64_t p, std::int64_t q) {
  Tensor<double> x(Extents{1, 1, 12, 12}), w(Extents{1, 1, 3, 3});
  x.buffer().assign(x.buffer().size(), 1);
  w.buffer().assign(w.buffer().size(), -1);
  const Conv2dProblem prob = parse_conv2d("n1c1h12w12_k1r3s3");
  return winograd_magnitude(prob, m, std::as_const(x).view(), std::as_const(w).view(), 0)
      .sum(0, 0, p, q);
}

// By hand, for ones. F(2x2): sums of rows of |B^T| are 2, of |G| 1, 3/2, 3/2, 1, so that each
// output collects (2 * 4)^2. F(4x4): sums over rows of |A^T| |B^T| |G| are 16 and, in row 3, 48.
TEST(WinogradMagnitude, IsWhatOneCalculatesByHand) {
  EXPECT_DOUBLE_EQ(magnitude_of_ones(2, 0, 0), 64);
  EXPECT_DOUBLE_EQ(magnitude_of_ones(2, 9, 6), 64);
  EXPECT_DOUBLE_EQ(magnitude_of_ones(4, 0, 0), 256);
  EXPECT_DOUBLE_EQ(magnitude_of_ones(4, 3, 4), 48 * 16);
  EXPECT_DOUBLE_EQ(magnitude_of_ones(4, 7, 7), 48 * 48);
}

TEST(WinogradMagnitude, IsNeverBelowThatOfTheSums) {
  for (const char* text : kSquareFilters) {
    const auto on = operands_of<double>(text, DataKind::real);
    const auto x = std::as_const(on.x).view(), w = std::as_const(on.w).view();
    const Tensor<double> sums = conv2d_forward(on.prob, x, w).magnitude;
    for (const int m : {2, 4}) {
      const Tensor<double> magnitude = winograd_magnitude(on.prob, m, x, w, 0).sum;
      for_each_index(sums.extents(), [&](auto n, auto k, auto p, auto q) {
        EXPECT_GE(magnitude(n, k, p, q), sums(n, k, p, q) * (1 - 1e-12));
      });
    }
    const Tensor<double> norms = fourier_magnitude(on.prob, x, w, 0).sum;
    for_each_index(sums.extents(), [&](auto n, auto k, auto p, auto q) {
      EXPECT_GE(norms(n, k, p, q), sums(n, k, p, q) * (1 - 1e-12));
    });
  }
}

TEST(WinogradMagnitude, RefusesWhatWinogradCannotDo) {
  const auto refuses = [](const char* text, int m) {
    const auto on = operands_of<double>(text, DataKind::real);
    EXPECT_THROW(
        winograd_magnitude(on.prob, m, std::as_const(on.x).view(), std::as_const(on.w).view(), 0),
        Error)
        << text;
  };
  refuses("n1c1h8w8_k1r5s3", 2);
  refuses("n1c1h8w8_k1r3s3_u2", 2);
  refuses("n1c1h8w8_k1r3s3_d1x2", 4);
  refuses("n1c1h8w8_k1r3s3", 3);
}

TEST(FourierMagnitude, CountsTheLevelsOfTheCoveringTransform) {
  EXPECT_EQ(fourier_levels(parse_conv2d("n1c1h8w8_k1r3s3")), 3 + 3 + 2);
  EXPECT_EQ(fourier_levels(parse_conv2d("n1c1h8w8_k1r3s3_p0x0x1x0")), 4 + 3 + 2);
  EXPECT_EQ(fourier_levels(parse_conv2d("n1c1h1w33_k1r1s3")), 0 + 6 + 2);
}

}  // namespace
}  // namespace sevenloops
