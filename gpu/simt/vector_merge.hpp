#pragma once
// ptxas merges neighboring 32-bit reads of shared memory into wider ones.

#include <array>

#include "gpu/simt/report.hpp"
#include "gpu/simt/request.hpp"
#include "gpu/simt/traffic.hpp"

namespace sevenloops::simt {

/// The shared reads of one warp that could still grow. A 32-bit read that follows an open one by 4
/// bytes in all its lanes joins it, up to 16 bytes, when the open one starts 16-byte aligned in all
/// lanes. Nothing moves across a shared store or a barrier.
class VectorMerge {
 public:
  /// Takes a read and its cost as written; `counters` are those of its line and array, and must
  /// stay.
  void add(const Request& request, const Wavefronts& as_written, Counters& counters);
  /// Counts what is open: at shared stores, barriers, and the end.
  void close();

 private:
  struct Open {
    Request request;
    Wavefronts as_written;
    Counters* counters;
    bool may_grow, has_grown;
  };
  static constexpr int kMostOpen = 16;

  static void count(const Open& open);

  std::array<Open, kMostOpen> open_;  // a ring, oldest first
  int first_ = 0, size_ = 0;
};

}  // namespace sevenloops::simt
