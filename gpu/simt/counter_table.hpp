#pragma once
// Counters by instruction and array.

#include <array>
#include <cstdint>
#include <unordered_map>

#include "gpu/simt/log.hpp"
#include "gpu/simt/report.hpp"

namespace sevenloops::simt {

class CounterTable {
 public:
  /// Counters of the instruction at `pc` on `array`. The reference stays valid until clear().
  Counters& at(std::uint32_t pc, ArrayNumber array) {
    const std::uint64_t key = std::uint64_t{pc} << 16 | array;
    Recent& recent = recent_[(pc ^ pc >> 8 ^ array) % kRecent];
    if (recent.key != key) recent = {key, &all_[key]};
    return *recent.counters;
  }

  void clear() {
    all_.clear();
    recent_.fill({});
  }

  /// Calls f(pc, array, counters) for all.
  template <typename F>
  void for_each(F&& f) const {
    for (const auto& [key, counters] : all_) {
      f(static_cast<std::uint32_t>(key >> 16), static_cast<ArrayNumber>(key & 0xffff), counters);
    }
  }

 private:
  static constexpr int kRecent = 256;
  struct Recent {
    std::uint64_t key = ~std::uint64_t{0};
    Counters* counters = nullptr;
  };

  std::unordered_map<std::uint64_t, Counters> all_;  // its elements never move
  std::array<Recent, kRecent> recent_{};
};

}  // namespace sevenloops::simt
