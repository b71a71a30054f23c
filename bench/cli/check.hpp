#pragma once
// Is a stage right? Every tier of verification, one line each.

#include <string>

#include "bench/cli/subject.hpp"
#include "gpu/conv2d/verify.hpp"

namespace sevenloops {

/// How one kind of check went.
struct CheckResult {
  std::string name;  ///< "exact", what --only takes
  bool pass = false;
  std::string detail;  ///< what was found right, or the sentence that says what is wrong
};

/// "error at most 0.12 of the bound, bit for bit the twin's", or the failure.
CheckResult result_of(const std::string& name, const Verdict& verdict);

/// The command that repeats one check alone.
std::string repeat_command(const Subject& subject, const std::string& stage,
                           const std::string& check);

}  // namespace sevenloops
