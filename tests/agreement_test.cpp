// Who checks the comparison: results that are wrong in one way each must fail, right ones must
// pass.

#include "reference/core/agreement.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "reference/conv2d/conv2d.hpp"
#include "reference/core/data.hpp"
#include "reference/core/numerics.hpp"
#include "tests/support/judged_sample.hpp"

namespace sevenloops {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// One element against what it must be.
template <typename T = double>
Tensor<T> one(T value) {
  Tensor<T> tensor(Extents{1, 1, 1, 1});
  tensor(0, 0, 0, 0) = value;
  return tensor;
}

bool bitwise(float got, double expected) {
  const auto a = one(got);
  const auto b = one(expected);
  return agree_bitwise<float>(a.view(), b.view()).pass;
}

bool twin(float got, float expected, Zeros zeros = Zeros::told_apart) {
  const auto a = one(got), b = one(expected);
  return agree_with_twin<float>(a.view(), b.view(), zeros).pass;
}

bool bound(float got, double expected, double magnitude, std::int64_t taps,
           Alarm alarm = Alarm::bound_only) {
  const auto a = one(got);
  const auto b = one(expected), s = one(magnitude);
  const auto n = one<std::int64_t>(taps);
  return agree_within_bound<float>(a.view(), b.view(), s.view(), n.view(),
                                   bound_terms(Dtype::f32, Dtype::f32), {}, alarm)
      .pass;
}

TEST(Agreement, NanEqualsNanAndNothingElse) {
  const float nan = std::nanf("");
  EXPECT_TRUE(bitwise(nan, kNan) && twin(nan, -nan) && bound(nan, kNan, kNan, 9));
  for (float other : {0.0f, 1.0f, std::numeric_limits<float>::infinity()}) {
    EXPECT_FALSE(bitwise(nan, other) || twin(nan, other) || bound(nan, other, 1, 9)) << other;
    EXPECT_FALSE(bitwise(other, kNan) || twin(other, nan) || bound(other, kNan, kNan, 9)) << other;
    EXPECT_FALSE(bound(other, kNan, 1e300, 9)) << "a large bound excuses no missing NaN";
  }
  EXPECT_FALSE(bound(nan, 1, kInfinity, 9)) << "nor an infinite one a NaN";
  EXPECT_FALSE(bound(nan, 1, kNan, 9));
}

TEST(Agreement, InfinityIsExact) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float largest = std::numeric_limits<float>::max();
  EXPECT_TRUE(bitwise(infinity, kInfinity) && bound(infinity, kInfinity, kInfinity, 9));
  EXPECT_FALSE(bitwise(-infinity, kInfinity) || bound(-infinity, kInfinity, kInfinity, 9));
  EXPECT_FALSE(bitwise(largest, kInfinity) || bound(largest, kInfinity, kInfinity, 9));
  EXPECT_FALSE(bitwise(infinity, largest) || bound(infinity, largest / 2, largest / 2, 9));
  // Rounding once overflows: then infinity is right, and also where the bound reaches that far.
  EXPECT_TRUE(bitwise(infinity, 2.0 * largest));
  EXPECT_TRUE(bound(infinity, 2.0 * largest, largest, 9));
  EXPECT_TRUE(bound(infinity, largest, largest, 9));
  EXPECT_FALSE(bound(-infinity, largest, largest, 9));
}

TEST(Agreement, ZerosAreToldApartOnlyWhereAsked) {
  EXPECT_TRUE(bitwise(-0.0f, 0.0) && bound(-0.0f, 0.0, 0.0, 9));
  EXPECT_TRUE(twin(-0.0f, -0.0f) && twin(-0.0f, 0.0f, Zeros::alike));
  EXPECT_FALSE(twin(-0.0f, 0.0f) || twin(0.0f, -0.0f));
}

TEST(Agreement, BitwiseRoundsOnce) {
  EXPECT_TRUE(bitwise(16777216.0f, 16777217.0));
  EXPECT_FALSE(bitwise(16777218.0f, 16777217.0));
  const auto got = one(Half(1.0f));
  const auto tie_to_even = one(1.0 + std::ldexp(1.0, -11));
  const auto above_tie = one(1.0 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40));
  EXPECT_TRUE(agree_bitwise<Half>(got.view(), tie_to_even.view()).pass);
  EXPECT_FALSE(agree_bitwise<Half>(got.view(), above_tie.view()).pass);
}

TEST(Agreement, BoundIsSharp) {
  // Four taps, S = 1: four units of 2^-24 are allowed; neighbors of 1 are two units apart.
  const auto units = [](double count) { return static_cast<float>(1 + std::ldexp(count, -24)); };
  EXPECT_TRUE(bound(units(4), 1, 1, 4));
  EXPECT_FALSE(bound(units(6), 1, 1, 4));
  EXPECT_TRUE(bound(units(-4), 1, 1, 4));
  EXPECT_FALSE(bound(units(-5), 1, 1, 4));
  EXPECT_FALSE(bound(units(2), 1, 0, 4)) << "no products, no error";
  EXPECT_TRUE(bound(1, 1, 0, 0));
}

TEST(Agreement, BoundCountsAlphaBetaAndStorage) {
  const auto s = one(1.0), y0 = one(2.0);
  const auto taps = one<std::int64_t>(1);
  const auto judge = [&](float got, double expected, double alpha, double beta) {
    const auto a = one(got);
    const auto b = one(expected);
    return agree_within_bound<float>(a.view(), b.view(), s.view(), taps.view(),
                                     bound_terms(Dtype::f32, Dtype::f32, alpha, beta), y0.view());
  };
  EXPECT_TRUE(judge(5, 5, 3, 1).pass);
  // |alpha| gamma_1 S + 2u (3 + 2) = 13 units of 2^-24; neighbors of 5 are 8 units apart.
  EXPECT_TRUE(judge(std::nextafter(5.0f, 6.0f), 5, 3, 1).pass);
  EXPECT_FALSE(judge(std::nextafter(std::nextafter(5.0f, 6.0f), 6.0f), 5, 3, 1).pass);

  const auto half = one(Half(1.0f + 0x1p-10f));
  const auto near = one(1.0 + 0x1p-11 - 0x1p-30), far = one(1.0 + 0x1p-11 - 0x1p-20);
  const BoundTerms narrow = bound_terms(Dtype::f16, Dtype::f32);
  const auto judge_half = [&](const Tensor<double>& expected) {
    return agree_within_bound<Half>(half.view(), expected.view(), s.view(), taps.view(), narrow)
        .pass;
  };
  EXPECT_TRUE(judge_half(near));
  EXPECT_FALSE(judge_half(far)) << "nearer to 1";
}

TEST(Agreement, AlarmSeesWhatTheBoundAllows) {
  const std::int64_t taps = 10000;
  const double S = 2500, u = std::ldexp(1.0, -24);
  const auto off = static_cast<float>(1 + 8 * 100 * u * S);
  EXPECT_TRUE(bound(off, 1, S, taps));
  EXPECT_FALSE(bound(off, 1, S, taps, Alarm::statistical));
  EXPECT_TRUE(bound(static_cast<float>(1 + 2 * 100 * u * S), 1, S, taps, Alarm::statistical));
}

TEST(Agreement, LongRealSumsHideATapThatIntegersShow) {
  Conv2dProblem prob = parse_conv2d("n1c70000h1w1_k1r1s1");
  const auto without_last_tap = [&](Tensor<float> x, const Tensor<float>& w) {
    x(0, 69999, 0, 0) = 0;
    return conv2d_forward_twin<float>(prob, x.view(), w.view());
  };
  Tensor<float> x(x_extents(prob)), w(w_extents(prob));
  const auto reference = [&] {
    const Tensor<double> x64 = converted<double>(std::as_const(x).view());
    const Tensor<double> w64 = converted<double>(std::as_const(w).view());
    return conv2d_forward(prob, x64.view(), w64.view());
  };
  fill_real(x.view(), 1);
  fill_real(w.view(), 2);
  x(0, 69999, 0, 0) = w(0, 69999, 0, 0) = 0.75f;
  const ReferenceResult real = reference();
  const Tensor<float> real_y = without_last_tap(x, w);
  EXPECT_TRUE(agree_within_bound<float>(
                  std::as_const(real_y).view(), std::as_const(real.value).view(),
                  std::as_const(real.magnitude).view(), std::as_const(real.taps).view(),
                  bound_terms(Dtype::f32, Dtype::f32), {}, Alarm::bound_only)
                  .pass);
  const ExactRange range = exact_range(Dtype::f32, Dtype::f32, 70000);
  fill_exact(x.view(), 1, range.largest);
  fill_exact_sparse(w.view(), 2, range.largest, range.taps);
  w(0, 69999, 0, 0) = 1;
  const ReferenceResult exact = reference();
  const Tensor<float> exact_y = without_last_tap(x, w);
  EXPECT_FALSE(
      agree_bitwise<float>(std::as_const(exact_y).view(), std::as_const(exact.value).view()).pass);
}

TEST(Agreement, NothingComparedIsAFailureUnlessTheBatchIsEmpty) {
  for (const Extents& extents : {Extents{0, 3, 4, 5}, Extents{2, 0, 4, 5}, Extents{2, 3, 0, 0}}) {
    const Tensor<float> got(extents);
    const Tensor<double> expected(extents);
    const Tensor<std::int64_t> taps(extents);
    const bool empty_batch = extents[0] == 0;
    EXPECT_EQ(agree_bitwise<float>(got.view(), expected.view()).pass, empty_batch);
    EXPECT_EQ(agree_with_twin<float>(got.view(), got.view()).pass, empty_batch);
    EXPECT_EQ(agree_within_bound<float>(got.view(), expected.view(), expected.view(), taps.view(),
                                        bound_terms(Dtype::f32, Dtype::f32))
                  .pass,
              empty_batch);
  }
}

TEST(Agreement, ConstantResultsFailEvenUnderALargeBound) {
  Tensor<float> got(Extents{1, 1, 2, 8});
  Tensor<double> expected(got.extents()), magnitude(got.extents());
  Tensor<std::int64_t> taps(got.extents());
  for (std::size_t i = 0; i < 16; ++i) {
    got.buffer()[i] = 0.5f;
    expected.buffer()[i] = static_cast<double>(i) / 16;
    magnitude.buffer()[i] = 1e30;
    taps.buffer()[i] = 9;
  }
  const auto judge = [&] {
    return agree_within_bound<float>(std::as_const(got).view(), std::as_const(expected).view(),
                                     std::as_const(magnitude).view(), std::as_const(taps).view(),
                                     bound_terms(Dtype::f32, Dtype::f32));
  };
  EXPECT_FALSE(judge().pass);
  EXPECT_NE(judge().failure.find("the expected ones differ"), std::string::npos);
  got.buffer()[3] = 0.25f;
  EXPECT_TRUE(judge().pass);
}

TEST(Agreement, ExpectedZerosFailWhereTapsShouldHaveShown) {
  Tensor<float> got(Extents{1, 1, 4, 8});
  got.buffer()[0] = 7;
  const Tensor<double> expected = converted<double>(std::as_const(got).view());
  Tensor<std::int64_t> taps(got.extents());
  const auto judge = [&] {
    return agree_bitwise<float>(std::as_const(got).view(), expected.view(),
                                std::as_const(taps).view());
  };
  EXPECT_TRUE(judge().pass) << "outputs in the padding are zero by definition";
  taps.buffer().assign(taps.buffer().size(), 9);
  EXPECT_FALSE(judge().pass);
}

TEST(Agreement, SumsTooLongForABoundProveNothing) {
  const auto got = one(Half(1.0f));
  const auto expected = one(1.0), s = one(1.0);
  const auto taps = one<std::int64_t>(1 << 12);
  const auto judge = [&](Dtype accumulate) {
    return agree_within_bound<Half>(got.view(), expected.view(), s.view(), taps.view(),
                                    bound_terms(Dtype::f16, accumulate));
  };
  EXPECT_TRUE(judge(Dtype::f32).pass);
  EXPECT_FALSE(judge(Dtype::f16).pass);
}

TEST(Agreement, SaysWhatIsWrong) {
  const testing::JudgedSample sample(true);
  Tensor<float> y = sample.y;
  y(1, 2, 3, 4) = 0.5f;
  y(1, 3, 0, 0) = 0.5f;
  const Agreement agreement = sample.bitwise(y);
  EXPECT_EQ(agreement.wrong, 2);
  EXPECT_EQ(agreement.compared, 2 * 4 * 7 * 8);
  EXPECT_EQ(agreement.first_wrong, (std::array<std::int64_t, 4>{1, 2, 3, 4}));
  EXPECT_EQ(agreement.got, 0.5);
  EXPECT_EQ(agreement.expected, sample.y(1, 2, 3, 4));
  EXPECT_NE(agreement.failure.find("element (1, 2, 3, 4) is 0.5, but must be "), std::string::npos);
  EXPECT_NE(agreement.failure.find("2 of 448 elements are wrong"), std::string::npos);
}

TEST(Agreement, MeasuresAccuracyInUnits) {
  const testing::JudgedSample sample(false);
  const Agreement agreement = sample.bound(sample.y);
  EXPECT_TRUE(agreement.pass);
  EXPECT_GT(agreement.worst_us, agreement.rms_us);
  EXPECT_GT(agreement.rms_us, 0);
  EXPECT_GT(agreement.worst_bound_fraction, 0);
  EXPECT_LT(agreement.worst_bound_fraction, 1);
}

}  // namespace
}  // namespace sevenloops
