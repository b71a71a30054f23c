#include "bench/cli/version.hpp"

namespace sevenloops {

std::string version() { return SEVENLOOPS_VERSION; }

std::string commit() {
  return
#include "commit.inc"
      ;
}

}  // namespace sevenloops
