// The functions of runtime.hpp: what a thread asks while it runs.

#include <atomic>

#include "gpu/simt/image.hpp"
#include "gpu/simt/runtime.hpp"
#include "gpu/simt/tracer.hpp"
#include "gpu/simt/worker.hpp"

namespace sevenloops::simt {
namespace {

// Where a call returns to, as an address in the file.
std::uint32_t call_site(const Lane& lane, const void* return_address) {
  return lane.worker->tracer().pc_of(return_address);
}

// Not memcpy(), which traced programs replace.
void copy_now(const PendingCopy& copy) {
  const auto* from = static_cast<const std::uint32_t*>(copy.global);
  for (std::uint32_t i = 0; i < copy.bytes / 4; ++i) {
    static_cast<std::uint32_t*>(copy.shared)[i] = from == nullptr ? 0 : from[i];
  }
}

Index index_of(const Triple& t) { return {t[0], t[1], t[2]}; }

}  // namespace

Index thread_index() noexcept { return current_lane->index; }
Index block_index() noexcept { return current_lane->worker->block_index(); }
Index block_extent() noexcept { return index_of(current_lane->worker->launch().launch->block); }
Index grid_extent() noexcept { return index_of(current_lane->worker->launch().launch->grid); }
void* dynamic_shared_memory() noexcept { return current_lane->worker->dynamic_memory(); }

BarrierVotes barrier(int predicate) {
  Lane& lane = *current_lane;
  lane.predicate = predicate;
  lane.pc = call_site(lane, __builtin_return_address(0));
  lane.worker->wait(lane, LaneState::at_barrier);
  return lane.votes;
}

std::uint64_t collective(Collective kind, unsigned mask, std::uint64_t value, unsigned source) {
  Lane& lane = *current_lane;
  lane.kind = kind;
  lane.mask = mask;
  lane.value = value;
  lane.source = source;
  lane.pc = call_site(lane, __builtin_return_address(0));
  if ((mask >> lane.thread % 32 & 1) == 0) {
    if (traced_lane != nullptr) {
      const Untraced untraced;
      lane.worker->tracer().report_absent_lanes(lane.thread / 32, {&lane});
    } else {
      lane.worker->launch().fail(block_index(), lane.index,
                                 "calls a warp collective whose mask does not name it");
    }
    lane.worker->stop(lane);
  }
  lane.worker->wait(lane, LaneState::at_collective);
  return lane.result;
}

unsigned active_lanes() {
  const Lane& self = *current_lane;
  const int warp = self.thread / 32;
  unsigned active = 0;
  for (int l = 0; l < self.worker->lanes_in_warp(warp); ++l) {
    if (!self.worker->warp(warp)[l].is_over()) active |= 1u << l;
  }
  return active;
}

template <typename T>
T atomic_add(T* memory, T value) {
  return std::atomic_ref<T>(*memory).fetch_add(value);
}
template float atomic_add(float*, float);
template double atomic_add(double*, double);
template int atomic_add(int*, int);
template unsigned atomic_add(unsigned*, unsigned);
template unsigned long long atomic_add(unsigned long long*, unsigned long long);

template <typename T>
T atomic_exchange(T* memory, T value) {
  return std::atomic_ref<T>(*memory).exchange(value);
}
template float atomic_exchange(float*, float);
template double atomic_exchange(double*, double);
template int atomic_exchange(int*, int);
template unsigned atomic_exchange(unsigned*, unsigned);
template unsigned long long atomic_exchange(unsigned long long*, unsigned long long);

template <typename T>
T atomic_max(T* memory, T value) {
  std::atomic_ref<T> shared(*memory);
  T before = shared.load();
  while (before < value && !shared.compare_exchange_weak(before, value)) {
  }
  return before;
}
template int atomic_max(int*, int);
template unsigned atomic_max(unsigned*, unsigned);
template unsigned long long atomic_max(unsigned long long*, unsigned long long);

template <typename T>
T atomic_min(T* memory, T value) {
  std::atomic_ref<T> shared(*memory);
  T before = shared.load();
  while (value < before && !shared.compare_exchange_weak(before, value)) {
  }
  return before;
}
template int atomic_min(int*, int);
template unsigned atomic_min(unsigned*, unsigned);
template unsigned long long atomic_min(unsigned long long*, unsigned long long);

template <typename T>
T atomic_compare_exchange(T* memory, T expected, T value) {
  std::atomic_ref<T>(*memory).compare_exchange_strong(expected, value);
  return expected;
}
template int atomic_compare_exchange(int*, int, int);
template unsigned atomic_compare_exchange(unsigned*, unsigned, unsigned);
template unsigned long long atomic_compare_exchange(unsigned long long*, unsigned long long,
                                                    unsigned long long);

void async_copy(void* shared, const void* global, std::size_t bytes) {
  Lane& lane = *current_lane;
  const auto size = static_cast<std::uint32_t>(bytes);
  if (LaneLog* log = traced_lane) {
    const std::uint32_t pc = call_site(lane, __builtin_return_address(0));
    const auto to = reinterpret_cast<std::uintptr_t>(shared);
    const auto from = reinterpret_cast<std::uintptr_t>(global);
    // Two records of one instruction must keep their order: the first seems to come earlier.
    if (global != nullptr) log->tracer->access(*log, from, size, AccessKind::read, pc - 1);
    log->tracer->access(*log, to, size, AccessKind::async_begin, pc);
  }
  const Untraced untraced;
  lane.copies.push_back({shared, global, size, lane.copy_group});
}

void async_commit() { ++current_lane->copy_group; }

void async_wait(int groups_in_flight) {
  Lane& lane = *current_lane;
  LaneLog* log = traced_lane;
  const std::uint32_t pc = call_site(lane, __builtin_return_address(0));
  std::size_t kept = 0;
  for (std::size_t i = 0; i < lane.copies.size(); ++i) {
    const PendingCopy copy = lane.copies[i];
    // Copies not yet committed belong to no group, so nobody waits for them.
    const std::int64_t groups_after = std::int64_t{lane.copy_group} - 1 - copy.group;
    if (groups_after < 0 || groups_after < groups_in_flight) {
      lane.copies[kept++] = copy;
      continue;
    }
    copy_now(copy);
    if (log == nullptr) continue;
    log->tracer->access(*log, reinterpret_cast<std::uintptr_t>(copy.shared), copy.bytes,
                        AccessKind::async_arrival, pc);
  }
  const Untraced untraced;
  lane.copies.erase(lane.copies.begin() + static_cast<std::ptrdiff_t>(kept), lane.copies.end());
}

}  // namespace sevenloops::simt
