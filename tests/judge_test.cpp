// What judges the stages: right results pass by every way of knowing what is right, wrong ones
// fail.

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "gpu/conv2d/verify.hpp"
#include "reference/conv2d/gemm_oracle.hpp"
#include "reference/core/numerics.hpp"

namespace sevenloops {
namespace {

constexpr const char* kSmall = "n2c5h7w9_k4r3s2_p1x0x2x1_u2x1";
constexpr Promises kInOrder{.order = Order::reference};
constexpr const char* kLarge = "n8c64h56w56_k64r3s3_p1";  // beyond what the loops are asked for

Conv2dOperands<float> operands_of(const char* text, DataKind kind, double alpha = 1,
                                  double beta = 0, Layout layout = Layout::nchw) {
  return make_operands<float>(parse_conv2d(text), layout, kind, 7, alpha, beta);
}

Tensor<float> twin_of(const Conv2dOperands<float>& on) {
  return conv2d_forward_twin<float>(on.prob, on.x.view(), on.w.view(), static_cast<float>(on.alpha),
                                    static_cast<float>(on.beta), on.y0.view());
}

bool passes(const Judge<float>& judge, const Tensor<float>& y, Order order = Order::reference,
            Padding padding = Padding::skipped) {
  return judge.judge(y, Promises{Algorithm::sums, order, padding}).pass;
}

TEST(Judge, PassesTheTwinOnEveryKindOfData) {
  for (DataKind kind : {DataKind::exact, DataKind::real, DataKind::adversarial}) {
    for (auto [alpha, beta] : {std::pair{1.0, 0.0}, {2.0, -0.5}, {-0.3, 0.7}}) {
      const auto on = operands_of(kSmall, kind, alpha, beta);
      const Agreement agreement = Judge<float>(on, kind).judge(twin_of(on), kInOrder);
      EXPECT_TRUE(agreement.pass) << agreement.failure;
      EXPECT_TRUE(agreement.bitwise);
    }
  }
}

TEST(Judge, HoldsEveryElementToTheBitWhereTheOrderIsTheReferences) {
  const auto on = operands_of(kSmall, DataKind::real);
  const Judge<float> judge(on, DataKind::real);
  Tensor<float> y = twin_of(on);
  float& element = y(1, 3, 2, 5);
  element = std::nextafter(element, 100.0f);
  EXPECT_TRUE(passes(judge, y, Order::own));
  const Agreement agreement = judge.judge(y, kInOrder);
  EXPECT_FALSE(agreement.pass);
  EXPECT_FALSE(agreement.bitwise);
  EXPECT_EQ(agreement.first_wrong, (std::array<std::int64_t, 4>{1, 3, 2, 5}));
}

TEST(Judge, TellsZerosApartUnlessPaddingIsMultiplied) {
  Conv2dOperands<float> on = operands_of("n1c1h2w2_k1r1s1", DataKind::real);
  on.x(0, 0, 1, 1) = 0;
  const Judge<float> judge(on, DataKind::real);
  Tensor<float> y = twin_of(on);
  y(0, 0, 1, 1) = std::signbit(y(0, 0, 1, 1)) ? 0.0f : -0.0f;
  EXPECT_FALSE(passes(judge, y));
  EXPECT_TRUE(passes(judge, y, Order::reference, Padding::multiplied));
}

TEST(Judge, ExcusesNanWhereZerosOfThePaddingMeetInfinity) {
  Conv2dOperands<float> on = operands_of("n1c1h4w5_k2r3s3_p1", DataKind::real);
  on.w(1, 0, 0, 0) = std::numeric_limits<float>::infinity();
  const Judge<float> judge(on, DataKind::adversarial);
  const float nan = std::nanf("");
  const auto with_nan_at = [&](int k, int p, int q) {
    Tensor<float> y = twin_of(on);
    y(0, k, p, q) = nan;
    return y;
  };
  EXPECT_TRUE(passes(judge, with_nan_at(1, 0, 2), Order::reference, Padding::multiplied));
  EXPECT_TRUE(passes(judge, with_nan_at(1, 0, 2), Order::own, Padding::multiplied));
  EXPECT_FALSE(passes(judge, with_nan_at(1, 0, 2))) << "a stage that skips has no excuse";
  EXPECT_FALSE(passes(judge, with_nan_at(1, 1, 1), Order::own, Padding::multiplied)) << "inside";
  EXPECT_FALSE(passes(judge, with_nan_at(0, 0, 2), Order::own, Padding::multiplied))
      << "a finite filter";
  Tensor<float> wrong = twin_of(on);
  wrong(0, 1, 0, 2) = 123;
  EXPECT_FALSE(passes(judge, wrong, Order::own, Padding::multiplied)) << "only NaN is excused";
}

TEST(Judge, IsExactOnlyWhereTheDataAre) {
  EXPECT_TRUE(Judge<float>(operands_of(kSmall, DataKind::exact), DataKind::exact).exact());
  const auto scaled = operands_of(kSmall, DataKind::exact, 0.75, -2);
  EXPECT_TRUE(Judge<float>(scaled, DataKind::exact).exact());
  const auto rounded = operands_of(kSmall, DataKind::exact, 0.1);
  EXPECT_FALSE(Judge<float>(rounded, DataKind::exact).exact());
  EXPECT_TRUE(passes(Judge<float>(rounded, DataKind::exact), twin_of(rounded)));
  const auto real = operands_of(kSmall, DataKind::real);
  EXPECT_FALSE(Judge<float>(real, DataKind::exact).exact());
  Conv2dOperands<float> large = operands_of(kSmall, DataKind::exact);
  for (float& element : large.x.buffer()) element *= 65536;
  for (float& element : large.w.buffer()) element *= 65536;
  EXPECT_FALSE(Judge<float>(large, DataKind::exact).exact()) << "sums beyond 2^24 may round";
}

TEST(Judge, ReadsNoOldResultWhenBetaIsZero) {
  Conv2dOperands<float> on = operands_of(kSmall, DataKind::real);
  for (float& element : on.y0.buffer()) element = std::nanf("");
  EXPECT_TRUE(passes(Judge<float>(on, DataKind::real), twin_of(on)));
}

TEST(Judge, RefusesAWrongShapeAndAcceptsAnEmptyBatch) {
  const auto on = operands_of(kSmall, DataKind::real);
  EXPECT_FALSE(passes(Judge<float>(on, DataKind::real), Tensor<float>(Extents{2, 4, 1, 1})));
  const auto none = operands_of("n0c2h6w5_k3r3s2", DataKind::exact);
  EXPECT_TRUE(passes(Judge<float>(none, DataKind::exact), none.y0));
}

// The large problem is judged by the oracle, with some planes by the loops.
class LargeJudge : public ::testing::TestWithParam<DataKind> {};

TEST_P(LargeJudge, PassesWhatIsRightAndSeesWhatIsWrong) {
  const auto on = operands_of(kLarge, GetParam(), 2, 1);
  const Judge<float> judge(on, GetParam());
  EXPECT_EQ(judge.exact(), GetParam() == DataKind::exact);
  Tensor<float> y = gemm_oracle_forward<float>(on.prob, on.x.view(), on.w.view());
  for_each_index(y.extents(), [&](auto n, auto k, auto p, auto q) {
    y(n, k, p, q) = std::fma(1.0f, on.y0(n, k, p, q), 2 * y(n, k, p, q));
  });
  const Promises promises{.padding = Padding::multiplied};
  const Agreement right = judge.judge(y, promises);
  EXPECT_TRUE(right.pass) << right.failure;
  EXPECT_EQ(right.compared, y.size());
  const float kept = y(5, 33, 17, 55);
  for (float wrong : {std::nanf(""), kept + 1, 0.0f}) {
    y(5, 33, 17, 55) = wrong;
    const Agreement agreement = judge.judge(y, promises);
    EXPECT_FALSE(agreement.pass);
    EXPECT_EQ(agreement.first_wrong, (std::array<std::int64_t, 4>{5, 33, 17, 55}));
  }
  y(5, 33, 17, 55) = kept;
  if (judge.exact()) return;
  // Another order than the loops' shows in the planes that the twin recomputes.
  EXPECT_FALSE(passes(judge, y, Order::reference, Padding::multiplied));
}

INSTANTIATE_TEST_SUITE_P(, LargeJudge, ::testing::Values(DataKind::exact, DataKind::real),
                         [](const auto& test) { return std::string(name_of(test.param)); });

TEST(MakeOperands, GivesTheSameNumbersInEveryLayout) {
  for (DataKind kind : {DataKind::exact, DataKind::real}) {
    const auto nchw = operands_of(kSmall, kind, 1, 1);
    for (Layout layout : {Layout::nhwc, Layout::chwn}) {
      const auto other = operands_of(kSmall, kind, 1, 1, layout);
      EXPECT_EQ(other.x.strides(), strides_of(layout, x_extents(nchw.prob)));
      EXPECT_EQ(other.w.strides(), strides_of(layout, w_extents(nchw.prob)));
      EXPECT_EQ(other.y0.strides(), strides_of(layout, y_extents(nchw.prob)));
      for (auto operand :
           {&Conv2dOperands<float>::x, &Conv2dOperands<float>::w, &Conv2dOperands<float>::y0}) {
        for_each_index((nchw.*operand).extents(), [&](auto n, auto c, auto h, auto w) {
          ASSERT_EQ((nchw.*operand)(n, c, h, w), (other.*operand)(n, c, h, w));
        });
      }
    }
  }
}

TEST(MakeOperands, DoublesShowSumsInFloat) {
  Conv2dProblem prob = parse_conv2d("n1c5h7w9_k4r3s2_f64");
  const auto on = make_operands<double>(prob, Layout::nchw, DataKind::exact, 7);
  const Judge<double> judge(on, DataKind::exact);
  const auto x = converted<float>(on.x.view()), w = converted<float>(on.w.view());
  prob.dtype = prob.accumulate = Dtype::f32;
  const auto y = conv2d_forward_twin<float>(prob, std::as_const(x).view(), std::as_const(w).view());
  EXPECT_FALSE(judge.judge(converted<double>(std::as_const(y).view()), kInOrder).pass);
}

// The plain compilation in the traced one's place computes the right result and reports nothing.
TEST(Verify, FailsWhenATracedRunCountedNothing) {
  const auto on = operands_of(kSmall, DataKind::real);
  const Judge<float> judge(on, DataKind::real);
  const Conv2dStage& plain = *conv2d_stages(Build::plain)[0];
  const Conv2dStage& traced = *conv2d_stages(Build::traced)[0];
  ExecuteOptions options;
  options.trace = true;
  EXPECT_TRUE(verify(plain, &traced, judge, options).pass);
  const Verdict verdict = verify(plain, &plain, judge, options);
  EXPECT_FALSE(verdict.pass);
  EXPECT_NE(verdict.failure.find("counted no store"), std::string::npos) << verdict.failure;
}

TEST(RepeatLine, NamesEverything) {
  EXPECT_EQ(repeat_line("direct", parse_conv2d(kSmall), Layout::nhwc, DataKind::real, 5),
            "sevenloops check conv2d --stage direct --problem n2c5h7w9_k4r3s2_p1x0x2x1_u2x1 "
            "--layout nhwc --data real --seed 5");
}

}  // namespace
}  // namespace sevenloops
