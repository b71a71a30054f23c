// Prints what each check of the emulator says about one broken kernel: the page docs/emulator.md
// shows this output.

#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "gpu/simt/emulator.hpp"
#include "reference/core/error.hpp"
#include "tests/faults/fault_case.hpp"

namespace {

/// `text` with a line break instead of the last space before column 100.
std::string wrapped(std::string text) {
  constexpr std::size_t kColumns = 100;
  for (std::size_t begin = 0; text.size() - begin > kColumns;) {
    const std::size_t space = text.rfind(' ', begin + kColumns);
    if (space == std::string::npos || space <= begin) break;
    text.replace(space, 1, "\n    ");
    begin = space + 1;
  }
  return text;
}

}  // namespace

int main() {
  using namespace sevenloops;
  using namespace sevenloops::build_traced;
  std::set<simt::FaultKind> shown;
  for (const auto& family : {shared_race_cases(), barrier_cases(), shared_memory_cases(),
                             global_memory_cases(), global_race_cases(), collective_cases(),
                             async_copy_cases(), impossible_launch_cases(), index_range_cases()}) {
    for (const FaultCase& test : family) {
      if (!shown.insert(test.kind).second) continue;
      simt::Session session({.workers = 1});
      try {
        test.run(true);
      } catch (const Error&) {
        // A launch that was refused or cut short; the report below says why.
      }
      if (session.report().faults.empty()) return 1;
      const simt::Fault& fault = session.report().faults.front();
      std::printf("%s\n", wrapped(fault.message).c_str());
    }
  }
  return 0;
}
