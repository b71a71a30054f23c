#include "gpu/simt/worker.hpp"

#include <algorithm>
#include <cstring>
#include <random>

#include "gpu/simt/tracer.hpp"

namespace sevenloops::simt {

__thread Lane* current_lane = nullptr;

namespace {

// Around the dynamic shared memory, so that plain overruns hit nothing else.
constexpr std::size_t kDynamicMargin = 64 * 1024;

// What each fiber does: whatever lane it is resumed for, then the next.
void run_lanes(Fiber&) {
  for (;;) {
    Lane& lane = *current_lane;
    const Launch& launch = *lane.worker->launch().launch;
    launch.body(launch.arguments);
    lane.worker->wait(*current_lane, LaneState::ended);
  }
}

}  // namespace

Worker::Worker()
    : fibers_(run_lanes),
      dynamic_storage_(new std::byte[kDynamicMargin + kMaxDynamicBytes + kDynamicMargin]),
      tracer_(std::make_unique<Tracer>(*this)) {
  // Aligned like the banks, so that equal offsets mean equal banks.
  const auto start = reinterpret_cast<std::uintptr_t>(dynamic_storage_.get()) + kDynamicMargin;
  dynamic_memory_ = reinterpret_cast<std::byte*>(start / 1024 * 1024);
}

Worker::~Worker() = default;

void Worker::run(LaunchState& launch) {
  launch_ = &launch;
  begin_launch();
  while (!launch.failed) {
    const std::uint64_t turn = launch.next.fetch_add(1, std::memory_order_relaxed);
    if (turn >= launch.blocks_to_run()) break;
    run_block(launch.sample.empty() ? turn : launch.sample[turn]);
  }
  if (launch.launch->traced) tracer_->end_launch();
  launch_ = nullptr;
}

void Worker::begin_launch() {
  const Launch& launch = *launch_->launch;
  const Triple& block = launch.block;
  threads_ = static_cast<int>(block[0] * block[1] * block[2]);
  warps_ = (threads_ + 31) / 32;
  for (int t = 0; t < threads_; ++t) {
    Lane& lane = lanes_[t];
    const unsigned thread = static_cast<unsigned>(t);
    lane.thread = static_cast<std::uint16_t>(t);
    lane.index = {thread % block[0], thread / block[0] % block[1], thread / block[0] / block[1]};
    lane.worker = this;
  }
  const Options& options = launch_->options;
  warp_order_.resize(warps_);
  lane_order_.resize(warps_);
  for (int w = 0; w < warps_; ++w) {
    const bool reverse = options.order == ThreadOrder::reverse;
    warp_order_[w] = static_cast<std::uint8_t>(reverse ? warps_ - 1 - w : w);
    for (int l = 0; l < 32; ++l) {
      lane_order_[w][l] = static_cast<std::uint8_t>(reverse ? 31 - l : l);
    }
  }
  shared_arrays_ = Image::get().shared_arrays_of(launch.kernel, launch.traced);
  if (launch.traced) tracer_->begin_launch(*launch_);
}

void Worker::set_order(std::uint64_t block) {
  if (launch_->options.order != ThreadOrder::shuffle) return;
  std::minstd_rand random(
      static_cast<unsigned>(launch_->options.seed * 1000003 + block * 7919 + 1));
  std::shuffle(warp_order_.begin(), warp_order_.end(), random);
  for (auto& order : lane_order_) std::shuffle(order.begin(), order.end(), random);
}

void Worker::poison_shared() {
  if (!launch_->options.poison_shared) return;
  const std::uintptr_t storage = Image::get().thread_storage();
  for (const SharedArray* array : shared_arrays_) {
    std::memset(reinterpret_cast<void*>(storage + array->offset), 0xFF, array->bytes);
  }
  std::memset(dynamic_memory_, 0xFF, launch_->launch->dynamic_shared_bytes);
}

void Worker::run_block(std::uint64_t number) {
  const Triple& grid = launch_->launch->grid;
  block_index_ = {static_cast<unsigned>(number % grid[0]),
                  static_cast<unsigned>(number / grid[0] % grid[1]),
                  static_cast<unsigned>(number / grid[0] / grid[1])};
  poison_shared();
  set_order(number);
  for (int t = 0; t < threads_; ++t) {
    lanes_[t].state = LaneState::fresh;
    lanes_[t].copies.clear();
    lanes_[t].copy_group = 0;
  }
  if (launch_->launch->traced) tracer_->begin_block(number);
  do {
    for (const int warp : warp_order_) run_warp(warp);
  } while (release_barrier());
}

void Worker::run_warp(int number) {
  const bool traced = launch_->launch->traced;
  Lane* lanes = warp(number);
  const int count = lanes_in_warp(number);
  for (;;) {
    bool ran = false;
    for (const int l : lane_order_[number]) {
      if (l >= count) continue;
      if (lanes[l].state != LaneState::fresh && lanes[l].state != LaneState::ready) continue;
      run_lane(lanes[l]);
      ran = true;
    }
    if (traced) ran = tracer_->read_logs(number) || ran;
    if (!ran && !release_collectives(number) && !stop_stuck_lanes(number)) return;
  }
}

void Worker::run_lane(Lane& lane) {
  if (lane.state == LaneState::fresh) {
    lane.fiber = fibers_.take();
    if (launch_->launch->traced) tracer_->begin_lane(lane);
  }
  current_lane = &lane;
  traced_lane = launch_->launch->traced ? &tracer_->log_of(lane) : nullptr;
  fibers_.resume(*lane.fiber);
  current_lane = nullptr;
  traced_lane = nullptr;
  if (launch_->launch->traced) tracer_->settle(lane);
  if (lane.state == LaneState::ended) fibers_.put_back(lane.fiber);
  if (lane.state == LaneState::stopped) fibers_.abandon(lane.fiber);
}

void Worker::wait(Lane& lane, LaneState state) {
  lane.state = state;
  fibers_.suspend(*lane.fiber);
}

void Worker::stop(Lane& lane) {
  wait(lane, LaneState::stopped);
  __builtin_unreachable();
}

bool Worker::release_collectives(int number) {
  Lane* lanes = warp(number);
  const int count = lanes_in_warp(number);
  bool released = false;
  for (int l = 0; l < count; ++l) {
    Lane& first = lanes[l];
    if (first.state != LaneState::at_collective) continue;
    unsigned here = 0;
    for (int other = 0; other < count; ++other) {
      const Lane& lane = lanes[other];
      const bool same = lane.state == LaneState::at_collective && lane.kind == first.kind &&
                        lane.mask == first.mask;
      const bool excused = lane.state == LaneState::stopped;
      if (same || excused) here |= 1u << other;
    }
    const unsigned mask = first.mask;
    if ((here & mask) != mask) continue;
    unsigned ballot = 0;
    for (int other = 0; other < count; ++other) {
      if (lanes[other].state == LaneState::at_collective && lanes[other].value != 0) {
        ballot |= mask & 1u << other;
      }
    }
    for (int other = 0; other < count; ++other) {
      Lane& lane = lanes[other];
      if ((mask >> other & 1) == 0 || lane.is_over()) continue;
      const bool named = lane.source < 32 && (mask >> lane.source & 1) != 0;
      if (lane.kind == Collective::sync) lane.result = 0;
      if (lane.kind == Collective::ballot) lane.result = ballot;
      if (lane.kind == Collective::shuffle) {
        lane.result = named ? lanes[lane.source].value : lane.value;
      }
      lane.state = LaneState::ready;
    }
    if (launch_->launch->traced) tracer_->pass_collective(number, first.kind, mask, first.pc);
    released = true;
  }
  return released;
}

// Lanes whose collective names others that will never come: these have ended, or wait elsewhere.
bool Worker::stop_stuck_lanes(int number) {
  Lane* lanes = warp(number);
  std::vector<Lane*> stuck;
  for (int l = 0; l < lanes_in_warp(number); ++l) {
    if (lanes[l].state == LaneState::at_collective) stuck.push_back(&lanes[l]);
  }
  if (stuck.empty()) return false;
  if (launch_->launch->traced) {
    tracer_->report_absent_lanes(number, stuck);
  } else {
    launch_->fail(block_index_, stuck[0]->index,
                  "waits in a warp collective for lanes that do not come");
  }
  for (Lane* lane : stuck) {
    lane->state = LaneState::stopped;
    fibers_.abandon(lane->fiber);
  }
  return true;
}

// Plain builds do as GPUs do: threads that ended are not waited for.
bool Worker::release_barrier() {
  BarrierVotes votes{0, 1, 0};
  bool released = false;
  for (int t = 0; t < threads_; ++t) {
    const Lane& lane = lanes_[t];
    if (lane.state != LaneState::at_barrier) continue;
    released = true;
    if (lane.predicate != 0) {
      ++votes.count;
      votes.any = 1;
    } else {
      votes.all = 0;
    }
  }
  if (!released) return false;
  if (launch_->launch->traced) tracer_->pass_barrier(lanes_.data(), threads_);
  for (int t = 0; t < threads_; ++t) {
    if (lanes_[t].state != LaneState::at_barrier) continue;
    lanes_[t].votes = votes;
    lanes_[t].state = LaneState::ready;
  }
  return true;
}

}  // namespace sevenloops::simt
