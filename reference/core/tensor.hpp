#pragma once
// A tensor that owns its memory, on the host.

#include <vector>

#include "reference/core/layout.hpp"

namespace sevenloops {

/// Owns the elements of a 4-axis tensor in host memory, in any strided layout. Gaps between strided
/// elements belong to the buffer and are kept (tests look at them).
template <typename T>
class Tensor {
 public:
  Tensor() = default;

  /// Dense, value-initialized.
  explicit Tensor(const Extents& extents, Layout layout = Layout::nchw)
      : Tensor(extents, strides_of(layout, extents)) {}

  /// Any non-negative strides; the buffer spans span_of(extents, strides) elements.
  Tensor(const Extents& extents, const Strides& strides)
      : extents_(extents), strides_(strides), buffer_(span_of(extents, strides)) {}

  const Extents& extents() const { return extents_; }
  const Strides& strides() const { return strides_; }
  std::int64_t size() const { return extents_[0] * extents_[1] * extents_[2] * extents_[3]; }

  /// The whole buffer, gaps included.
  std::vector<T>& buffer() { return buffer_; }
  const std::vector<T>& buffer() const { return buffer_; }

  TensorView<T> view() { return {buffer_.data(), extents_, strides_}; }
  TensorView<const T> view() const { return {buffer_.data(), extents_, strides_}; }

  T& operator()(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) {
    return view()(n, c, h, w);
  }
  const T& operator()(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) const {
    return view()(n, c, h, w);
  }

 private:
  Extents extents_{};
  Strides strides_{};
  std::vector<T> buffer_;
};

/// Calls f(n, c, h, w) for every index in row-major logical order.
template <typename F>
void for_each_index(const Extents& e, F&& f) {
  for (std::int64_t n = 0; n < e[0]; ++n)
    for (std::int64_t c = 0; c < e[1]; ++c)
      for (std::int64_t h = 0; h < e[2]; ++h)
        for (std::int64_t w = 0; w < e[3]; ++w) f(n, c, h, w);
}

}  // namespace sevenloops
