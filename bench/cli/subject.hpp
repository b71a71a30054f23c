#pragma once
// What is compared or checked: a layer, a problem text or the user's tensors, and which stages.

#include <string>
#include <vector>

#include "bench/cli/parameters.hpp"
#include "bench/cli/tensors.hpp"

namespace sevenloops {

/// The options that say what is to be looked at, as given.
struct SubjectOptions {
  std::string primitive, layer, problem, on = "emulator", batch, layout = "nchw", seed = "1";
  std::vector<std::string> stages;

  void add_to(CLI::App& app, const std::string& stages_option);
};

/// What is looked at, where, and how it was made smaller.
struct Subject {
  std::string title;    ///< "layer L5", "problem"
  Conv2dProblem asked;  ///< as in the table or the text
  Conv2dProblem prob;   ///< as it will be run
  Place place = Place::emulator;
  Layout layout = Layout::nchw;
  std::uint64_t seed = 1;
  std::vector<int> stages;   ///< numbers in stages.def, in its order
  bool own_tensors = false;  ///< the data are the user's

  /// "layer L5, n1c384h13w13_k384r3s3 (only the batch was reduced, from 128 to 1)"
  std::string description() const;
};

/// Resolves names and numbers; `standard` is the problem or layer when neither is given. In the
/// emulator the batch is reduced to what takes seconds unless --batch says otherwise. Throws Error.
Subject subject_of(const SubjectOptions& options, const std::string& standard_layer,
                   const std::string& standard_problem);

/// The same for the user's tensors, which are never made smaller.
Subject subject_of(const SubjectOptions& options, const Conv2dProblem& prob);

/// The largest batch of up to N images that the emulator runs in seconds, at least one (if N is).
std::int64_t affordable_batch(const Conv2dProblem& prob);

/// The primitives that `compare` and `check` know.
void require_primitive(const std::string& name);

/// Numbers of the stages of these names, all when there is none. Throws Error.
std::vector<int> stages_named(const std::vector<std::string>& names);

/// Views of the right shapes over no memory, for `supports` and `workspace_bytes`.
Conv2dForward::Args shapes_of(const Conv2dProblem& prob, Layout layout);

}  // namespace sevenloops
