#pragma once
// What the lanes of one warp ask of memory with one instruction.

#include <array>
#include <bit>
#include <cstdint>

#include "gpu/simt/log.hpp"

namespace sevenloops::simt {

struct Request {
  std::uint32_t pc = 0;
  AccessKind kind{};
  unsigned bytes = 0;       ///< of each lane
  ArrayNumber array = 0;    ///< of the first lane
  int warp = 0;             ///< in the block
  std::uint32_t lanes = 0;  ///< those that take part
  int count = 0;            ///< how many
  // Of those that take part, in lane order:
  std::array<std::uint64_t, 32> address;
  std::array<std::uint8_t, 32> lane;

  bool is_uniform = false;  ///< all at one address
  bool is_dense = false;    ///< one after the other

  /// Fills in what follows from the addresses.
  void classify() {
    std::uint64_t apart = 0, off = 0;
    const std::uint64_t first = address[0];
    for (int i = 0; i < count; ++i) {
      apart |= address[i] ^ first;
      off |= address[i] ^ (first + static_cast<std::uint64_t>(i) * bytes);
    }
    is_uniform = apart == 0;
    is_dense = off == 0;
  }

  bool is_global() const { return array >= kFirstGlobal; }
  unsigned thread(int i) const { return static_cast<unsigned>(warp) * 32 + lane[i]; }
};

}  // namespace sevenloops::simt
