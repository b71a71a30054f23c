#pragma once
// The main job: all stages on one problem, proved right and put side by side.

#include <optional>
#include <string>

#include "bench/cli/report_json.hpp"
#include "bench/cli/subject.hpp"

namespace sevenloops {

struct CompareOptions {
  SubjectOptions subject;
  Parameters parameters;  ///< of the user's own tensors
  std::string x, w, y;    ///< their files, empty when there are none
  std::string json;       ///< where to write the results, empty for nowhere
  std::string by;         ///< "", "line" or "array": further tables
  std::string sample;     ///< about so many blocks of a launch are traced, 0 = all, empty = decide
};

/// Each prints its tables to standard output, puts its rows into `results`, and returns the exit
/// code. `own` are the user's operands.
template <typename T>
int compare_in_emulator(const CompareOptions& options, const Subject& subject,
                        const Conv2dOperands<T>* own, Json& results);
template <typename T>
int compare_on_gpu(const CompareOptions& options, const Subject& subject,
                   const Conv2dOperands<T>* own, Json& results);

}  // namespace sevenloops
