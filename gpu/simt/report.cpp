#include "gpu/simt/report.hpp"

namespace sevenloops::simt {
namespace {

void add(GlobalTraffic& to, const GlobalTraffic& from) {
  to.requests += from.requests;
  to.sectors += from.sectors;
  to.useful_bytes += from.useful_bytes;
}

void add(SharedTraffic& to, const SharedTraffic& from) {
  to.requests += from.requests;
  to.wavefronts += from.wavefronts;
  to.bank_conflicts += from.bank_conflicts;
  to.merged_requests += from.merged_requests;
  to.merged_wavefronts += from.merged_wavefronts;
  to.merged_bank_conflicts += from.merged_bank_conflicts;
}

}  // namespace

Counters& operator+=(Counters& to, const Counters& from) {
  add(to.global_load, from.global_load);
  add(to.global_store, from.global_store);
  add(to.shared_load, from.shared_load);
  add(to.shared_store, from.shared_store);
  to.atomics += from.atomics;
  to.barriers += from.barriers;
  to.collectives += from.collectives;
  to.flops += from.flops;
  to.warp_blocks += from.warp_blocks;
  to.lane_blocks += from.lane_blocks;
  return to;
}

Counters total(const Report& report) {
  Counters sum;
  for (const LaunchReport& launch : report.launches) sum += launch.counters;
  return sum;
}

const char* name_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::shared_race:
      return "shared-memory race";
    case FaultKind::barrier_not_reached_by_all:
      return "barrier not reached by all";
    case FaultKind::shared_uninitialized_read:
      return "read of unwritten shared memory";
    case FaultKind::shared_overrun:
      return "overrun of a shared array";
    case FaultKind::global_out_of_bounds:
      return "global memory out of bounds";
    case FaultKind::misaligned_access:
      return "misaligned access";
    case FaultKind::global_uninitialized_read:
      return "read of uninitialized global memory";
    case FaultKind::absent_lanes:
      return "warp collective with absent lanes";
    case FaultKind::async_copy_not_awaited:
      return "asynchronous copy not awaited";
    case FaultKind::write_to_const:
      return "write to a read-only input";
    case FaultKind::global_race_between_blocks:
      return "race between blocks";
    case FaultKind::impossible_launch:
      return "impossible launch";
    case FaultKind::index_out_of_range:
      return "index out of range";
  }
  return "unknown fault";
}

}  // namespace sevenloops::simt
