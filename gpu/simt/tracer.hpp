#pragma once
#include <vector>

#include "gpu/simt/lane.hpp"
#include "gpu/simt/launch_state.hpp"
namespace sevenloops::simt {
struct LaneLog {};
class Tracer {
 public:
  explicit Tracer(Worker&) {}
  void begin_launch(LaunchState&) {}
  void end_launch() {}
  void begin_block(std::uint64_t) {}
  void begin_lane(Lane&) {}
  LaneLog& log_of(Lane&) { return log_; }
  bool read_logs(int) { return false; }
  void pass_collective(int, Collective, unsigned, std::uint32_t) {}
  void report_absent_lanes(int, const std::vector<Lane*>&) {}
  void pass_barrier(Lane*, int) {}
  void report_index(Lane&, const std::string&, void*) {}
  LaneLog log_;
};
extern __thread LaneLog* traced_lane;
inline void note_async_copy(void*, const void*, std::uint32_t, std::uint32_t) {}
inline void note_async_arrival(const PendingCopy&) {}
}  // namespace sevenloops::simt
