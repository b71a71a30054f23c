#pragma once
// Which array an address belongs to.

#include <cstdint>
#include <string>
#include <vector>

#include "gpu/simt/image.hpp"
#include "gpu/simt/log.hpp"

namespace sevenloops::simt {

/// The `__shared__` arrays of the traced build, by their place in a thread's storage. Array number
/// i + 1 is all()[i].
class StaticArrays {
 public:
  static const StaticArrays& get();

  const std::vector<SharedArray>& all() const { return arrays_; }
  const SharedArray& operator[](ArrayNumber number) const { return arrays_[number - 1]; }
  /// The number that stands for the dynamic shared memory.
  ArrayNumber dynamic() const { return static_cast<ArrayNumber>(arrays_.size() + 1); }

  /// The stretch that holds them all, from the start of a thread's storage.
  std::size_t first() const { return first_; }
  std::size_t bytes() const { return map_.size() * 4; }
  /// The array at `offset` from first(), or kNoArray.
  ArrayNumber at(std::size_t offset) const { return map_[offset / 4]; }
  /// Does [offset, offset + bytes) lie in array `number`?
  bool holds(ArrayNumber number, std::size_t offset, std::size_t bytes) const {
    const SharedArray& array = (*this)[number];
    return offset + bytes <= array.offset - first_ + array.bytes;
  }
  /// The array whose end or start is next to `offset`.
  ArrayNumber nearest(std::ptrdiff_t offset) const;

 private:
  StaticArrays();

  std::vector<SharedArray> arrays_;
  std::size_t first_ = 0;
  std::vector<ArrayNumber> map_;  // of each 4 bytes; arrays begin 16-byte aligned
};

}  // namespace sevenloops::simt
