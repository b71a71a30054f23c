#pragma once
// The traced side of a worker: what lanes write down, how it is read warp by warp, what is checked
// and counted. Parts: access.cpp (on the lanes' fibers), replay.cpp (logs become requests),
// check_shared.cpp, check_global.cpp (requests against what is known), tracer.cpp (the rest).

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gpu/simt/arrays.hpp"
#include "gpu/simt/counter_table.hpp"
#include "gpu/simt/faults.hpp"
#include "gpu/simt/lane.hpp"
#include "gpu/simt/launch_state.hpp"
#include "gpu/simt/log.hpp"
#include "gpu/simt/request.hpp"
#include "gpu/simt/shared_region.hpp"
#include "gpu/simt/vector_merge.hpp"
#include "gpu/simt/warp_clock.hpp"

namespace sevenloops::simt {

class Tracer {
 public:
  explicit Tracer(Worker& worker);

  // From the scheduler.
  void begin_launch(LaunchState& launch);
  void end_launch();
  void begin_block(std::uint64_t number);
  void begin_lane(Lane& lane);
  LaneLog& log_of(const Lane& lane) { return logs_[lane.thread]; }
  /// The lane has waited or ended without the access that an index out of range announced.
  void settle(Lane& lane);
  /// Reads what the lanes of `warp` wrote as far as it can be merged. True: lanes that waited for
  /// room in their logs may go on.
  bool read_logs(int warp);
  void pass_collective(int warp, Collective kind, unsigned mask, std::uint32_t pc);
  /// All lanes that have not ended wait at a barrier, which will now let them pass.
  void pass_barrier(const Lane* lanes, int count);
  /// `stuck` wait for lanes that do not come; they will be stopped.
  void report_absent_lanes(int warp, const std::vector<Lane*>& stuck);

  // On the fiber of a lane.
  /// A return address as an address in the program's file.
  std::uint32_t pc_of(const void* return_address) const {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(return_address) - code_);
  }
  /// An access that is about to happen. Does not return when it must not.
  void access(LaneLog& log, std::uintptr_t address, unsigned bytes, AccessKind kind,
              std::uint32_t pc);
  /// The lane enters a basic block.
  void enter_block(LaneLog& log, std::uint32_t pc);
  void count_fma(std::uint32_t pc) { counters_.at(pc, kNoArray).flops += 2; }
  /// A compiler's own check found `index` outside of an array of `type`, "float [4][64]". Does not
  /// return when the array is a thread's own.
  void index_outside(LaneLog& log, std::string_view type, std::int64_t index, std::uint32_t pc);
  /// A TensorView was indexed out of range: `sentence` says how. The lane must be stopped then.
  void report_index(const Lane& lane, const std::string& sentence, std::uint32_t pc);

 private:
  // access.cpp
  struct Known {  // the allocation that an instruction met last
    std::uintptr_t base = 0;
    std::size_t bytes = 0;
    ArrayNumber array = kNoArray;
    bool read_only = false;
  };
  ArrayNumber find_global(std::uintptr_t address, unsigned bytes, AccessKind kind,
                          std::uint32_t pc);
  void append(LaneLog& log, const Record& record);
  void heed_alarm(LaneLog& log, const Record& record);
  bool check_pending(LaneLog& log, std::uintptr_t address);
  void report_pending(LaneLog& log);
  bool is_local(LaneLog& log, std::string_view type, std::int64_t index, std::uint32_t pc);
  [[gnu::noinline]] ArrayNumber outside(LaneLog& log, std::uintptr_t address, unsigned bytes,
                                        AccessKind kind, std::uint32_t pc);
  [[noreturn]] void stop(LaneLog& log);
  void report_outside(const Lane& lane, std::uintptr_t address, unsigned bytes, AccessKind kind,
                      std::uint32_t pc);
  void report_misaligned(const Lane& lane, ArrayNumber array, std::uintptr_t address,
                         unsigned bytes, AccessKind kind, std::uint32_t pc);

  // replay.cpp
  void read_alike(Request& request);
  void read_lowest(Request& request);
  void process(Request& request);

  // check_shared.cpp
  SharedRegion& region_of(ArrayNumber array);
  void check_shared(const Request& request);
  void check_shared_read(const Request& request);
  void check_shared_write(const Request& request);
  bool find_in_flight(const Request& request, int i);
  void report_race(const Race& race, const Request& request, int i, bool writes);
  void use_array(ArrayNumber array);

  // check_global.cpp
  void check_global(const Request& request);
  void check_initialized(const Request& request, int i);
  void note_writer(const Request& request, int i);
  void report_block_race(const Request& request, int i, ArrayNumber array,
                         std::uint64_t other_block, std::uint32_t other_pc);

  // tracer.cpp
  std::string array_name(ArrayNumber array) const;
  /// Start of `array` for the OS thread that runs this worker.
  std::uintptr_t array_base(ArrayNumber array) const;
  RawFault fault(FaultKind kind, std::uint32_t pc, unsigned thread, ArrayNumber array) const;
  /// "4 bytes of tile from byte 12 on"
  std::string extent_text(ArrayNumber array, std::uint64_t address, unsigned bytes) const;
  std::string thread_text(unsigned thread) const;

  Worker& worker_;
  LaunchState* launch_ = nullptr;
  const StaticArrays& static_arrays_;
  std::uint64_t block_number_ = 0;
  bool block_has_stopped_lanes_ = false;  // what these did not write is not the others' fault

  // Where memory lies.
  std::uintptr_t code_ = 0;  // load address of the program
  std::uintptr_t static_low_ = 0, dynamic_low_ = 0;
  std::size_t static_bytes_ = 0, dynamic_bytes_ = 0;
  static constexpr int kKnown = 64;
  std::array<Known, kKnown> known_;

  // Logs. Only lanes of the running warp have records, so warps share the room.
  static constexpr int kLogRecords = 256;
  std::unique_ptr<std::array<Record, kLogRecords>[]> records_;
  std::array<LaneLog, 1024> logs_;
  std::vector<LaneLog*> readable_;  // those of the warp with records, while it is read

  // Checks.
  WarpClock clock_;
  SharedRegion static_region_, dynamic_region_;
  std::vector<ArrayNumber> used_arrays_;  // static ones that this launch touched
  std::vector<bool> is_used_;
  std::uint64_t bytes_in_flight_ = 0;  // upper bound, of this block's asynchronous copies
  FaultLog faults_;

  // Counters.
  CounterTable counters_;
  std::vector<VectorMerge> merges_;  // of each warp
};

}  // namespace sevenloops::simt
