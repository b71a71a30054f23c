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

ArrayNumber StaticArrays::nearest(std::size_t offset) const {
  const auto after = std::find_if(arrays_.begin(), arrays_.end(), [&](const SharedArray& array) {
    return array.offset - first_ > offset;
  });
  const auto index = after - arrays_.begin();
  return static_cast<ArrayNumber>(index == 0 ? 1 : index);
}

}  // namespace sevenloops::simt
