// Every forward case of tests/cases/conv2d.json through every stage.

#include <gtest/gtest.h>

#include <iostream>
#include <utility>

#include "reference/core/error.hpp"
#include "reference/core/numerics.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/stage_runs.hpp"

namespace sevenloops {
namespace {

using testing::conv2d_cases;
using testing::Conv2dCase;
using testing::is_clean;
using testing::places;

// Strides that a host buffer can hold are kept; others are what AddressesWith64Bits tests.
Strides storable(const Strides& strides, const Extents& extents) {
  constexpr std::int64_t kMostElements = 1 << 22;
  const bool fits = span_of(extents, strides) <= kMostElements;
  return fits ? strides : strides_of(Layout::nchw, extents);
}

template <typename T>
Tensor<T> stored(const Tensor<double>& dense, const Extents& extents, const Strides& strides) {
  Tensor<T> tensor(extents, storable(strides, extents));
  if (dense.extents() != extents) return tensor;  // y0 of a case that has none
  for_each_index(extents, [&](auto n, auto c, auto h, auto w) {
    tensor(n, c, h, w) = round_to<T>(dense(n, c, h, w));
  });
  return tensor;
}

template <typename T>
Conv2dOperands<T> operands_of(const Conv2dCase& test) {
  Conv2dProblem prob = test.prob;
  prob.dtype = prob.accumulate = dtype_v<T>;
  return {prob,
          stored<T>(test.x, x_extents(prob), test.x_strides),
          stored<T>(test.w, w_extents(prob), test.w_strides),
          stored<T>(test.y0, y_extents(prob), test.y_strides),
          test.alpha,
          test.beta};
}

bool all_finite(const Tensor<double>& tensor) {
  bool finite = true;
  for_each_index(tensor.extents(), [&](auto n, auto c, auto h, auto w) {
    finite = finite && std::isfinite(tensor(n, c, h, w));
  });
  return finite;
}

// Stored and summed in T. Judged against the loops, then against the numbers of the case.
template <typename T>
void check_case(int index, const Conv2dCase& test, int& ran) {
  const Conv2dStage& stage = *conv2d_stages(Build::plain)[index];
  const Conv2dOperands<T> on = operands_of<T>(test);
  const Judge<T> judge(on, DataKind::adversarial);
  Tensor<T> first;
  for (Place place : places()) {
    if (const Support support = supports(index, on, place); !support) {
      EXPECT_FALSE(support.reason.empty());
      continue;
    }
    ++ran;
    for (int i = 0; i < test.repeat; ++i) {
      const bool trace =
          place == Place::emulator && i == 0 && test.prob.N <= 1000 && dtype_v<T> == Dtype::f32;
      const auto execution =
          execute(index, on, {.place = place, .trace = trace, .base_offset = test.base_offset});
      ASSERT_TRUE(is_clean(execution));
      const Agreement agreement = judge.judge(execution.y, stage);
      ASSERT_TRUE(agreement.pass) << agreement.failure;
      if (i == 0) first = execution.y;
      if (stage.deterministic) {
        ASSERT_TRUE(testing::same_bits(execution.y, first)) << "run " << i;
      }
      // A stored zero times infinity is NaN, which a stage that multiplies padding says; and
      // transforms are mostly not exact.
      const bool same_as_case = stage.algorithm == Algorithm::sums
                                    ? stage.padding == Padding::skipped || all_finite(test.w)
                                    : agreement.bitwise;
      if (test.y && same_as_case) {
        const Tensor<double> y = converted<double>(std::as_const(execution.y).view());
        EXPECT_EQ(test.y->mismatch(y.view()), "");
      }
    }
  }
}

class StageCases : public ::testing::TestWithParam<int> {};

TEST_P(StageCases, AllForward) {
  int ran = 0, asked = 0;
  for (const Conv2dCase& test : conv2d_cases()) {
    if (!test.skip.empty() || !test.error.empty() || !test.forward) continue;
    SCOPED_TRACE(test.id + ": " + test.note);
    ++asked;
    check_case<float>(GetParam(), test, ran);
    // Cases of tens of thousands of images are about counts, which types do not change.
    if (test.prob.N <= 1000) check_case<double>(GetParam(), test, ran);
    if (HasFatalFailure()) return;
  }
  std::cout << ran << " runs of " << asked << " cases in fp32 and fp64\n";
  EXPECT_GE(asked, 30);
  const Conv2dStage& stage = *conv2d_stages(Build::plain)[GetParam()];
  if (ran == 0 && stage.gpu_library != nullptr) {
    GTEST_SKIP() << "it calls " << stage.gpu_library << ", which runs on a GPU only";
  }
  EXPECT_GE(ran, 10) << "nearly all cases are refused";
}

std::vector<int> all_stages() {
  std::vector<int> indices;
  for (std::size_t i = 0; i < conv2d_stages(Build::plain).size(); ++i) {
    indices.push_back(static_cast<int>(i));
  }
  return indices;
}

INSTANTIATE_TEST_SUITE_P(, StageCases, ::testing::ValuesIn(all_stages()), [](const auto& info) {
  return std::string(conv2d_stages(Build::plain)[info.param]->name);
});

}  // namespace
}  // namespace sevenloops
