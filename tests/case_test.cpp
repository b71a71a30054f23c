// Every case of tests/cases/conv2d.json against the definition, the oracle and the twin, and the
// properties that some of them state in words.

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <functional>
#include <limits>
#include <map>

#include "reference/conv2d/gemm_oracle.hpp"
#include "reference/core/numerics.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/conv2d_samples.hpp"

namespace sevenloops {
namespace {

using testing::const_view;
using testing::Conv2dCase;
using testing::equal;
using testing::Expectation;
using testing::mapped;

// Read once, as every case is a test of its own.
const std::vector<Conv2dCase>& cases() {
  static const std::vector<Conv2dCase> cases = testing::conv2d_cases();
  return cases;
}

const Conv2dCase& case_of(const std::string& id) {
  for (const Conv2dCase& a_case : cases()) {
    if (a_case.id == id) return a_case;
  }
  throw std::runtime_error("there is no case " + id);
}

TEST(Cases, AreAllHere) {
  int run = 0, refused = 0, skipped = 0;
  for (const Conv2dCase& a_case : cases()) {
    EXPECT_FALSE(a_case.note.empty()) << a_case.id;
    EXPECT_FALSE(a_case.seen_in.empty()) << a_case.id;
    EXPECT_TRUE(a_case.forward || a_case.backward_data || a_case.backward_filter) << a_case.id;
    // A case that differs from what others do must say what is done here instead.
    EXPECT_TRUE(a_case.error.empty() || !a_case.policy.empty()) << a_case.id;
    ++(!a_case.skip.empty() ? skipped : !a_case.error.empty() ? refused : run);
  }
  EXPECT_EQ(run, 59);
  EXPECT_EQ(refused, 1);
  EXPECT_EQ(skipped, 1);  // only with a reason: an empty one would count as run, and have no data
}

// ---- All cases in one way
// ------------------------------------------------------------------------

bool all_finite(const Tensor<double>& tensor) {
  for (const double element : tensor.buffer()) {
    if (!std::isfinite(element)) return false;
  }
  return true;
}

bool all_integers(const Tensor<double>& tensor) {
  for (const double element : tensor.buffer()) {
    if (element != std::trunc(element)) return false;
  }
  return true;
}

// Padded strides, so that no element has its dense place; the gaps hold NaN.
Tensor<double> gappy(const Tensor<double>& tensor) {
  const Extents& e = tensor.extents();
  const std::int64_t row = 2 * e[3] + 1, plane = row * e[2] + 3;
  return testing::restrided(tensor.view(), {plane * e[1] + 5, plane, row, 2});
}

// alpha * sum + beta * old, with `old` not read when beta = 0.
Tensor<double> finished(Tensor<double> sum, const Conv2dCase& a_case, const Tensor<double>& old) {
  for (std::size_t i = 0; i < sum.buffer().size(); ++i) {
    double& element = sum.buffer()[i];
    element = a_case.alpha * element + (a_case.beta == 0 ? 0 : a_case.beta * old.buffer()[i]);
  }
  return sum;
}

// One direction: `loops(a, b, old)` is the definition, `oracle(a, b)` the second implementation.
template <typename Loops, typename Oracle>
void check_direction(const Conv2dCase& a_case, const Tensor<double>& a, const Tensor<double>& b,
                     const Tensor<double>& old, const std::optional<Expectation>& expected,
                     Loops&& loops, Oracle&& oracle) {
  const ReferenceResult result = loops(const_view(a), const_view(b), const_view(old));
  if (expected) {
    EXPECT_EQ(expected->mismatch(result.value.view()), "");
  }
  for (int i = 1; i < a_case.repeat; ++i) {
    EXPECT_TRUE(equal(loops(const_view(a), const_view(b), const_view(old)).value, result.value));
  }
  const Tensor<double> ga = gappy(a), gb = gappy(b);
  EXPECT_TRUE(equal(loops(const_view(ga), const_view(gb), const_view(old)).value, result.value));
  // The oracle multiplies padding as zeros, and may add in another order.
  if (all_finite(a) && all_finite(b) && all_integers(a) && all_integers(b)) {
    const auto plus_zero = [](double v) { return v + 0.0; };
    const Tensor<double> second = oracle(const_view(a), const_view(b));
    EXPECT_TRUE(
        equal(mapped(finished(second, a_case, old), plus_zero), mapped(result.value, plus_zero)));
    EXPECT_TRUE(equal(oracle(const_view(ga), const_view(gb)), second));
  }
}

class EveryCase : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryCase, HoldsForTheReference) {
  const Conv2dCase& a_case = case_of(GetParam());
  SCOPED_TRACE(a_case.note);
  if (!a_case.skip.empty()) GTEST_SKIP() << a_case.skip;
  if (!a_case.error.empty()) return;  // the loader has compared the message
  const Conv2dProblem& prob = a_case.prob;
  const double alpha = a_case.alpha, beta = a_case.beta;
  if (a_case.forward) {
    check_direction(
        a_case, a_case.x, a_case.w, a_case.y0, a_case.y,
        [&](auto x, auto w, auto y0) { return conv2d_forward(prob, x, w, alpha, beta, y0); },
        [&](auto x, auto w) { return gemm_oracle_forward(prob, x, w); });
  }
  if (a_case.backward_data) {
    check_direction(
        a_case, a_case.dy, a_case.w, a_case.dx0, a_case.dx,
        [&](auto dy, auto w, auto dx0) {
          return conv2d_backward_data(prob, dy, w, alpha, beta, dx0);
        },
        [&](auto dy, auto w) { return gemm_oracle_backward_data(prob, dy, w); });
  }
  if (a_case.backward_filter) {
    check_direction(
        a_case, a_case.x, a_case.dy, a_case.dw0, a_case.dw,
        [&](auto x, auto dy, auto dw0) {
          return conv2d_backward_filter(prob, x, dy, alpha, beta, dw0);
        },
        [&](auto x, auto dy) { return gemm_oracle_backward_filter(prob, x, dy); });
  }
}

std::vector<std::string> ids() {
  std::vector<std::string> ids;
  for (const Conv2dCase& a_case : cases()) ids.push_back(a_case.id);
  return ids;
}

INSTANTIATE_TEST_SUITE_P(Cases, EveryCase, ::testing::ValuesIn(ids()), [](const auto& info) {
  std::string name = info.param;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
});

// ---- What some say in words
// ----------------------------------------------------------------------

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
    const Conv2dCase& a_case = case_of(id);
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
  const Conv2dCase& a_case = case_of("CF32-batch-independence");
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
  const Conv2dCase& a_case = case_of("CF33-disjoint-support-exact-zero");
  EXPECT_EQ(forward(a_case)(0, 0, 0, 0), 0);
  EXPECT_EQ(twin(a_case)(0, 0, 0, 0), 0);
}

TEST(CaseProperty, NanStaysInItsWindow) {
  Conv2dCase a_case = case_of("CF37-nan-locality");
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
  const Conv2dCase& a_case = case_of("CF38-inf-input");
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
  const Conv2dCase& a_case = case_of("CF40-tf32-identity");
  EXPECT_TRUE(equal(forward(a_case), a_case.x));
  EXPECT_TRUE(equal(twin(a_case), converted<float>(const_view(a_case.x))));
}

// Accumulated in f32 and rounded once to f16: half an ulp, and the bound of nine additions.
TEST(CaseProperty, OneFinalRounding) {
  const Conv2dCase& a_case = case_of("CF43-depthwise-f16-rounding");
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
  const Conv2dCase& a_case = case_of("CF45-nonnegativity");
  const auto y = forward(a_case);
  double largest = 0;
  for (const double element : y.buffer()) {
    EXPECT_GE(element, 0);
    largest = std::max(largest, element);
  }
  EXPECT_GT(largest, 0);
}

TEST(CaseProperty, ScalarsOnAnEmptyBatch) {
  const Conv2dCase& a_case = case_of("BF06-zero-batch-beta");
  for (const double beta : {0.0, 1.0, 0.5}) {
    const auto dw = conv2d_backward_filter(a_case.prob, const_view(a_case.x), const_view(a_case.dy),
                                           1, beta, const_view(a_case.dw0))
                        .value;
    EXPECT_TRUE(equal(dw, mapped(a_case.dw0, [&](double v) { return beta * v; })));
  }
}

TEST(CaseProperty, BetaZeroGivesNoNan) {
  const Conv2dCase& a_case = case_of("AB01-beta0-ignores-nan");
  ASSERT_TRUE(std::isnan(a_case.y0(0, 0, 0, 0)));
  EXPECT_TRUE(all_finite(forward(a_case)));
}

TEST(CaseProperty, BothScalars) {
  const Conv2dCase& a_case = case_of("AB02-beta-nonzero-exact");
  const auto sum = conv2d_forward(a_case.prob, const_view(a_case.x), const_view(a_case.w)).value;
  const auto y = forward(a_case);
  for (std::size_t i = 0; i < y.buffer().size(); ++i) {
    EXPECT_EQ(y.buffer()[i], 2 * sum.buffer()[i] - a_case.y0.buffer()[i]);
  }
}

// Here alpha = 0 is a factor like any other: with finite operands y stays what it was, and NaN in
// the operands propagates.
TEST(CaseProperty, AlphaZeroStillReads) {
  Conv2dCase a_case = case_of("AB04-alpha0");
  const auto y = forward(a_case);
  for (const double element : y.buffer()) EXPECT_TRUE(std::isnan(element));
  for (double& element : a_case.x.buffer()) element = 1;
  EXPECT_TRUE(equal(forward(a_case), a_case.y0));
}

TEST(CaseProperty, SubnormalsAreKept) {
  const Conv2dCase& a_case = case_of("AC09-subnormals");
  const float tiny = 1e-20f;
  const float expected = static_cast<float>(static_cast<double>(tiny) * tiny);
  EXPECT_GT(expected, 0.0f);
  EXPECT_LT(expected, std::numeric_limits<float>::min());
  EXPECT_EQ(twin(a_case)(0, 0, 0, 0), expected);
}

}  // namespace
}  // namespace sevenloops
