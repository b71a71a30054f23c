#pragma once
// The order that barriers give to accesses of the threads of a block.

#include <array>
#include <cstdint>
#include <map>

namespace sevenloops::simt {

/// Time passes at barriers only. Two accesses of one barrier interval are ordered when both are one
/// thread's, or a warp barrier of both lanes lies between.
class WarpClock {
 public:
  /// A barrier of the whole block, or a new block.
  void pass_barrier() {
    interval_ = ++now_;
    partial_.clear();
  }
  /// A warp barrier of the lanes in `mask`; `all` are the lanes of the warp that are still there.
  void pass_warp_barrier(unsigned warp, std::uint32_t mask, std::uint32_t all);

  std::uint32_t now() const { return now_; }
  /// Was it in this interval?
  bool is_recent(std::uint32_t stamp) const { return stamp >= interval_; }
  /// Was it before the last barrier of the whole warp?
  bool is_before_sync(unsigned warp, std::uint32_t stamp) const { return stamp < synced_[warp]; }

  /// Those of `lanes` whose accesses at `stamp` are not known to come before what `lane` does now.
  std::uint32_t unordered(unsigned warp, std::uint32_t lanes, unsigned lane,
                          std::uint32_t stamp) const;
  /// Those of `lanes` for which what `lane` did at `stamp` is not known to come before.
  std::uint32_t unordered_after(unsigned warp, unsigned lane, std::uint32_t lanes,
                                std::uint32_t stamp) const;

 private:
  // seen[i][j]: what lane i did before this time comes before what lane j does now.
  using Seen = std::array<std::array<std::uint32_t, 32>, 32>;

  std::uint32_t now_ = 1, interval_ = 1;
  std::array<std::uint32_t, 32> synced_{};  // time of the last barrier of the whole warp
  std::map<unsigned, Seen> partial_;        // warps with barriers of some lanes in this interval
};

}  // namespace sevenloops::simt
