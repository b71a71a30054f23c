#pragma once
// One worker: an OS thread that runs blocks, one at a time, each thread of a block on a fiber.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/simt/fiber.hpp"
#include "gpu/simt/image.hpp"
#include "gpu/simt/lane.hpp"
#include "gpu/simt/launch_state.hpp"

namespace sevenloops::simt {

class Tracer;

class Worker {
 public:
  Worker();
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Runs blocks of the launch until there are none left. Called by one OS thread at a time.
  void run(LaunchState& launch);

  // On a lane's fiber.
  /// Waits in `state` until the scheduler lets the lane go on.
  void wait(Lane& lane, LaneState state);
  /// Ends the lane for good, wherever its code stands.
  [[noreturn]] void stop(Lane& lane);

  LaunchState& launch() { return *launch_; }
  Tracer& tracer() { return *tracer_; }
  Index block_index() const { return block_index_; }
  std::byte* dynamic_memory() { return dynamic_memory_; }
  /// The `__shared__` arrays of the kernel.
  const std::vector<const SharedArray*>& shared_arrays() const { return shared_arrays_; }
  Lane* warp(int number) { return &lanes_[32 * number]; }
  int lanes_in_warp(int number) const { return std::min(32, threads_ - 32 * number); }

 private:
  void begin_launch();
  void run_block(std::uint64_t number);
  void poison_shared();
  void set_order(std::uint64_t block);
  void run_warp(int warp);
  void run_lane(Lane& lane);
  bool release_collectives(int warp);
  bool stop_stuck_lanes(int warp);
  bool release_barrier();

  LaunchState* launch_ = nullptr;
  Index block_index_{};
  int threads_ = 0, warps_ = 0;
  std::array<Lane, 1024> lanes_;
  std::vector<std::uint8_t> warp_order_;
  std::vector<std::array<std::uint8_t, 32>> lane_order_;
  FiberPool fibers_;
  std::unique_ptr<std::byte[]> dynamic_storage_;
  std::byte* dynamic_memory_ = nullptr;
  std::vector<const SharedArray*> shared_arrays_;
  std::unique_ptr<Tracer> tracer_;
};

/// The lane that runs on this OS thread, or null.
extern __thread Lane* current_lane;

}  // namespace sevenloops::simt
