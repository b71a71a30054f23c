#pragma once
// Is there enough memory? Asked before anything is allocated.

#include <string>
#include <vector>

#include "gpu/conv2d/stages.hpp"

namespace sevenloops {

/// Bytes that this machine can still give to programs; infinity where it does not say.
double available_bytes();

/// Throws Error that names both sizes when `bytes` are more than available.
void require_memory(double bytes, const std::string& what);

/// Host memory that `execute` and `verify` take at most: operands and their copies, the reference's
/// results, and in the emulator the largest workspace among `stages` (numbers in stages.def).
double verification_bytes(const Conv2dForward::Args& args, const std::vector<int>& stages,
                          Place place);

}  // namespace sevenloops
