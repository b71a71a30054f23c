#include <sched.h>

#include <condition_variable>
#include <exception>
#include <functional>
#include <limits>
#include <set>
#include <thread>

#include "gpu/simt/image.hpp"
#include "gpu/simt/index_error.hpp"
#include "gpu/simt/launch_state.hpp"
#include "gpu/simt/session.hpp"
#include "gpu/simt/worker.hpp"
#include "reference/core/error.hpp"

namespace sevenloops::simt {
namespace {

constexpr std::size_t kMaxShared = 227 * 1024;  // of a block, on the largest GPUs
constexpr std::size_t kMaxStaticShared = 48 * 1024;

int core_count() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

/// Workers and the OS threads that drive them, kept between launches. Worker 0 is driven by the
/// thread that launches.
class Pool {
 public:
  static Pool& get() {
    static Pool pool;
    return pool;
  }

  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  /// Runs the launch by `count` workers; returns when all are done.
  void run(LaunchState& launch, int count) {
    const std::lock_guard one_at_a_time(launching_);
    while (static_cast<int>(workers_.size()) < count) {
      const int number = static_cast<int>(workers_.size());
      Worker* worker = workers_.emplace_back(std::make_unique<Worker>()).get();
      if (number == 0) continue;
      threads_.emplace_back([=, this, turn = turn_] { serve(*worker, number, turn); });
    }
    {
      const std::lock_guard lock(mutex_);
      launch_ = &launch;
      wanted_ = count;
      busy_ = count - 1;
      ++turn_;
    }
    if (count > 1) wake_.notify_all();
    run_by(*workers_[0], launch);
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return busy_ == 0; });
  }

 private:
  // What a worker cannot get, memory for instance, fails the launch and not the program.
  static void run_by(Worker& worker, LaunchState& launch) {
    try {
      worker.run(launch);
    } catch (const std::exception& error) {
      const std::lock_guard lock(launch.mutex);
      launch.failed = true;
      if (launch.failure.empty()) launch.failure = launch.kernel + ": " + error.what();
    }
  }

  void serve(Worker& worker, int number, std::uint64_t turn) {
    for (;;) {
      LaunchState* launch = nullptr;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return ending_ || turn_ != turn; });
        if (ending_) return;
        turn = turn_;
        if (number >= wanted_) continue;
        launch = launch_;
      }
      run_by(worker, *launch);
      {
        const std::lock_guard lock(mutex_);
        --busy_;
      }
      done_.notify_one();
    }
  }

  std::mutex launching_, mutex_;
  std::condition_variable wake_, done_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::thread> threads_;
  LaunchState* launch_ = nullptr;
  std::uint64_t turn_ = 0;
  int wanted_ = 0, busy_ = 0;
  bool ending_ = false;
};

// About `count` of the blocks: the corners of the grid, the middles of its edges and faces and its
// center, the rest evenly spread.
std::vector<std::uint64_t> sample_of(const Triple& grid, std::uint64_t count) {
  std::set<std::uint64_t> blocks;
  const std::uint64_t gx = grid[0], gy = grid[1], gz = grid[2], total = gx * gy * gz;
  for (const std::uint64_t z : {std::uint64_t{0}, gz - 1, gz / 2}) {
    for (const std::uint64_t y : {std::uint64_t{0}, gy - 1, gy / 2}) {
      for (const std::uint64_t x : {std::uint64_t{0}, gx - 1, gx / 2}) {
        if (blocks.size() < count) blocks.insert((z * gy + y) * gx + x);
      }
    }
  }
  const std::uint64_t spread = count - std::min<std::uint64_t>(count, blocks.size());
  for (std::uint64_t i = 0; i < spread; ++i) blocks.insert(total / spread * i + total / spread / 2);
  return {blocks.begin(), blocks.end()};
}

std::size_t static_shared_bytes(const Launch& launch) {
  std::size_t bytes = 0;
  for (const SharedArray* array : Image::get().shared_arrays_of(launch.kernel, launch.traced)) {
    bytes += array->bytes;
  }
  return bytes;
}

}  // namespace

void LaunchState::fail(const Index& block, const Index& thread, const std::string& sentence) {
  const auto text = [](const Index& i) {
    return "(" + std::to_string(i.x) + "," + std::to_string(i.y) + "," + std::to_string(i.z) + ")";
  };
  const std::lock_guard lock(mutex);
  failed = true;
  if (failure.empty()) {
    failure = kernel + ": thread " + text(thread) + " of block " + text(block) + " " + sentence;
  }
}

void require_possible(const Triple& grid, const Triple& block, std::size_t static_bytes,
                      std::size_t dynamic_bytes) {
  const char* const axes[] = {"x", "y", "z"};
  const std::uint32_t max_grid[] = {std::numeric_limits<std::int32_t>::max(), 65535, 65535};
  const std::uint32_t max_block[] = {1024, 1024, 64};
  const auto require = [&](const char* what, int axis, std::uint32_t value, std::uint32_t max) {
    if (value >= 1 && value <= max) return;
    throw Error(std::string(what) + " extent " + axes[axis], value,
                "be at least 1 and at most " + std::to_string(max));
  };
  for (int axis = 0; axis < 3; ++axis) {
    require("the grid's", axis, grid[axis], max_grid[axis]);
    require("the block's", axis, block[axis], max_block[axis]);
  }
  const std::uint64_t threads = std::uint64_t{block[0]} * block[1] * block[2];
  if (threads > 1024) {
    throw Error("the number of threads of a block", static_cast<long long>(threads),
                "be at most 1024");
  }
  if (static_bytes > kMaxStaticShared) {
    throw Error("the static shared memory of a block", static_cast<long long>(static_bytes),
                "be at most " + std::to_string(kMaxStaticShared) + " bytes");
  }
  if (dynamic_bytes > kMaxShared || static_bytes + dynamic_bytes > kMaxShared) {
    throw Error("the shared memory of a block",
                static_cast<long long>(static_bytes + dynamic_bytes),
                "be at most " + std::to_string(kMaxShared) + " bytes");
  }
}

void launch(const Launch& request) {
  static std::atomic<std::uint32_t> launches = 0;
  install_index_error_handler();
  LaunchState state;
  state.launch = &request;
  state.options = current_options();
  state.kernel = Image::get().kernel_name(request.kernel);
  state.number = ++launches;
  try {
    require_possible(request.grid, request.block, static_shared_bytes(request),
                     request.dynamic_shared_bytes);
  } catch (const Error& error) {
    if (request.traced) record_impossible_launch(state, error.what());
    throw Error(state.kernel + " cannot be launched: " + error.what());
  }
  const Triple& grid = request.grid;
  state.blocks_total = std::uint64_t{grid[0]} * grid[1] * grid[2];
  const std::uint64_t wanted = request.traced ? state.options.sample_blocks : 0;
  if (wanted > 0 && wanted < state.blocks_total) state.sample = sample_of(grid, wanted);
  state.allocations = all_allocations();

  static const int cores = core_count();
  const int workers = state.options.workers > 0 ? state.options.workers : cores;
  Pool::get().run(state, static_cast<int>(std::min<std::uint64_t>(
                             static_cast<std::uint64_t>(workers), state.blocks_to_run())));
  if (request.traced) record_launch(state, static_shared_bytes(request));
  if (state.failed) throw Error(state.failure);
}

}  // namespace sevenloops::simt
