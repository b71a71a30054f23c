#pragma once
// What a request costs: sectors of global memory, passes through the banks of shared memory.

#include "gpu/simt/report.hpp"
#include "gpu/simt/request.hpp"

namespace sevenloops::simt {

/// Adds a request to global memory: distinct 32-byte sectors, distinct bytes.
void add_global(GlobalTraffic& traffic, const Request& request);

struct Wavefronts {
  unsigned needed = 0, ideal = 0;
};

/// Passes through 32 banks of 4 bytes. A word that several lanes want is delivered to all at once.
/// Accesses of up to 8 bytes are served for the whole warp, 16-byte ones for each half; a pass
/// delivers one word a bank. `ideal` is what the same number of words needs without conflicts.
Wavefronts wavefronts(const Request& request);

}  // namespace sevenloops::simt
