#include "gpu/simt/tracer.hpp"

#include <algorithm>
#include <set>

#include "gpu/simt/worker.hpp"

namespace sevenloops::simt {

__thread LaneLog* traced_lane = nullptr;

Tracer::Tracer(Worker& worker)
    : worker_(worker),
      static_arrays_(StaticArrays::get()),
      code_(Image::get().load_address()),
      static_bytes_(static_arrays_.bytes()),
      records_(new std::array<Record, kLogRecords>[32]),
      static_region_(static_bytes_, clock_),
      dynamic_region_(kMaxDynamicBytes, clock_),
      is_used_(static_arrays_.all().size() + 1),
      merges_(32) {
  readable_.reserve(32);
}

void Tracer::begin_launch(LaunchState& launch) {
  launch_ = &launch;
  known_.fill({});
  static_low_ = static_region_.low = Image::get().thread_storage() + static_arrays_.first();
  dynamic_low_ = dynamic_region_.low = reinterpret_cast<std::uintptr_t>(worker_.dynamic_memory());
  for (const ArrayNumber array : used_arrays_) {
    static_region_.forget(static_arrays_[array].offset - static_arrays_.first(),
                          static_arrays_[array].bytes);
    is_used_[array] = false;
  }
  used_arrays_.clear();
  dynamic_region_.forget(0, dynamic_bytes_);
  dynamic_bytes_ = launch.launch->dynamic_shared_bytes;
}

void Tracer::end_launch() {
  for (VectorMerge& merge : merges_) merge.close();
  const std::lock_guard lock(launch_->mutex);
  counters_.for_each([&](std::uint32_t pc, ArrayNumber array, const Counters& counters) {
    launch_->counters[{pc, array_name(array)}] += counters;
  });
  counters_.clear();
  for (RawFault& raw : faults_.take()) launch_->faults.add(std::move(raw));
}

void Tracer::begin_block(std::uint64_t number) {
  block_number_ = number;
  block_has_stopped_lanes_ = false;
  bytes_in_flight_ = 0;
  clock_.pass_barrier();
  for (VectorMerge& merge : merges_) merge.close();
  for (const ArrayNumber array : used_arrays_) {
    static_region_.forget(static_arrays_[array].offset - static_arrays_.first(),
                          static_arrays_[array].bytes);
  }
  dynamic_region_.forget(0, dynamic_bytes_);
}

void Tracer::begin_lane(Lane& lane) {
  LaneLog& log = log_of(lane);
  auto& records = records_[lane.thread % 32];
  log.first = log.next = log.read = records.data();
  log.alarm = log.end = records.data() + kLogRecords;
  log.stack_low = lane.fiber->stack_low;
  log.stack_bytes = lane.fiber->stack_bytes;
  log.last_block = log.last_pc = 0;
  log.tracer = this;
  log.lane = &lane;
  log.pending = {};
}

void Tracer::pass_collective(int warp, Collective kind, unsigned mask, std::uint32_t pc) {
  ++counters_.at(pc, kNoArray).collectives;
  if (kind != Collective::sync) return;  // shuffles and votes order no memory
  merges_[warp].close();
  std::uint32_t present = 0;
  for (int l = 0; l < worker_.lanes_in_warp(warp); ++l) {
    if (!worker_.warp(warp)[l].is_over()) present |= 1u << l;
  }
  clock_.pass_warp_barrier(static_cast<unsigned>(warp), mask, present);
}

void Tracer::pass_barrier(const Lane* lanes, int count) {
  const Lane* first = nullptr;
  const Lane* missing = nullptr;
  std::set<std::uint32_t> pcs;
  for (int t = 0; t < count; ++t) {
    if (lanes[t].state == LaneState::ended && missing == nullptr) missing = &lanes[t];
    if (lanes[t].state != LaneState::at_barrier) continue;
    if (first == nullptr) first = &lanes[t];
    pcs.insert(lanes[t].pc);
  }
  if (missing != nullptr || pcs.size() > 1) {
    RawFault raw = fault(FaultKind::barrier_not_reached_by_all, 0, first->thread, kNoArray);
    raw.pcs.assign(pcs.begin(), pcs.end());
    raw.story = "thread " + text(first->index) + " waits at {0}, ";
    if (missing != nullptr) {
      raw.threads.push_back(missing->index);
      raw.story += "but thread " + text(missing->index) + " has ended";
    }
    for (std::size_t i = 1; i < pcs.size(); ++i) {
      raw.story += (i > 1 || missing != nullptr ? ", others wait at {" : "others wait at {") +
                   std::to_string(i) + "}";
    }
    raw.only_if_lines_differ = missing == nullptr;
    faults_.add(std::move(raw));
  }
  ++counters_.at(first->pc, kNoArray).barriers;
  for (VectorMerge& merge : merges_) merge.close();
  clock_.pass_barrier();
}

void Tracer::report_absent_lanes(int warp, const std::vector<Lane*>& stuck) {
  block_has_stopped_lanes_ = true;
  const Lane& first = *stuck[0];
  unsigned here = 0;
  std::set<std::uint32_t> pcs;
  for (const Lane* lane : stuck) {
    here |= 1u << lane->thread % 32;
    pcs.insert(lane->pc);
  }
  RawFault raw = fault(FaultKind::absent_lanes, 0, first.thread, kNoArray);
  raw.pcs.assign(pcs.begin(), pcs.end());
  if ((first.mask >> first.thread % 32 & 1) == 0) {
    raw.story = "thread " + text(first.index) + " calls a collective whose mask does not name it";
  } else {
    unsigned absent = first.mask & ~here;
    raw.story = "thread " + text(first.index) + " waits for lanes of warp " + std::to_string(warp) +
                " that do not come";
    if (absent != 0) {
      raw.story += ", the first is lane " + std::to_string(std::countr_zero(absent));
    }
  }
  raw.story += ", at {0}";
  for (std::size_t i = 1; i < pcs.size(); ++i) raw.story += " and {" + std::to_string(i) + "}";
  faults_.add(std::move(raw));
}

std::string Tracer::array_name(ArrayNumber array) const {
  if (array == kNoArray) return "";
  if (array >= kFirstGlobal) return launch_->allocations[array - kFirstGlobal]->name;
  if (array == static_arrays_.dynamic()) return "dynamic shared memory";
  return static_arrays_[array].name;
}

std::uintptr_t Tracer::array_base(ArrayNumber array) const {
  if (array >= kFirstGlobal) return launch_->allocations[array - kFirstGlobal]->base;
  if (array == static_arrays_.dynamic()) return dynamic_low_;
  return static_low_ + static_arrays_[array].offset - static_arrays_.first();
}

RawFault Tracer::fault(FaultKind kind, std::uint32_t pc, unsigned thread, ArrayNumber array) const {
  RawFault raw;
  raw.kind = kind;
  raw.pcs = {pc};
  raw.block_number = block_number_;
  raw.block = worker_.block_index();
  raw.threads = {worker_.warp(0)[thread].index};
  raw.array = array_name(array);
  return raw;
}

std::string Tracer::extent_text(ArrayNumber array, std::uint64_t address, unsigned bytes) const {
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes") + " of " + array_name(array) +
         " from byte " + std::to_string(address - array_base(array)) + " on";
}

std::string Tracer::thread_text(unsigned thread) const {
  return text(worker_.warp(0)[thread].index);
}

}  // namespace sevenloops::simt
