#pragma once
// A stretch of shared memory under watch: all `__shared__` arrays of a worker, or the dynamic part.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpu/simt/bits.hpp"
#include "gpu/simt/race_shadow.hpp"

namespace sevenloops::simt {

struct SharedRegion {
  SharedRegion(std::size_t bytes, const WarpClock& clock)
      : bytes(bytes), races(bytes, clock), written(bytes / 64 + 1), in_flight(bytes / 64 + 1) {}

  std::uintptr_t low = 0;  ///< where it lies for the OS thread that runs the worker
  std::size_t bytes;
  RaceShadow races;
  std::vector<std::uint64_t> written, in_flight;  ///< in this block; one bit a byte

  /// Forgets bytes [offset, offset + count) at the start of a block.
  void forget(std::size_t offset, std::size_t count) {
    if (count == 0) return;
    clear_bits(written.data(), offset, count);
    clear_bits(in_flight.data(), offset, count);
  }
};

}  // namespace sevenloops::simt
