// On the fibers of lanes: every access, before it happens.

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "gpu/simt/image.hpp"
#include "gpu/simt/tracer.hpp"
#include "gpu/simt/worker.hpp"

namespace sevenloops::simt {

void Tracer::append(LaneLog& log, const Record& record) {
  if (log.next == log.alarm) [[unlikely]]
    heed_alarm(log, record);
  *log.next++ = record;
}

void Tracer::heed_alarm(LaneLog& log, const Record& record) {
  if (log.pending.accesses_left > 0 && check_pending(log, record.address)) stop(log);
  if (log.next == log.end) worker_.wait(*log.lane, LaneState::log_full);
  log.alarm = log.pending.accesses_left > 0 ? log.next + 1 : log.end;
}

void Tracer::enter_block(LaneLog& log, std::uint32_t pc) {
  if (pc <= log.last_block) {
    append(log, {0, log.last_pc, kNoArray, 0, AccessKind::jump});
    log.last_pc = pc;
  }
  log.last_block = pc;
  log.last_pc = std::max(log.last_pc, pc);
}

void Tracer::access(LaneLog& log, std::uintptr_t address, unsigned bytes, AccessKind kind,
                    std::uint32_t pc) {
  ArrayNumber array = kNoArray;
  const std::size_t in_static = address - static_low_, in_dynamic = address - dynamic_low_;
  if (in_static < static_bytes_) {
    array = static_arrays_.at(in_static);
    if (array != kNoArray && !static_arrays_.holds(array, in_static, bytes)) array = kNoArray;
  } else if (in_dynamic < dynamic_bytes_) {
    if (bytes <= dynamic_bytes_ - in_dynamic) array = static_arrays_.dynamic();
  } else {
    array = find_global(address, bytes, kind, pc);
  }
  if (array == kNoArray) [[unlikely]] {
    if (outside(log, address, bytes, kind, pc) == kNoArray) return;
  }
  if (address % bytes != 0) [[unlikely]] {
    report_misaligned(*log.lane, array, address, bytes, kind, pc);
    stop(log);
  }
  log.last_pc = pc;
  append(log, {address, pc, array, static_cast<std::uint8_t>(bytes), kind});
}

ArrayNumber Tracer::find_global(std::uintptr_t address, unsigned bytes, AccessKind kind,
                                std::uint32_t pc) {
  Known& known = known_[(pc ^ pc >> 6) % kKnown];
  if (address - known.base >= known.bytes || bytes > known.bytes - (address - known.base)) {
    const auto& all = launch_->allocations;
    const auto after = std::upper_bound(
        all.begin(), all.end(), address,
        [](std::uintptr_t a, const Allocation* allocation) { return a < allocation->base; });
    if (after == all.begin()) return kNoArray;
    const Allocation& found = **std::prev(after);
    if (!found.contains(address, bytes)) return kNoArray;
    const auto number = static_cast<ArrayNumber>(kFirstGlobal + (after - all.begin() - 1));
    known = {found.base, found.bytes, number, found.read_only};
  }
  return known.read_only && kind != AccessKind::read ? kNoArray : known.array;
}

// An access that is in no array, or not allowed there. Returns kNoArray when it concerns no memory
// of a GPU.
ArrayNumber Tracer::outside(LaneLog& log, std::uintptr_t address, unsigned bytes, AccessKind kind,
                            std::uint32_t pc) {
  const Launch& launch = *launch_->launch;
  // The arguments of the kernel, and constants, which lie in the program.
  if (address - reinterpret_cast<std::uintptr_t>(launch.arguments) < launch.arguments_bytes) {
    return kNoArray;
  }
  if (kind == AccessKind::read && Image::get().contains(address)) return kNoArray;
  if (log.pending.accesses_left > 0 && check_pending(log, address)) stop(log);
  report_outside(*log.lane, address, bytes, kind, pc);
  stop(log);
}

void Tracer::stop(LaneLog& log) {
  block_has_stopped_lanes_ = true;
  log.pending = {};
  worker_.stop(*log.lane);
}

void Tracer::report_outside(const Lane& lane, std::uintptr_t address, unsigned bytes,
                            AccessKind kind, std::uint32_t pc) {
  const Untraced untraced;
  const char* verb = kind == AccessKind::read ? " reads " : " writes ";
  const std::string who = "thread " + text(lane.index) + verb + std::to_string(bytes) + " bytes ";
  // Shared memory: beside an array.
  const std::size_t in_static = address - static_low_;
  constexpr std::size_t kNear = 64 * 1024;
  ArrayNumber array = kNoArray;
  if (static_bytes_ > 0 && in_static + kNear < static_bytes_ + 2 * kNear) {
    array = static_arrays_.nearest(static_cast<std::ptrdiff_t>(in_static));
  }
  if (address + kNear - dynamic_low_ < dynamic_bytes_ + 2 * kNear) array = static_arrays_.dynamic();
  if (array != kNoArray) {
    RawFault raw = fault(FaultKind::shared_overrun, pc, lane.thread, array);
    raw.story = who + "at byte " +
                std::to_string(static_cast<std::int64_t>(address - array_base(array))) + " of " +
                raw.array + ", outside of it, at {0}";
    return faults_.add(std::move(raw));
  }
  // Global memory: in an allocation that is read-only, beside one, or nowhere.
  for (std::size_t i = 0; i < launch_->allocations.size(); ++i) {
    const Allocation& allocation = *launch_->allocations[i];
    const auto region = reinterpret_cast<std::uintptr_t>(allocation.region);
    if (address - region >= allocation.region_bytes) continue;
    const auto number = static_cast<ArrayNumber>(kFirstGlobal + i);
    const bool inside = allocation.contains(address, bytes);
    RawFault raw = fault(inside ? FaultKind::write_to_const : FaultKind::global_out_of_bounds, pc,
                         lane.thread, number);
    raw.story = who + "at byte " +
                std::to_string(static_cast<std::int64_t>(address - allocation.base)) + " of " +
                raw.array + (inside ? ", which is read-only" : ", outside of its ") +
                (inside ? "" : std::to_string(allocation.bytes) + " bytes") + ", at {0}";
    return faults_.add(std::move(raw));
  }
  RawFault raw = fault(FaultKind::global_out_of_bounds, pc, lane.thread, kNoArray);
  raw.story = who + (address == 0 ? "through a null pointer" : "where no array is") + ", at {0}";
  faults_.add(std::move(raw));
}

void Tracer::report_misaligned(const Lane& lane, ArrayNumber array, std::uintptr_t address,
                               unsigned bytes, AccessKind kind, std::uint32_t pc) {
  const Untraced untraced;
  RawFault raw = fault(FaultKind::misaligned_access, pc, lane.thread, array);
  raw.story = "thread " + text(lane.index) + (kind == AccessKind::read ? " reads " : " writes ") +
              extent_text(array, address, bytes) + ", which is not a multiple of " +
              std::to_string(bytes) + ", at {0}";
  faults_.add(std::move(raw));
}

void Tracer::report_index(const Lane& lane, const std::string& sentence, std::uint32_t pc) {
  const Untraced untraced;
  block_has_stopped_lanes_ = true;
  RawFault raw = fault(FaultKind::index_out_of_range, pc, lane.thread, kNoArray);
  raw.story = "thread " + text(lane.index) + " " + sentence + ", at {0}";
  faults_.add(std::move(raw));
}

}  // namespace sevenloops::simt
