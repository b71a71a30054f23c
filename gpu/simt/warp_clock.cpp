#include "gpu/simt/warp_clock.hpp"

#include <algorithm>

namespace sevenloops::simt {

void WarpClock::pass_warp_barrier(unsigned warp, std::uint32_t mask, std::uint32_t all) {
  ++now_;
  if ((mask & all) == all) {
    synced_[warp] = now_;
    return;
  }
  // Whatever one of them knows, all of them know from now on.
  Seen& seen = partial_[warp];
  for (unsigned i = 0; i < 32; ++i) {
    std::uint32_t latest = (mask >> i & 1) != 0 ? now_ : 0;
    for (unsigned j = 0; j < 32; ++j) {
      if ((mask >> j & 1) != 0) latest = std::max(latest, seen[i][j]);
    }
    for (unsigned j = 0; j < 32; ++j) {
      if ((mask >> j & 1) != 0) seen[i][j] = latest;
    }
  }
}

std::uint32_t WarpClock::unordered(unsigned warp, std::uint32_t lanes, unsigned lane,
                                   std::uint32_t stamp) const {
  if (lanes == 0 || is_before_sync(warp, stamp)) return 0;
  const auto seen = partial_.find(warp);
  if (seen == partial_.end()) return lanes;
  for (unsigned i = 0; i < 32; ++i) {
    if (stamp < seen->second[i][lane]) lanes &= ~(1u << i);
  }
  return lanes;
}

std::uint32_t WarpClock::unordered_after(unsigned warp, unsigned lane, std::uint32_t lanes,
                                         std::uint32_t stamp) const {
  if (lanes == 0 || is_before_sync(warp, stamp)) return 0;
  const auto seen = partial_.find(warp);
  if (seen == partial_.end()) return lanes;
  for (unsigned j = 0; j < 32; ++j) {
    if (stamp < seen->second[lane][j]) lanes &= ~(1u << j);
  }
  return lanes;
}

}  // namespace sevenloops::simt
