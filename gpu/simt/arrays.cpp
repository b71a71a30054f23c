#include "gpu/simt/arrays.hpp"

#include <algorithm>

namespace sevenloops::simt {

const StaticArrays& StaticArrays::get() {
  static const StaticArrays arrays;
  return arrays;
}

StaticArrays::StaticArrays() : arrays_(Image::get().shared_arrays(true)) {
  std::sort(arrays_.begin(), arrays_.end(),
            [](const SharedArray& a, const SharedArray& b) { return a.offset < b.offset; });
  if (arrays_.empty()) return;
  first_ = arrays_.front().offset;
  map_.resize((arrays_.back().offset + arrays_.back().bytes - first_ + 3) / 4);
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    const std::size_t begin = (arrays_[i].offset - first_) / 4;
    const std::size_t end = (arrays_[i].offset - first_ + arrays_[i].bytes + 3) / 4;
    std::fill(map_.begin() + begin, map_.begin() + end, static_cast<ArrayNumber>(i + 1));
  }
}

ArrayNumber StaticArrays::nearest(std::ptrdiff_t offset) const {
  const auto away = [&](const SharedArray& array) {
    const auto begin = static_cast<std::ptrdiff_t>(array.offset - first_);
    const auto end = begin + static_cast<std::ptrdiff_t>(array.bytes);
    return std::max({begin - offset, offset - end + 1, std::ptrdiff_t{0}});
  };
  const auto found = std::min_element(
      arrays_.begin(), arrays_.end(),
      [&](const SharedArray& a, const SharedArray& b) { return away(a) < away(b); });
  return static_cast<ArrayNumber>(found - arrays_.begin() + 1);
}

}  // namespace sevenloops::simt
