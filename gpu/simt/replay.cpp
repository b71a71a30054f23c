// The logs of a warp's lanes become requests: lanes that stand at the same instruction make one.

#include <algorithm>
#include <cstring>

#include "gpu/simt/tracer.hpp"
#include "gpu/simt/traffic.hpp"
#include "gpu/simt/worker.hpp"

namespace sevenloops::simt {
namespace {

// Instruction, array, size and kind of a record as one number.
std::uint64_t what(const Record& record) {
  std::uint64_t word;
  static_assert(sizeof(Record) == 16);
  std::memcpy(&word, reinterpret_cast<const char*>(&record) + 8, sizeof(word));
  return word;
}

bool can_join(const Record& a, const Record& b) {
  return a.pc == b.pc && a.kind == b.kind && a.bytes == b.bytes &&
         (a.array >= kFirstGlobal) == (b.array >= kFirstGlobal);
}

}  // namespace

bool Tracer::read_logs(int warp) {
  Lane* lanes = worker_.warp(warp);
  const int count = worker_.lanes_in_warp(warp);
  Request request;
  request.warp = warp;
  const auto must_write_more = [&](const LaneLog& log) {
    return log.read == log.next && log.lane->state == LaneState::log_full;
  };
  bool may_go_on = false;
  while (!may_go_on) {
    readable_.clear();
    for (int l = 0; l < count; ++l) {
      LaneLog& log = log_of(lanes[l]);
      if (log.read != log.next) readable_.push_back(&log);
      may_go_on |= must_write_more(log);
    }
    if (readable_.empty() || may_go_on) break;
    read_alike(request);
    if (std::all_of(readable_.begin(), readable_.end(),
                    [](const LaneLog* log) { return log->read != log->next; })) {
      read_lowest(request);
    }
  }
  for (int l = 0; l < count; ++l) {
    LaneLog& log = log_of(lanes[l]);
    if (log.read != log.next) continue;
    if (lanes[l].state == LaneState::log_full) lanes[l].state = LaneState::ready;
    log.read = log.next = log.first;
    log.alarm = log.pending.accesses_left > 0 ? log.first : log.end;
  }
  return may_go_on;
}

// While the next records of all lanes are alike, each row of them is one request.
void Tracer::read_alike(Request& request) {
  const int lanes = static_cast<int>(readable_.size());
  std::array<const Record*, 32> at;
  std::ptrdiff_t rows = kLogRecords;
  request.lanes = 0;
  request.count = lanes;
  for (int i = 0; i < lanes; ++i) {
    const LaneLog& log = *readable_[i];
    at[i] = log.read;
    rows = std::min(rows, log.next - log.read);
    request.lane[i] = static_cast<std::uint8_t>(log.lane->thread % 32);
    request.lanes |= 1u << request.lane[i];
  }
  std::ptrdiff_t row = 0;
  for (; row < rows; ++row) {
    const Record& first = at[0][row];
    const std::uint64_t first_what = what(first);
    std::uint64_t difference = 0;
    for (int i = 0; i < lanes; ++i) {
      difference |= what(at[i][row]) ^ first_what;
      request.address[i] = at[i][row].address;
    }
    if (difference != 0) break;
    if (first.kind == AccessKind::jump) continue;
    request.pc = first.pc;
    request.kind = first.kind;
    request.bytes = first.bytes;
    request.array = first.array;
    process(request);
  }
  for (LaneLog* log : readable_) log->read += row;
}

// The lanes that stand lowest in the program go first, so that those ahead wait for them where
// their ways meet again.
void Tracer::read_lowest(Request& request) {
  const Record* lowest = readable_[0]->read;
  for (const LaneLog* log : readable_) {
    if (log->read->pc < lowest->pc) lowest = log->read;
  }
  const Record chosen = *lowest;
  request.lanes = 0;
  request.count = 0;
  for (LaneLog* log : readable_) {
    const Record& record = *log->read;
    if (!can_join(record, chosen)) continue;
    request.address[request.count] = record.address;
    request.lane[request.count] = static_cast<std::uint8_t>(log->lane->thread % 32);
    request.lanes |= 1u << request.lane[request.count];
    ++request.count;
    ++log->read;
  }
  if (chosen.kind == AccessKind::jump) return;
  request.pc = chosen.pc;
  request.kind = chosen.kind;
  request.bytes = chosen.bytes;
  request.array = chosen.array;
  process(request);
}

void Tracer::process(Request& request) {
  request.classify();
  Counters& counters = counters_.at(request.pc, request.array);
  const bool global = request.is_global();
  switch (request.kind) {
    case AccessKind::read:
      if (global) {
        add_global(counters.global_load, request);
      } else {
        const Wavefronts passes = wavefronts(request);
        ++counters.shared_load.requests;
        counters.shared_load.wavefronts += passes.needed;
        counters.shared_load.bank_conflicts += passes.needed - passes.ideal;
        merges_[request.warp].add(request, passes, counters);
      }
      break;
    case AccessKind::write:
      if (global) {
        add_global(counters.global_store, request);
      } else {
        // Stores are not merged: what is written counts in both ways.
        const Wavefronts passes = wavefronts(request);
        SharedTraffic& traffic = counters.shared_store;
        ++traffic.requests;
        traffic.wavefronts += passes.needed;
        traffic.bank_conflicts += passes.needed - passes.ideal;
        ++traffic.merged_requests;
        traffic.merged_wavefronts += passes.needed;
        traffic.merged_bank_conflicts += passes.needed - passes.ideal;
        merges_[request.warp].close();
      }
      break;
    case AccessKind::atomic:
      ++counters.atomics;
      if (!global) merges_[request.warp].close();
      break;
    case AccessKind::async_arrival:
      merges_[request.warp].close();
      break;
    default:
      break;
  }
  if (request.kind <= AccessKind::atomic) {
    ++counters.warp_blocks;
    counters.lane_blocks += static_cast<std::uint64_t>(request.count);
  }
  global ? check_global(request) : check_shared(request);
}

}  // namespace sevenloops::simt
