// The data that stages are checked with keep their promises.

#include "reference/core/data.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "reference/core/numerics.hpp"

namespace sevenloops {
namespace {

template <typename T>
class Data : public ::testing::Test {};
using Types = ::testing::Types<double, float, Half, Bfloat16>;
TYPED_TEST_SUITE(Data, Types);

template <typename T>
double at(const Tensor<T>& tensor, std::size_t i) {
  return static_cast<double>(tensor.buffer()[i]);
}

TYPED_TEST(Data, IsTheSameInEveryLayout) {
  const Extents extents{3, 4, 5, 7};
  const auto each_fill = [](TensorView<TypeParam> tensor, int kind) {
    if (kind == 0) fill_exact(tensor, 5, 4);
    if (kind == 1) fill_exact_sparse(tensor, 5, 4, 9);
    if (kind == 2) fill_real(tensor, 5);
    if (kind == 3) fill_adversarial(tensor, 5, {.taps = 36});
  };
  for (int kind = 0; kind < 4; ++kind) {
    Tensor<TypeParam> dense(extents);
    each_fill(dense.view(), kind);
    for (const Strides& strides : {strides_of(Layout::nhwc, extents),
                                   strides_of(Layout::chwn, extents), Strides{1000, 200, 20, 2}}) {
      Tensor<TypeParam> other(extents, strides);
      each_fill(other.view(), kind);
      for_each_index(extents, [&](auto n, auto c, auto h, auto w) {
        const auto a = static_cast<double>(dense(n, c, h, w));
        const auto b = static_cast<double>(other(n, c, h, w));
        ASSERT_TRUE((std::isnan(a) && std::isnan(b)) ||
                    (a == b && std::signbit(a) == std::signbit(b)));
      });
    }
  }
}

TYPED_TEST(Data, DependsOnTheSeed) {
  Tensor<TypeParam> a(Extents{2, 3, 4, 5}), b(a.extents());
  fill_real(a.view(), 1);
  fill_real(b.view(), 2);
  int equal = 0;
  for (std::size_t i = 0; i < 120; ++i) equal += at(a, i) == at(b, i);
  EXPECT_LT(equal, 10);
}

TYPED_TEST(Data, ExactIsWholeNonZeroAndUsesTheWholeRange) {
  Tensor<TypeParam> tensor(Extents{2, 10, 10, 10});
  fill_exact(tensor.view(), 3, 4);
  std::map<double, int> seen;
  for (std::size_t i = 0; i < 2000; ++i) ++seen[at(tensor, i)];
  EXPECT_EQ(seen.size(), 8u);
  for (double value : {-4.0, -3.0, -2.0, -1.0, 1.0, 2.0, 3.0, 4.0}) EXPECT_GT(seen[value], 150);
}

TYPED_TEST(Data, SparseRowsHoldExactlySoManyValues) {
  for (std::int64_t nonzero : {1, 2, 7, 59, 60, 61}) {
    Tensor<TypeParam> tensor(Extents{9, 3, 4, 5});
    fill_exact_sparse(tensor.view(), 3, 4, nonzero);
    std::set<std::size_t> places;
    for (std::size_t row = 0; row < 9; ++row) {
      std::int64_t count = 0;
      for (std::size_t i = 0; i < 60; ++i) {
        if (at(tensor, row * 60 + i) == 0) continue;
        ++count;
        places.insert(i);
      }
      EXPECT_EQ(count, std::min<std::int64_t>(nonzero, 60));
    }
    EXPECT_GT(places.size(), static_cast<std::size_t>(std::min<std::int64_t>(nonzero + 4, 59)));
  }
}

TYPED_TEST(Data, RealFillsItsInterval) {
  Tensor<TypeParam> tensor(Extents{4, 10, 10, 10});
  fill_real(tensor.view(), 3);
  double least = 1, most = -1, sum = 0;
  for (std::size_t i = 0; i < 4000; ++i) {
    least = std::min(least, at(tensor, i));
    most = std::max(most, at(tensor, i));
    sum += at(tensor, i);
  }
  EXPECT_GE(least, -1);
  EXPECT_LT(most, 1);
  EXPECT_LT(least, -0.95);
  EXPECT_GT(most, 0.95);
  EXPECT_LT(std::abs(sum / 4000), 0.05);
}

TYPED_TEST(Data, AdversarialShowsEverythingThatIsSpecial) {
  Tensor<TypeParam> tensor(Extents{30, 4, 5, 5});
  fill_adversarial(tensor.view(), 0, {.taps = 25, .accumulate = Dtype::f32});
  int nans = 0, plus = 0, minus = 0, subnormals = 0, zeros = 0, negative_zeros = 0, large = 0;
  for (std::size_t row = 0; row < 30; ++row) {
    int ones = 0, others = 0;
    for (std::size_t i = row * 100; i < row * 100 + 100; ++i) {
      const double v = at(tensor, i);
      const auto smallest_normal = static_cast<double>(std::numeric_limits<TypeParam>::min());
      nans += std::isnan(v);
      plus += v == std::numeric_limits<double>::infinity();
      minus += v == -std::numeric_limits<double>::infinity();
      subnormals += v != 0 && std::abs(v) < smallest_normal;
      zeros += v == 0 && !std::signbit(v);
      negative_zeros += v == 0 && std::signbit(v);
      large += std::isfinite(v) && std::abs(v) > 1000;
      ones += v == 1;
      others += v != 0 && v != 1;
      if (row % 3 != 0) {
        EXPECT_TRUE(std::isfinite(v));
      }
    }
    if (row % 3 == 2) {
      EXPECT_TRUE(ones == 1 && others == 0) << "row " << row << " is not one-hot";
    }
  }
  EXPECT_TRUE(nans > 0 && plus > 0 && minus > 0);
  EXPECT_TRUE(subnormals > 50 && zeros > 50 && negative_zeros > 50 && large > 50);
  Tensor<TypeParam> later(Extents{1, 4, 5, 5});
  fill_adversarial(later.view(), 2, {.taps = 25});
  EXPECT_EQ(std::count(later.buffer().begin(), later.buffer().end(), TypeParam(1)), 1);
}

TEST(AdversarialRange, LargeProductsStayFinite) {
  for (std::int64_t taps : {1, 2, 3, 9, 27, 4608, 70000}) {
    Tensor<float> tensor(Extents{3, 1, 20, 20});
    fill_adversarial(tensor.view(), 0, {.taps = taps});
    float largest = 0;
    for (int i = 400; i < 800; ++i) largest = std::max(largest, std::abs(tensor.buffer()[i]));
    const double sum = static_cast<double>(taps) * largest * static_cast<double>(largest);
    EXPECT_LT(sum, std::numeric_limits<float>::max()) << taps;
    EXPECT_GT(sum, 1e35) << taps;
  }
}

TEST(ExactRange, EverySumFitsTheAccumulationType) {
  for (Dtype accumulate : {Dtype::f64, Dtype::f32, Dtype::f16}) {
    for (std::int64_t taps : {1, 9, 4608, 65536, 65537, 1 << 20}) {
      for (auto [alpha, beta] : {std::pair{1.0, 0.0}, {-2.0, 0.5}, {0.25, 1.0}, {3.0, -2.0}}) {
        const ExactRange range = exact_range(accumulate, accumulate, taps, alpha, beta);
        ASSERT_GE(range.taps, 1);
        ASSERT_LE(range.taps, taps);
        const auto m = static_cast<double>(range.largest), n = static_cast<double>(range.taps);
        // In units of the finest fraction, here at most a quarter.
        const double unit = alpha == 0.25 ? 0.25 : beta == 0.5 ? 0.5 : 1;
        const auto limit = static_cast<double>(max_exact_integer(accumulate));
        EXPECT_LE((std::abs(alpha) * n * m * m + std::abs(beta) * m) / unit, limit);
        EXPECT_LE(n * m * m, limit);
      }
    }
  }
  EXPECT_EQ(exact_range(Dtype::f32, Dtype::f32, 65536).taps, 65536) << "dense up to here";
  EXPECT_GT(exact_range(Dtype::f64, Dtype::f64, 9).largest, 4096) << "a sum in fp32 must show";
}

TEST(ExactRange, RefusesScalarsThatRound) {
  EXPECT_EQ(exact_range(Dtype::f32, Dtype::f32, 9, 0.1).largest, 0);
  EXPECT_EQ(exact_range(Dtype::f32, Dtype::f32, 9, 1, 1.0 / 3).largest, 0);
  EXPECT_EQ(exact_range(Dtype::f32, Dtype::f32, 9, std::nan("")).largest, 0);
  EXPECT_EQ(exact_range(Dtype::f32, Dtype::f32, 9, 1e9).largest, 0);
}

TEST(ExactRange, IsExactInTheStorageType) {
  EXPECT_LE(exact_range(Dtype::bf16, Dtype::f32, 9).largest, 256);
  EXPECT_LE(exact_range(Dtype::f16, Dtype::f64, 9).largest, 2048);
}

}  // namespace
}  // namespace sevenloops
