// The check that needs no full-size reference: what is right passes, what is wrong does not.

#include "bench/full_size_check.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "gpu/conv2d/verify.hpp"
#include "gpu/device_buffer.hpp"
#include "reference/conv2d/conv2d.hpp"
#include "reference/core/numerics.hpp"

namespace sevenloops {
namespace {

constexpr std::uint64_t kSeed = 11;

// The definition's answer in float, in the layout of y0.
Tensor<float> answer(const Conv2dOperands<float>& on) {
  const Tensor<double> x = converted<double>(on.x.view()), w = converted<double>(on.w.view());
  const Tensor<double> y0 = converted<double>(on.y0.view());
  const auto reference = conv2d_forward(on.prob, std::as_const(x).view(), std::as_const(w).view(),
                                        on.alpha, on.beta, std::as_const(y0).view());
  Tensor<float> y(on.y0.extents(), on.y0.strides());
  for_each_index(y.extents(), [&](auto n, auto k, auto p, auto q) {
    y(n, k, p, q) = round_to<float>(reference.value(n, k, p, q));
  });
  return y;
}

WeighedError error_of(const FullSizeCheck& check, const Tensor<float>& y) {
  DeviceBuffer memory(Place::emulator, y.buffer().size() * sizeof(float), "y");
  memory.upload(y.buffer().data(), memory.bytes());
  return check.compare(Place::emulator, {memory.data(), y.extents(), y.strides()});
}

class FullSizeCheckTest : public testing::TestWithParam<const char*> {
 protected:
  Conv2dProblem prob = parse_conv2d(GetParam());
};

TEST_P(FullSizeCheckTest, WhatIsRightPasses) {
  for (const Layout layout : {Layout::nchw, Layout::nhwc, Layout::chwn}) {
    const auto integers = make_operands<float>(prob, layout, DataKind::exact, kSeed);
    const WeighedError none = error_of(FullSizeCheck(integers, kSeed), answer(integers));
    EXPECT_TRUE(none.exact);
    EXPECT_EQ(none.max, 0);
    const auto reals = make_operands<float>(prob, layout, DataKind::real, kSeed, 0.75, -0.5);
    const WeighedError rounded = error_of(FullSizeCheck(reals, kSeed), answer(reals));
    EXPECT_LE(rounded.worst_bound_fraction, 1);
    EXPECT_LT(rounded.rms, 4 * unit_roundoff(Dtype::f32));
  }
}

TEST_P(FullSizeCheckTest, OneElementOffByOneShows) {
  const auto on = make_operands<float>(prob, Layout::nchw, DataKind::exact, kSeed);
  const FullSizeCheck check(on, kSeed);
  Tensor<float> y = answer(on);
  y.buffer()[y.buffer().size() / 2] += 1;
  EXPECT_FALSE(error_of(check, y).exact);
}

TEST_P(FullSizeCheckTest, AnUnwrittenElementShows) {
  const auto on = make_operands<float>(prob, Layout::nchw, DataKind::real, kSeed);
  const FullSizeCheck check(on, kSeed);
  Tensor<float> y = answer(on);
  y.buffer().front() = std::numeric_limits<float>::quiet_NaN();
  const WeighedError error = error_of(check, y);
  EXPECT_FALSE(error.exact);
  EXPECT_FALSE(error.worst_bound_fraction <= 1);
  EXPECT_FALSE(error.rms <= 1);
  EXPECT_FALSE(error.max <= 1);
}

TEST_P(FullSizeCheckTest, TwoChannelsSwappedShow) {
  if (prob.K < 2) GTEST_SKIP() << "one filter only";
  const auto on = make_operands<float>(prob, Layout::nchw, DataKind::exact, kSeed);
  const FullSizeCheck check(on, kSeed);
  Tensor<float> y = answer(on);
  for (std::int64_t p = 0; p < prob.P(); ++p) {
    for (std::int64_t q = 0; q < prob.Q(); ++q) std::swap(y(0, 0, p, q), y(0, prob.K - 1, p, q));
  }
  EXPECT_FALSE(error_of(check, y).exact);
}

// The accuracy asked of libraries (1024 u) lies below what inputs of 11 significant bits give.
TEST_P(FullSizeCheckTest, InputsRoundedToTf32Show) {
  const auto on = make_operands<float>(prob, Layout::nchw, DataKind::real, kSeed);
  const FullSizeCheck check(on, kSeed);
  auto narrow = on;
  const auto to_tf32 = [](float& value) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    bits = (bits + 0x1000u) & ~0x1FFFu;
    std::memcpy(&value, &bits, sizeof bits);
  };
  for (float& value : narrow.x.buffer()) to_tf32(value);
  for (float& value : narrow.w.buffer()) to_tf32(value);
  EXPECT_GT(error_of(check, answer(narrow)).rms, 1024 * unit_roundoff(Dtype::f32));
}

INSTANTIATE_TEST_SUITE_P(Problems, FullSizeCheckTest,
                         testing::Values("n2c5h9w11_k7r3s3_p1",
                                         "n1c6h13w10_k8r2s5_p1x2_u2x1_d1x2_g2",
                                         "n3c4h8w7_k4r1s1_g4", "n2c3h10w9_k5r3s2_conv"));

}  // namespace
}  // namespace sevenloops
