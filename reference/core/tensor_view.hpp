#pragma once
// A tensor somebody else owns: where it starts, how long each axis is, how far apart neighbors are.

#include <array>
#include <cstdint>
#include <type_traits>

namespace sevenloops {

/// Called by checked builds when an index leaves its axis (0..3 = N, C, H, W); never returns.
/// The default throws an Error; the emulator installs its own, which knows block and thread.
using IndexErrorHandler = void (*)(int axis, std::int64_t index, std::int64_t extent);
extern IndexErrorHandler on_index_error;

/// Four axes in the logical order N, C, H, W (K, C, R, S for a filter). Layout is only strides:
/// element (n,c,h,w) is `data[n*stride(0) + c*stride(1) + h*stride(2) + w*stride(3)]`, in elements.
/// Trivially copyable, so kernels take it by value. Never owns memory.
template <typename T>
struct TensorView {
  T* data = nullptr;
  std::array<std::int64_t, 4> extents{};
  std::array<std::int64_t, 4> strides{};

  [[gnu::always_inline]] constexpr std::int64_t extent(int axis) const { return extents[axis]; }
  [[gnu::always_inline]] constexpr std::int64_t stride(int axis) const { return strides[axis]; }

  /// Number of elements, gaps not counted.
  [[gnu::always_inline]] constexpr std::int64_t size() const {
    return extents[0] * extents[1] * extents[2] * extents[3];
  }

  /// Distance in elements from `data` to element (n,c,h,w).
  [[gnu::always_inline]] constexpr std::int64_t offset(std::int64_t n, std::int64_t c,
                                                       std::int64_t h, std::int64_t w) const {
    return n * strides[0] + c * strides[1] + h * strides[2] + w * strides[3];
  }

  [[gnu::always_inline]] constexpr T& operator()(std::int64_t n, std::int64_t c, std::int64_t h,
                                                 std::int64_t w) const {
#ifdef SEVENLOOPS_CHECK_INDEX
    check_index(n, c, h, w);
#endif
    return data[offset(n, c, h, w)];
  }

  /// The same elements, not to be written: TensorView<T> becomes TensorView<const T>. A template,
  /// since a plain conversion would for const T be one to itself, of which nvcc warns.
  template <typename U,
            typename = std::enable_if_t<!std::is_const_v<T> && std::is_same_v<U, const T>>>
  [[gnu::always_inline]] constexpr operator TensorView<U>() const {
    return {data, extents, strides};
  }

 private:
  [[gnu::always_inline]] void check_index(std::int64_t n, std::int64_t c, std::int64_t h,
                                          std::int64_t w) const {
    const std::int64_t index[4] = {n, c, h, w};
    for (int axis = 0; axis < 4; ++axis) {
      if (static_cast<std::uint64_t>(index[axis]) >= static_cast<std::uint64_t>(extents[axis])) {
        on_index_error(axis, index[axis], extents[axis]);
      }
    }
  }
};

}  // namespace sevenloops
