// Requests to shared memory against what the block did before.

#include "gpu/simt/tracer.hpp"
#include "gpu/simt/worker.hpp"

namespace sevenloops::simt {

SharedRegion& Tracer::region_of(ArrayNumber array) {
  return array == static_arrays_.dynamic() ? dynamic_region_ : static_region_;
}

void Tracer::use_array(ArrayNumber array) {
  if (array == static_arrays_.dynamic() || is_used_[array]) return;
  is_used_[array] = true;
  used_arrays_.push_back(array);
}

void Tracer::check_shared(const Request& request) {
  use_array(request.array);
  if (request.kind == AccessKind::read) return check_shared_read(request);
  check_shared_write(request);
}

// Does lane i touch bytes that an asynchronous copy is about to write?
bool Tracer::find_in_flight(const Request& request, int i) {
  SharedRegion& region = region_of(request.array);
  const std::size_t offset = request.address[i] - region.low;
  if (none_set(region.in_flight.data(), offset, request.bytes)) return false;
  RawFault raw =
      fault(FaultKind::async_copy_not_awaited, request.pc, request.thread(i), request.array);
  raw.story = "thread " + thread_text(request.thread(i)) +
              (request.kind == AccessKind::read ? " reads " : " writes ") +
              extent_text(request.array, request.address[i], request.bytes) +
              " before the asynchronous copy to it was waited for, at {0}";
  faults_.add(std::move(raw));
  return true;
}

void Tracer::check_shared_read(const Request& request) {
  SharedRegion& region = region_of(request.array);
  const auto warp = static_cast<unsigned>(request.warp);
  const auto offset = [&](int i) { return request.address[i] - region.low; };
  std::uint32_t skip = 0;  // lanes about which enough was said
  if (bytes_in_flight_ > 0) {
    for (int i = 0; i < request.count; ++i) {
      if (find_in_flight(request, i)) skip |= 1u << i;
    }
  }
  // Was it written in this block?
  const std::size_t together = request.is_uniform ? request.bytes
                               : request.is_dense ? std::size_t{request.bytes} * request.count
                                                  : 0;
  if (together == 0 || !all_set(region.written.data(), offset(0), together)) {
    for (int i = 0; i < request.count && !block_has_stopped_lanes_; ++i) {
      if ((skip >> i & 1) != 0 || all_set(region.written.data(), offset(i), request.bytes))
        continue;
      RawFault raw =
          fault(FaultKind::shared_uninitialized_read, request.pc, request.thread(i), request.array);
      raw.story = "thread " + thread_text(request.thread(i)) + " reads " +
                  extent_text(request.array, request.address[i], request.bytes) +
                  ", which the block has not written, at {0}";
      faults_.add(std::move(raw));
    }
  }
  // Does it race with a write?
  const auto report_for = [&](int i) {
    return [this, &request, i](const Race& race) { report_race(race, request, i, false); };
  };
  if (request.is_uniform && skip == 0) {
    return region.races.read(offset(0), request.bytes, warp, request.lanes, request.pc,
                             report_for(0));
  }
  for (int i = 0; i < request.count; ++i) {
    if ((skip >> i & 1) != 0) continue;
    region.races.read(offset(i), request.bytes, warp, 1u << request.lane[i], request.pc,
                      report_for(i));
  }
}

void Tracer::check_shared_write(const Request& request) {
  SharedRegion& region = region_of(request.array);
  const auto offset = [&](int i) { return request.address[i] - region.low; };
  const bool atomic = request.kind == AccessKind::atomic;
  for (int i = 0; i < request.count; ++i) {
    if (bytes_in_flight_ > 0 && request.kind != AccessKind::async_arrival) {
      if (find_in_flight(request, i)) continue;
    }
    if (atomic && !all_set(region.written.data(), offset(i), request.bytes) &&
        !block_has_stopped_lanes_) {
      RawFault raw =
          fault(FaultKind::shared_uninitialized_read, request.pc, request.thread(i), request.array);
      raw.story = "thread " + thread_text(request.thread(i)) + " changes " +
                  extent_text(request.array, request.address[i], request.bytes) +
                  ", which the block has not written, at {0}";
      faults_.add(std::move(raw));
    }
    region.races.write(offset(i), request.bytes, request.thread(i), request.kind, request.pc,
                       [&](const Race& race) { report_race(race, request, i, true); });
    if (request.kind == AccessKind::async_begin) {
      set_bits(region.in_flight.data(), offset(i), request.bytes);
      bytes_in_flight_ += request.bytes;
      continue;
    }
    if (request.kind == AccessKind::async_arrival) {
      clear_bits(region.in_flight.data(), offset(i), request.bytes);
      bytes_in_flight_ -= std::min<std::uint64_t>(bytes_in_flight_, request.bytes);
    }
    if (!request.is_dense) set_bits(region.written.data(), offset(i), request.bytes);
  }
  if (request.is_dense && request.kind != AccessKind::async_begin) {
    set_bits(region.written.data(), offset(0), std::size_t{request.bytes} * request.count);
  }
}

void Tracer::report_race(const Race& race, const Request& request, int i, bool writes) {
  const bool is_arrival = request.kind == AccessKind::async_arrival;
  if (race.before_is_arrival || is_arrival) {
    // Whoever waited in time lies behind a barrier: here somebody did not.
    const bool other_is_before = is_arrival;
    const unsigned other = other_is_before ? race.before_thread : race.thread;
    RawFault raw = fault(FaultKind::async_copy_not_awaited,
                         other_is_before ? race.before_pc : request.pc, other, request.array);
    raw.story = "thread " + thread_text(other) + " touches " +
                extent_text(request.array, request.address[i], request.bytes) +
                " at {0} with no barrier after the asynchronous copy to it was waited for";
    return faults_.add(std::move(raw));
  }
  struct One {
    unsigned thread;
    std::uint32_t pc;
    bool writes;
  };
  One low{race.before_thread, race.before_pc, race.before_writes};
  One high{race.thread, request.pc, writes};
  if (high.thread < low.thread) std::swap(low, high);
  RawFault raw = fault(FaultKind::shared_race, low.pc, low.thread, request.array);
  raw.pcs.push_back(high.pc);
  raw.threads.push_back(worker_.warp(0)[high.thread].index);
  const auto does = [](const One& one) { return one.writes ? " writes " : " reads "; };
  raw.story = "thread " + thread_text(low.thread) + does(low) +
              extent_text(request.array, request.address[i], request.bytes) +
              " at {0} and thread " + thread_text(high.thread) + does(high) +
              "it at {1}, with no barrier between them";
  faults_.add(std::move(raw));
}

}  // namespace sevenloops::simt
