// What some cases of tests/cases/conv2d.json say in words.

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/conv2d/gemm_oracle.hpp"
#include "reference/core/numerics.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/conv2d_samples.hpp"

namespace sevenloops {
namespace {

using testing::const_view;
using testing::conv2d_case;
using testing::Conv2dCase;
using testing::equal;
using testing::mapped;

Tensor<double> forward(const Conv2dCase& a_case) {
  return conv2d_forward(a_case.prob, const_view(a_case.x), const_view(a_case.w), a_case.alpha,
                        a_case.beta, const_view(a_case.y0))
      .value;
}

Tensor<float> twin(const Conv2dCase& a_case) {
  const auto x = converted<float>(const_view(a_case.x)), w = converted<float>(const_view(a_case.w));
  return conv2d_forward_twin<float>(a_case.prob, x.view(), w.view());
}

// A tensor whose elements lie so far apart that only a mapping can hold it; pages never touched
// take no memory.
class FarApart {
 public:
  FarApart(const Tensor<double>& tensor, const Strides& strides)
      : bytes_(span_of(tensor.extents(), strides) * sizeof(double)),
        memory_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)),
        view_{static_cast<double*>(memory_), tensor.extents(), strides} {
    if (memory_ == MAP_FAILED) return;
    for_each_index(tensor.extents(),
                   [&](auto n, auto c, auto h, auto w) { view_(n, c, h, w) = tensor(n, c, h, w); });
  }
  FarApart(const FarApart&) = delete;
  FarApart& operator=(const FarApart&) = delete;
  ~FarApart() {
    if (memory_ != MAP_FAILED) munmap(memory_, bytes_);
  }

  bool mapped() const { return memory_ != MAP_FAILED; }
  TensorView<const double> view() const { return view_; }

 private:
  std::size_t bytes_;
  void* memory_;
  TensorView<double> view_;
};

TEST(CaseProperty, OffsetsNeed64Bits) {
  for (const char* id : {"CF29-index-overflow-stride-trick", "OR02-oracle-32bit-index"}) {
    const Conv2dCase& a_case = conv2d_case(id);
    const Conv2dProblem& prob = a_case.prob;
    const FarApart x(a_case.x, a_case.x_strides);
    if (!x.mapped()) GTEST_SKIP() << "this machine gives no 17 GB of addresses";
    const auto w = const_view(a_case.w);
    EXPECT_TRUE(equal(conv2d_forward(prob, x.view(), w).value, forward(a_case)));
    EXPECT_TRUE(equal(conv2d_forward_twin(prob, x.view(), w), forward(a_case)));
    EXPECT_TRUE(equal(gemm_oracle_forward(prob, x.view(), w), forward(a_case)));
    if (!a_case.backward_filter) continue;
    const FarApart dy(a_case.dy, a_case.dy_strides);
    if (!dy.mapped()) GTEST_SKIP() << "this machine gives no 34 GB of addresses";
    const auto dense_x = const_view(a_case.x), dense_dy = const_view(a_case.dy);
    const auto dx = conv2d_backward_data(prob, dense_dy, w).value;
    const auto dw = conv2d_backward_filter(prob, dense_x, dense_dy).value;
    EXPECT_TRUE(equal(conv2d_backward_data(prob, dy.view(), w).value, dx));
    EXPECT_TRUE(equal(gemm_oracle_backward_data(prob, dy.view(), w), dx));
    EXPECT_TRUE(equal(conv2d_backward_filter(prob, x.view(), dy.view()).value, dw));
    EXPECT_TRUE(equal(gemm_oracle_backward_filter(prob, x.view(), dy.view()), dw));
  }
}

TEST(CaseProperty, ImagesDoNotLeakIntoEachOther) {
  const Conv2dCase& a_case = conv2d_case("CF32-batch-independence");
  const auto y = forward(a_case);
  Conv2dProblem single = a_case.prob;
  single.N = 1;
  const auto alone =
      conv2d_forward(single, testing::part(const_view(a_case.x), {}, x_extents(single)),
                     const_view(a_case.w))
          .value;
  EXPECT_NE(alone(0, 0, 5, 5), 0);
  for (std::int64_t n = 0; n < a_case.prob.N; ++n) {
    EXPECT_TRUE(
        equal(testing::part(const_view(y), {n, 0, 0, 0}, alone.extents()), const_view(alone)));
    EXPECT_EQ(y(n, 0, 0, 0), 0);
  }
}

TEST(CaseProperty, DisjointSupportsGiveExactlyZero) {
  const Conv2dCase& a_case = conv2d_case("CF33-disjoint-support-exact-zero");
  EXPECT_EQ(forward(a_case)(0, 0, 0, 0), 0);
  EXPECT_EQ(twin(a_case)(0, 0, 0, 0), 0);
}

TEST(CaseProperty, NanStaysInItsWindow) {
  Conv2dCase a_case = conv2d_case("CF37-nan-locality");
  const auto poisoned = forward(a_case);
  a_case.x(0, 1, 3, 3) = 1;
  const auto clean = forward(a_case);
  const auto row = [](std::int64_t i) { return 2 <= i && i <= 4; };
  for_each_index(clean.extents(), [&](auto n, auto k, auto p, auto q) {
    const double got = poisoned(n, k, p, q);
    EXPECT_TRUE(row(p) && row(q) ? std::isnan(got) : got == clean(n, k, p, q));
  });
  a_case.w(1, 0, 1, 1) = std::numeric_limits<double>::quiet_NaN();
  const auto plane = forward(a_case);
  for_each_index(clean.extents(), [&](auto n, auto k, auto p, auto q) {
    EXPECT_TRUE(k == 1 ? std::isnan(plane(n, k, p, q)) : plane(n, k, p, q) == clean(n, k, p, q));
  });
}

TEST(CaseProperty, InfinityStaysInfinite) {
  const Conv2dCase& a_case = conv2d_case("CF38-inf-input");
  const auto y = forward(a_case);
  for (const double element : y.buffer()) {
    EXPECT_EQ(element, std::numeric_limits<double>::infinity());
  }
  const auto y_twin = twin(a_case);
  for (const float element : y_twin.buffer()) {
    EXPECT_EQ(element, std::numeric_limits<float>::infinity());
  }
}

TEST(CaseProperty, IdentityFilterCopies) {
  const Conv2dCase& a_case = conv2d_case("CF40-tf32-identity");
  EXPECT_TRUE(equal(forward(a_case), a_case.x));
  EXPECT_TRUE(equal(twin(a_case), converted<float>(const_view(a_case.x))));
}

// Accumulated in f32 and rounded once to f16: half an ulp, and the bound of nine additions.
TEST(CaseProperty, OneFinalRounding) {
  const Conv2dCase& a_case = conv2d_case("CF43-depthwise-f16-rounding");
  const auto exact = conv2d_forward(a_case.prob, const_view(a_case.x), const_view(a_case.w));
  const auto y = twin(a_case);
  for_each_index(y.extents(), [&](auto n, auto k, auto p, auto q) {
    const double expected = exact.value(n, k, p, q);
    const double got = round_to(Dtype::f16, static_cast<double>(y(n, k, p, q)));
    const double ulp = std::max(0x1p-24, std::ldexp(1.0, std::ilogb(expected) - 10));
    const double gamma = 9 * 0x1p-24 / (1 - 9 * 0x1p-24);
    EXPECT_LE(std::abs(got - expected), ulp / 2 + gamma * exact.magnitude(n, k, p, q));
  });
}

TEST(CaseProperty, NonNegativeStaysNonNegative) {
  const Conv2dCase& a_case = conv2d_case("CF45-nonnegativity");
  const auto y = forward(a_case);
  double largest = 0;
  for (const double element : y.buffer()) {
    EXPECT_GE(element, 0);
    largest = std::max(largest, element);
  }
  EXPECT_GT(largest, 0);
}

TEST(CaseProperty, ScalarsOnAnEmptyBatch) {
  const Conv2dCase& a_case = conv2d_case("BF06-zero-batch-beta");
  for (const double beta : {0.0, 1.0, 0.5}) {
    const auto dw = conv2d_backward_filter(a_case.prob, const_view(a_case.x), const_view(a_case.dy),
                                           1, beta, const_view(a_case.dw0))
                        .value;
    EXPECT_TRUE(equal(dw, mapped(a_case.dw0, [&](double v) { return beta * v; })));
  }
}

TEST(CaseProperty, BetaZeroGivesNoNan) {
  const Conv2dCase& a_case = conv2d_case("AB01-beta0-ignores-nan");
  ASSERT_TRUE(std::isnan(a_case.y0(0, 0, 0, 0)));
  const auto y = forward(a_case);
  for (const double element : y.buffer()) EXPECT_TRUE(std::isfinite(element));
}

TEST(CaseProperty, BothScalars) {
  const Conv2dCase& a_case = conv2d_case("AB02-beta-nonzero-exact");
  const auto sum = conv2d_forward(a_case.prob, const_view(a_case.x), const_view(a_case.w)).value;
  const auto y = forward(a_case);
  for (std::size_t i = 0; i < y.buffer().size(); ++i) {
    EXPECT_EQ(y.buffer()[i], 2 * sum.buffer()[i] - a_case.y0.buffer()[i]);
  }
}

// Here alpha = 0 is a factor like any other: with finite operands y stays what it was, and NaN in
// the operands propagates.
TEST(CaseProperty, AlphaZeroStillReads) {
  Conv2dCase a_case = conv2d_case("AB04-alpha0");
  const auto y = forward(a_case);
  for (const double element : y.buffer()) EXPECT_TRUE(std::isnan(element));
  for (double& element : a_case.x.buffer()) element = 1;
  EXPECT_TRUE(equal(forward(a_case), a_case.y0));
}

TEST(CaseProperty, SubnormalsAreKept) {
  const Conv2dCase& a_case = conv2d_case("AC09-subnormals");
  const float tiny = 1e-20f;
  const float expected = static_cast<float>(static_cast<double>(tiny) * tiny);
  EXPECT_GT(expected, 0.0f);
  EXPECT_LT(expected, std::numeric_limits<float>::min());
  EXPECT_EQ(twin(a_case)(0, 0, 0, 0), expected);
}

}  // namespace
}  // namespace sevenloops
