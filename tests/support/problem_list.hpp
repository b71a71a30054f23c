#pragma once
// The problem files in tests/problems: one problem a line, each with a reason.

#include <istream>
#include <ostream>
#include <string>
#include <vector>

#include "reference/conv2d/problem.hpp"

namespace sevenloops::testing {

struct ListedProblem {
  Conv2dProblem prob;
  std::string text;    ///< print(prob)
  std::string reason;  ///< why it is in the list
};

/// How GoogleTest prints parameters.
inline void PrintTo(const ListedProblem& problem, std::ostream* out) {
  *out << problem.text << " (" << problem.reason << ")";
}

/// Reads lines "<problem text> # <reason>"; empty lines and those that begin with '#' do not count.
/// Throws Error "<name>:<line>: ..." for a text that cannot be parsed or is not as print() writes
/// it, a missing reason, a repeated problem, and a file without problems.
std::vector<ListedProblem> read_problems(std::istream& in, const std::string& name);

/// The problems of tests/problems/<file>.
std::vector<ListedProblem> listed_problems(const std::string& file);

}  // namespace sevenloops::testing
