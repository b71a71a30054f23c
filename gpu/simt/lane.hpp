#pragma once
// One thread of the block that a worker runs.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpu/simt/fiber.hpp"
#include "gpu/simt/runtime.hpp"

namespace sevenloops::simt {

class Worker;

// A block may ask for 227 KiB on some GPUs; beyond that no launch comes.
inline constexpr std::size_t kMaxDynamicBytes = 256 * 1024;

enum class LaneState : std::uint8_t {
  fresh,          ///< not begun
  ready,          ///< may go on
  log_full,       ///< waits for its log to be read
  at_barrier,     ///< waits for the block
  at_collective,  ///< waits for the warp
  ended,          ///< returned from the kernel
  stopped,        ///< made a mistake after which it cannot go on
};

/// An asynchronous copy that has not arrived; of zeros where `global` is null.
struct PendingCopy {
  void* shared;
  const void* global;
  std::uint32_t bytes, group;
};

struct Lane {
  LaneState state = LaneState::fresh;
  std::uint16_t thread = 0;  ///< in the block
  Index index{};
  Fiber* fiber = nullptr;
  Worker* worker = nullptr;

  // At a barrier or collective.
  Collective kind{};
  unsigned mask = 0, source = 0;
  std::uint64_t value = 0, result = 0;
  int predicate = 0;
  BarrierVotes votes{};
  std::uint32_t pc = 0;  ///< where the call returns to, in the file

  std::vector<PendingCopy> copies;
  std::uint32_t copy_group = 0;

  bool is_over() const { return state == LaneState::ended || state == LaneState::stopped; }
};

}  // namespace sevenloops::simt
