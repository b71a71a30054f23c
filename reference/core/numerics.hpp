#pragma once
// The C++ types behind the dtypes, their limits, and rounding to them.

#include <Eigen/Core>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

#include "reference/core/dtype.hpp"
#include "reference/core/tensor.hpp"

namespace sevenloops {

using Half = Eigen::half;          ///< IEEE binary16: 11 significant bits
using Bfloat16 = Eigen::bfloat16;  ///< the upper half of a float: 8 significant bits

/// What is known about a storage type: `dtype`, and its number of significant bits.
template <typename T>
struct StorageType;
template <>
struct StorageType<double> {
  static constexpr Dtype dtype = Dtype::f64;
  static constexpr int significant_bits = 53, smallest_exponent = -1074;
};
template <>
struct StorageType<float> {
  static constexpr Dtype dtype = Dtype::f32;
  static constexpr int significant_bits = 24, smallest_exponent = -149;
};
template <>
struct StorageType<Half> {
  static constexpr Dtype dtype = Dtype::f16;
  static constexpr int significant_bits = 11, smallest_exponent = -24;
};
template <>
struct StorageType<Bfloat16> {
  static constexpr Dtype dtype = Dtype::bf16;
  static constexpr int significant_bits = 8, smallest_exponent = -133;
};

/// The Dtype of a C++ type: dtype_v<float> == Dtype::f32.
template <typename T>
inline constexpr Dtype dtype_v = StorageType<T>::dtype;

/// Calls `f` with a default value of the C++ type of `dtype` and returns what it returns:
/// `dispatch(prob.dtype, [&](auto zero) { return run<decltype(zero)>(prob); })`.
template <typename F>
decltype(auto) dispatch(Dtype dtype, F&& f) {
  switch (dtype) {
    case Dtype::f64:
      return std::forward<F>(f)(double());
    case Dtype::f16:
      return std::forward<F>(f)(Half());
    case Dtype::bf16:
      return std::forward<F>(f)(Bfloat16());
    default:
      return std::forward<F>(f)(float());
  }
}

/// Significant bits of `dtype`, the hidden one included: 53, 24, 11, 8.
inline int significant_bits(Dtype dtype) {
  return dispatch(dtype, [](auto t) { return StorageType<decltype(t)>::significant_bits; });
}

/// u: the largest relative error of one rounding to nearest, 2^-bits.
inline double unit_roundoff(Dtype dtype) { return std::ldexp(1.0, -significant_bits(dtype)); }

/// Every integer up to 2^bits in magnitude is a value of `dtype`.
inline std::int64_t max_exact_integer(Dtype dtype) {
  return std::int64_t{1} << significant_bits(dtype);
}

/// eta: the smallest positive (subnormal) value of `dtype`.
inline double smallest_subnormal(Dtype dtype) {
  return dispatch(
      dtype, [](auto t) { return std::ldexp(1.0, StorageType<decltype(t)>::smallest_exponent); });
}

/// `value` as a float whose last bit tells that something was cut off. Rounding that float to at
/// most 22 bits gives what rounding `value` once would: no double rounding.
/// Source: Boldo and Melquiond, Emulation of FMA and correctly rounded sums (IEEE TC 2008).
inline float round_to_odd(double value) {
  const float nearest = static_cast<float>(value);
  if (!std::isfinite(value) || nearest == value) return nearest;
  auto bits = std::bit_cast<std::uint32_t>(nearest);
  if (std::abs(static_cast<double>(nearest)) > std::abs(value)) --bits;  // now towards zero
  return std::bit_cast<float>(bits | 1u);
}

/// `value` rounded once to T, to nearest, ties to even. Overflow gives infinity, NaN stays NaN.
template <typename T>
T round_to(double value) {
  if constexpr (sizeof(T) == 2) {
    return static_cast<T>(round_to_odd(value));
  } else {
    return static_cast<T>(value);
  }
}

/// `value` rounded to `dtype` and back: what remains of it in storage.
inline double round_to(Dtype dtype, double value) {
  return dispatch(dtype, [&](auto t) { return static_cast<double>(round_to<decltype(t)>(value)); });
}

/// A dense copy of `view` with every element rounded once to `To`.
template <typename To, typename From>
Tensor<To> converted(const TensorView<const From>& view, Layout layout = Layout::nchw) {
  Tensor<To> copy(view.extents, layout);
  for_each_index(view.extents, [&](auto n, auto c, auto h, auto w) {
    copy(n, c, h, w) = round_to<To>(static_cast<double>(view(n, c, h, w)));
  });
  return copy;
}

}  // namespace sevenloops
