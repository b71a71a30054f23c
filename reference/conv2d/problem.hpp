#pragma once
// One convolution problem: every number that decides what is to be computed.

#include <cstdint>
#include <string>
#include <string_view>

#include "reference/core/dtype.hpp"

namespace sevenloops {

/// Cross-correlation uses the filter as it is, convolution rotated by half a turn.
enum class ConvMode { cross_correlation, convolution };

/// The problem of a 2-D convolution. Shapes: x is N x C x H x W, w is K x (C/groups) x R x S,
/// y is N x K x P x Q. Filled by designated initializers; `validate()` before use.
///
///     y[n,k,p,q] = sum_{c < C/groups, r, s} x[n, g*C/groups + c, h(p,r), w(q,s)] * w[k,c,r,s]
///     h(p,r) = p*stride_h + r'*dilation_h - pad_top,   g = k / (K/groups)
///
/// with r' = r for cross-correlation and R-1-r for convolution; taps outside x contribute nothing.
/// Source: cuDNN paper (arXiv 1410.0759) section 3, extended by dilation and groups.
struct Conv2dProblem {
  std::int64_t N = 1, C = 1, H = 1, W = 1;
  std::int64_t K = 1, R = 1, S = 1;
  std::int64_t pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;
  std::int64_t stride_h = 1, stride_w = 1;
  std::int64_t dilation_h = 1, dilation_w = 1;  ///< 1 = dense
  std::int64_t groups = 1;
  ConvMode mode = ConvMode::cross_correlation;
  Dtype dtype = Dtype::f32;       ///< storage of x, w and y
  Dtype accumulate = Dtype::f32;  ///< type in which the sum is formed

  /// Rows of y: floor((H + pads - dilated filter height) / stride_h) + 1. The one place for it.
  constexpr std::int64_t P() const {
    return (H + pad_top + pad_bottom - dilation_h * (R - 1) - 1) / stride_h + 1;
  }
  /// Columns of y.
  constexpr std::int64_t Q() const {
    return (W + pad_left + pad_right - dilation_w * (S - 1) - 1) / stride_w + 1;
  }
  /// Channels each filter sees: C / groups.
  constexpr std::int64_t channels_per_group() const { return C / groups; }
  /// Filters in each group: K / groups.
  constexpr std::int64_t filters_per_group() const { return K / groups; }

  bool operator==(const Conv2dProblem&) const = default;
};

/// Throws Error naming field, value and rule unless `prob` is computable: extents >= 1 (N >= 0),
/// pads >= 0, strides and dilations >= 1, groups dividing C and K, P and Q >= 1, the accumulation
/// type at least as wide as the storage type, and every element count and byte size within int64.
void validate(const Conv2dProblem& prob);

/// Text form, e.g. `n2c3h7w9_k4r3s3_p1_u2_d1x2_g1_f32`; defaults are left out. `p1` pads all sides,
/// `p1x2` is height x width, `p1x2x3x4` is top x left x bottom x right; `conv` marks the mode;
/// `f16` and `bf16` accumulate in f32, the others in themselves, unless `a` and a type, as in
/// `_af16`, say otherwise. parse(print(x)) == x.
std::string print(const Conv2dProblem& prob);

/// Inverse of print(); the groups after the extents may come in any order, and defaults (`g1`,
/// `xcorr`, `f32`) may be written out. Throws Error with the text and a caret under the offending
/// position (unknown, repeated or missing fields, bad numbers), and validates the result.
Conv2dProblem parse_conv2d(std::string_view text);

/// FLOPs of one direct computation, each tap a multiply and an add: 2 N K P Q (C/groups) R S.
double direct_flops(const Conv2dProblem& prob);

}  // namespace sevenloops
