// Every case of tests/cases/conv2d.json against the definition and the oracle.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "reference/conv2d/gemm_oracle.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/conv2d_samples.hpp"

namespace sevenloops {
namespace {

using testing::const_view;
using testing::conv2d_case;
using testing::conv2d_cases;
using testing::Conv2dCase;
using testing::equal;
using testing::Expectation;
using testing::mapped;

TEST(Cases, AreAllHere) {
  int run = 0, refused = 0, skipped = 0;
  for (const Conv2dCase& a_case : conv2d_cases()) {
    EXPECT_FALSE(a_case.note.empty()) << a_case.id;
    EXPECT_FALSE(a_case.seen_in.empty()) << a_case.id;
    EXPECT_TRUE(a_case.forward || a_case.backward_data || a_case.backward_filter) << a_case.id;
    // A case that differs from what others do must say what is done here instead.
    EXPECT_TRUE(a_case.error.empty() || !a_case.policy.empty()) << a_case.id;
    ++(!a_case.skip.empty() ? skipped : !a_case.error.empty() ? refused : run);
  }
  EXPECT_EQ(run, 59);
  EXPECT_EQ(refused, 1);
  EXPECT_EQ(skipped, 1);  // each gives its reason: it is the reason that makes a case skipped
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
  const Conv2dCase& a_case = conv2d_case(GetParam());
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
  for (const Conv2dCase& a_case : conv2d_cases()) ids.push_back(a_case.id);
  return ids;
}

INSTANTIATE_TEST_SUITE_P(Cases, EveryCase, ::testing::ValuesIn(ids()), [](const auto& info) {
  std::string name = info.param;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
});

}  // namespace
}  // namespace sevenloops
