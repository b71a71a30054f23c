#pragma once
// Who touched which shared memory since the last barrier.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "gpu/simt/log.hpp"
#include "gpu/simt/warp_clock.hpp"

namespace sevenloops::simt {

/// What is remembered of 4 bytes, or of one. Stamps are times of WarpClock; older than the current
/// interval they mean "not touched".
struct RaceCell {
  std::uint32_t read_stamp = 0, write_stamp = 0;
  std::uint32_t read_lanes = 0;  ///< of read_warp
  std::uint32_t read_pc = 0, write_pc = 0, other_pc = 0;
  std::uint16_t write_thread = 0;
  std::uint16_t other_reader = 0;  ///< a thread of another warp than read_warp
  std::uint8_t read_warp = 0;
  bool has_other : 1 = false;
  bool is_atomic : 1 = false;   ///< the write was
  bool many_lanes : 1 = false;  ///< atomic writes by several lanes,
  bool many_warps : 1 = false;  ///< of several warps
  bool is_arrival : 1 = false;  ///< the write was an asynchronous copy's
  bool is_split : 1 = false;    ///< bytes are told apart since write_stamp
};

/// Two accesses that nothing orders. Thread numbers in the block.
struct Race {
  unsigned before_thread = 0, thread = 0;
  std::uint32_t before_pc = 0;
  bool before_writes = false;
  bool before_is_arrival = false;
};

class RaceShadow {
 public:
  RaceShadow(std::size_t bytes, const WarpClock& clock);
  ~RaceShadow();
  RaceShadow(const RaceShadow&) = delete;
  RaceShadow& operator=(const RaceShadow&) = delete;

  /// `lanes` of `warp` read bytes [offset, offset + bytes). Calls report(race) for each race.
  template <typename Report>
  void read(std::size_t offset, unsigned bytes, unsigned warp, std::uint32_t lanes,
            std::uint32_t pc, Report&& report) {
    each_cell(offset, bytes, [&](RaceCell& cell) { read_cell(cell, warp, lanes, pc, report); });
  }

  /// `thread` writes them: AccessKind says how.
  template <typename Report>
  void write(std::size_t offset, unsigned bytes, unsigned thread, AccessKind kind, std::uint32_t pc,
             Report&& report) {
    each_cell(offset, bytes, [&](RaceCell& cell) { write_cell(cell, thread, kind, pc, report); });
  }

 private:
  // Whole words have one cell; bytes have their own once one was touched alone in this interval.
  template <typename F>
  void each_cell(std::size_t offset, unsigned bytes, F&& f) {
    const std::size_t end = offset + bytes;
    for (std::size_t word = offset / 4; word * 4 < end; ++word) {
      RaceCell& cell = cells_[word];
      const bool whole = offset <= word * 4 && word * 4 + 4 <= end;
      bool split = cell.is_split && clock_.is_recent(cell.write_stamp);
      if (whole && !split) {
        cell.is_split = false;
        f(cell);
        continue;
      }
      if (!split) split_cell(word);
      const std::size_t from = std::max(offset, word * 4), to = std::min(end, word * 4 + 4);
      for (std::size_t byte = from; byte < to; ++byte) f(byte_cells_[byte]);
    }
  }
  void split_cell(std::size_t word);

  template <typename Report>
  void read_cell(RaceCell& cell, unsigned warp, std::uint32_t lanes, std::uint32_t pc,
                 Report& report) {
    if (clock_.is_recent(cell.write_stamp)) {
      if (const std::uint32_t late = unordered_lanes(cell, warp, lanes); late != 0) {
        report(Race{cell.write_thread, warp * 32 + static_cast<unsigned>(std::countr_zero(late)),
                    cell.write_pc, true, cell.is_arrival});
      }
    }
    if (!clock_.is_recent(cell.read_stamp)) {
      cell.has_other = false;
      cell.read_lanes = lanes;
    } else if (cell.read_warp != warp) {
      cell.has_other = true;
      cell.other_reader =
          static_cast<std::uint16_t>(cell.read_warp * 32 + std::countr_zero(cell.read_lanes));
      cell.other_pc = cell.read_pc;
      cell.read_lanes = lanes;
    } else if (clock_.is_before_sync(warp, cell.read_stamp)) {
      cell.read_lanes = lanes;  // what the warp read before its barrier no longer matters to it
    } else {
      cell.read_lanes |= lanes;
    }
    cell.read_warp = static_cast<std::uint8_t>(warp);
    cell.read_stamp = clock_.now();
    cell.read_pc = pc;
  }

  template <typename Report>
  void write_cell(RaceCell& cell, unsigned thread, AccessKind kind, std::uint32_t pc,
                  Report& report) {
    const bool atomic = kind == AccessKind::atomic;
    const unsigned warp = thread / 32, lane = thread % 32;
    bool many_lanes = false, many_warps = false;
    if (clock_.is_recent(cell.write_stamp)) {
      if (atomic && cell.is_atomic) {
        many_warps = cell.many_warps || cell.write_thread / 32 != warp;
        many_lanes = cell.many_lanes || cell.write_thread != thread;
      } else if (unordered_lanes(cell, warp, 1u << lane) != 0) {
        report(Race{cell.write_thread, thread, cell.write_pc, true, cell.is_arrival});
      }
    }
    if (clock_.is_recent(cell.read_stamp)) {
      const std::uint32_t others = cell.read_lanes & ~(1u << lane);
      if (cell.read_warp != warp) {
        report(Race{cell.read_warp * 32u + static_cast<unsigned>(std::countr_zero(cell.read_lanes)),
                    thread, cell.read_pc, false, false});
      } else if (const std::uint32_t early = clock_.unordered(warp, others, lane, cell.read_stamp);
                 early != 0) {
        report(Race{warp * 32 + static_cast<unsigned>(std::countr_zero(early)), thread,
                    cell.read_pc, false, false});
      } else if (cell.has_other && cell.other_reader / 32 != warp) {
        report(Race{cell.other_reader, thread, cell.other_pc, false, false});
      }
    }
    cell.write_stamp = clock_.now();
    cell.write_thread = static_cast<std::uint16_t>(thread);
    cell.write_pc = pc;
    cell.is_atomic = atomic;
    cell.is_arrival = kind == AccessKind::async_arrival;
    cell.many_lanes = many_lanes;
    cell.many_warps = many_warps;
  }

  // Those of `lanes` that the last write does not come before.
  std::uint32_t unordered_lanes(const RaceCell& cell, unsigned warp, std::uint32_t lanes) const {
    const unsigned writer_lane = cell.write_thread % 32;
    if (cell.many_warps || cell.write_thread / 32 != warp) return lanes;
    const std::uint32_t others = cell.many_lanes ? lanes : lanes & ~(1u << writer_lane);
    return clock_.unordered_after(warp, writer_lane, others, cell.write_stamp);
  }

  const WarpClock& clock_;
  std::size_t bytes_;
  RaceCell* cells_;       // one a word
  RaceCell* byte_cells_;  // one a byte
};

}  // namespace sevenloops::simt
