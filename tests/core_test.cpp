// Views, layouts, storage types and the way an index error is told.

#define SEVENLOOPS_CHECK_INDEX  // this file's views check every index

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <set>

#include "reference/core/eigen_view.hpp"
#include "reference/core/error.hpp"
#include "reference/core/numerics.hpp"

namespace sevenloops {
namespace {

template <typename Action>
std::string message_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "(nothing was thrown)";
}

TEST(TensorView, ChecksEveryAxis) {
  std::vector<float> memory(2 * 3 * 4 * 5);
  const auto view = view_of(memory.data(), {2, 3, 4, 5});
  EXPECT_NO_THROW(view(1, 2, 3, 4));
  EXPECT_EQ(message_of([&] { view(2, 0, 0, 0); }), "index on axis N is 2, but must lie in [0, 2)");
  EXPECT_EQ(message_of([&] { view(0, -1, 0, 0); }),
            "index on axis C is -1, but must lie in [0, 3)");
  EXPECT_EQ(message_of([&] { view(0, 0, 4, 0); }), "index on axis H is 4, but must lie in [0, 4)");
  EXPECT_EQ(message_of([&] { view(0, 0, 0, 5); }), "index on axis W is 5, but must lie in [0, 5)");
}

TEST(TensorView, OffsetsHave64Bits) {
  constexpr std::int64_t kFar = (std::int64_t{1} << 31) + 64;
  const TensorView<float> view{nullptr, {4, 1, 2, 2}, {kFar, 4, 2, 1}};
  EXPECT_EQ(view.offset(3, 0, 1, 1), 3 * kFar + 3);
}

TEST(Layout, EveryElementHasItsOwnPlace) {
  const Extents extents{2, 3, 4, 5};
  const struct {
    Layout layout;
    int fastest;
  } cases[] = {{Layout::nchw, 3}, {Layout::nhwc, 1}, {Layout::chwn, 0}};
  for (const auto& [layout, fastest] : cases) {
    const Strides strides = strides_of(layout, extents);
    EXPECT_EQ(strides[fastest], 1) << name_of(layout);
    const TensorView<float> view{nullptr, extents, strides};
    std::set<std::int64_t> offsets;
    for_each_index(
        extents, [&](auto n, auto c, auto h, auto w) { offsets.insert(view.offset(n, c, h, w)); });
    EXPECT_EQ(offsets.size(), 120u);
    EXPECT_EQ(*offsets.rbegin(), 119);
    EXPECT_EQ(span_of(extents, strides), 120);
  }
  EXPECT_EQ(span_of({2, 3, 0, 5}, {100, 100, 100, 100}), 0);
  EXPECT_EQ(span_of({2, 1, 1, 3}, {10, 0, 0, 2}), 15);
}

TEST(Plane, IsTheViewsElements) {
  for (const Layout layout : {Layout::nchw, Layout::nhwc, Layout::chwn}) {
    std::vector<float> memory(2 * 3 * 4 * 5);
    for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<float>(i);
    const auto view = view_of(memory.data(), {2, 3, 4, 5}, layout);
    const TensorView<const float> read_only = view;
    for_each_index(view.extents, [&](auto n, auto c, auto h, auto w) {
      EXPECT_EQ(plane(view, n, c)(h, w), view(n, c, h, w));
      EXPECT_EQ(plane(read_only, n, c)(h, w), view(n, c, h, w));
    });
    plane(view, 1, 2)(3, 4) = -1;
    EXPECT_EQ(view(1, 2, 3, 4), -1);
  }
}

TEST(Dtypes, NamesSizesAndLimits) {
  const struct {
    Dtype dtype;
    const char* name;
    std::size_t bytes;
    double roundoff, subnormal;
    std::int64_t integer;
  } cases[] = {
      {Dtype::f64, "f64", 8, 0x1p-53, 0x1p-1074, std::int64_t{1} << 53},
      {Dtype::f32, "f32", 4, 0x1p-24, 0x1p-149, 1 << 24},
      {Dtype::f16, "f16", 2, 0x1p-11, 0x1p-24, 2048},
      {Dtype::bf16, "bf16", 2, 0x1p-8, 0x1p-133, 256},
  };
  for (const auto& expected : cases) {
    SCOPED_TRACE(expected.name);
    EXPECT_EQ(name_of(expected.dtype), expected.name);
    EXPECT_EQ(size_in_bytes(expected.dtype), expected.bytes);
    EXPECT_EQ(unit_roundoff(expected.dtype), expected.roundoff);
    EXPECT_EQ(smallest_subnormal(expected.dtype), expected.subnormal);
    EXPECT_EQ(max_exact_integer(expected.dtype), expected.integer);
    EXPECT_EQ(dispatch(expected.dtype, [](auto zero) { return dtype_v<decltype(zero)>; }),
              expected.dtype);
    EXPECT_EQ(dispatch(expected.dtype, [](auto zero) { return sizeof zero; }), expected.bytes);
    // The limits are the type's own: the last exact integer, the first that is not, and eta.
    const auto integer = static_cast<double>(expected.integer);
    EXPECT_EQ(round_to(expected.dtype, integer - 1), integer - 1);
    EXPECT_EQ(round_to(expected.dtype, integer), integer);
    if (expected.dtype != Dtype::f64) {
      EXPECT_EQ(round_to(expected.dtype, integer + 1), integer);
    }
    EXPECT_EQ(round_to(expected.dtype, expected.subnormal), expected.subnormal);
    EXPECT_EQ(round_to(expected.dtype, expected.subnormal / 2), 0);
  }
}

// All finite 16-bit values in order, and between each two the middle: values on either side of it
// round to the nearer neighbor, the middle itself to the one with the even last bit. The nearest
// doubles beside the middle would be rounded wrongly by way of float.
template <typename T>
void check_every_rounding(int infinity_bits) {
  for (int bits = 0; bits < infinity_bits; ++bits) {
    const auto value_of = [](int b) {
      return static_cast<double>(Eigen::numext::bit_cast<T>(static_cast<std::uint16_t>(b)));
    };
    const double low = value_of(bits);
    // The largest value counts as having a next one, as far away as the one before.
    const double high =
        bits + 1 < infinity_bits ? value_of(bits + 1) : low + (low - value_of(bits - 1));
    const double middle = low + (high - low) / 2;
    const double up = bits + 1 < infinity_bits ? high : std::numeric_limits<double>::infinity();
    const double even = bits % 2 == 0 ? low : up;
    for (const double sign : {1.0, -1.0}) {
      const auto rounded = [&](double v) { return static_cast<double>(round_to<T>(sign * v)); };
      ASSERT_EQ(rounded(low), sign * low);
      ASSERT_EQ(rounded(std::nextafter(middle, 0)), sign * low) << low;
      ASSERT_EQ(rounded(middle), sign * even) << low;
      ASSERT_EQ(rounded(std::nextafter(middle, 1e300)), sign * up) << low;
    }
  }
  EXPECT_TRUE(
      std::isnan(static_cast<float>(round_to<T>(std::numeric_limits<double>::quiet_NaN()))));
  EXPECT_EQ(static_cast<double>(round_to<T>(1e300)), std::numeric_limits<double>::infinity());
  EXPECT_EQ(static_cast<double>(round_to<T>(-std::numeric_limits<double>::infinity())),
            -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::signbit(static_cast<float>(round_to<T>(-0.0))));
  EXPECT_TRUE(std::signbit(static_cast<float>(round_to<T>(-1e-300))));
}

TEST(Rounding, HalfIsRoundedOnce) { check_every_rounding<Half>(0x7C00); }
TEST(Rounding, Bfloat16IsRoundedOnce) { check_every_rounding<Bfloat16>(0x7F80); }

TEST(Rounding, ConvertsWholeTensors) {
  Tensor<double> tensor({1, 2, 1, 2}, Layout::nhwc);
  tensor(0, 0, 0, 0) = 1 + 0x1p-11;  // a tie in half
  tensor(0, 0, 0, 1) = 1 + 0x1p-11 + 0x1p-40;
  tensor(0, 1, 0, 0) = -3;
  tensor(0, 1, 0, 1) = 1e6;
  const Tensor<Half> half = converted<Half>(std::as_const(tensor).view());
  EXPECT_EQ(static_cast<float>(half(0, 0, 0, 0)), 1.0f);
  EXPECT_EQ(static_cast<float>(half(0, 0, 0, 1)), 1 + 0x1p-10f);
  EXPECT_EQ(static_cast<float>(half(0, 1, 0, 0)), -3.0f);
  EXPECT_EQ(static_cast<float>(half(0, 1, 0, 1)), std::numeric_limits<float>::infinity());
}

}  // namespace
}  // namespace sevenloops
