#pragma once
// Which sevenloops this is.

#include <string>

namespace sevenloops {

/// "0.1"
std::string version();

/// The commit of the sources when they were built, with "-dirty" when they had changed since;
/// "unknown" outside of a Git repository.
std::string commit();

}  // namespace sevenloops
