#pragma once
// Element types by name. The C++ storage types behind them are in numerics.hpp.

#include <cstddef>
#include <string_view>

namespace sevenloops {

/// How an element is stored. Accumulation has a Dtype of its own.
enum class Dtype { f64, f32, f16, bf16 };

/// Bytes one element takes.
constexpr std::size_t size_in_bytes(Dtype dtype) {
  return dtype == Dtype::f64 ? 8 : dtype == Dtype::f32 ? 4 : 2;
}

/// The name used in problem texts: "f64", "f32", "f16", "bf16".
constexpr std::string_view name_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::f64:
      return "f64";
    case Dtype::f32:
      return "f32";
    case Dtype::f16:
      return "f16";
    default:
      return "bf16";
  }
}

}  // namespace sevenloops
