#pragma once
// Faults on their way from a worker to the report.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "gpu/simt/report.hpp"
#include "gpu/simt/runtime.hpp"

namespace sevenloops::simt {

/// A fault whose instructions have not been looked up in the source.
struct RawFault {
  FaultKind kind{};
  std::vector<std::uint32_t> pcs;  ///< in the file; of the calls that told of the access
  std::uint64_t block_number = 0;
  Index block{};
  std::vector<Index> threads;
  std::string array;
  /// What happened; "{0}" stands for the source line of pcs[0], and so on.
  std::string story;
  std::uint64_t count = 1;
  /// No fault after all when all pcs turn out to be one source line.
  bool only_if_lines_differ = false;
};

/// "(1,2,3)"
std::string text(const Index& index);

/// The faults that one worker saw in one launch, equal ones together: the earliest block's, then
/// the lowest threads', is kept.
class FaultLog {
 public:
  void add(RawFault fault);
  /// Hands over everything.
  std::vector<RawFault> take();

 private:
  std::map<std::tuple<FaultKind, std::vector<std::uint32_t>, std::string>, RawFault> faults_;
};

}  // namespace sevenloops::simt
