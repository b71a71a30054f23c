#pragma once
// One launch while it runs, shared by its workers.

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "gpu/simt/allocation.hpp"
#include "gpu/simt/emulator.hpp"
#include "gpu/simt/faults.hpp"
#include "gpu/simt/runtime.hpp"

namespace sevenloops::simt {

struct LaunchState {
  const Launch* launch = nullptr;
  Options options;
  std::string kernel;
  std::uint32_t number = 0;  ///< of the launch in this process
  std::uint64_t blocks_total = 0;
  std::vector<std::uint64_t> sample;     ///< the blocks to run; empty: all
  std::atomic<std::uint64_t> next = 0;   ///< the next to be taken
  std::vector<Allocation*> allocations;  ///< by address

  std::mutex mutex;                                                    ///< of what follows
  std::map<std::pair<std::uint32_t, std::string>, Counters> counters;  ///< by pc and array
  FaultLog faults;
  std::string failure;
  std::atomic<bool> failed = false;

  /// Remembers the first failure of a thread; the launch then throws it as an Error.
  void fail(const Index& block, const Index& thread, const std::string& sentence);
  std::uint64_t blocks_to_run() const { return sample.empty() ? blocks_total : sample.size(); }
};

}  // namespace sevenloops::simt
