#pragma once
// The innermost session of the calling OS thread, as the emulator's own parts see it.

#include <string>

#include "gpu/simt/emulator.hpp"
#include "gpu/simt/launch_state.hpp"

namespace sevenloops::simt {

/// The options of the innermost session, or the default ones.
Options current_options();

/// Adds what a traced launch found to the innermost session, if there is one.
void record_launch(LaunchState& launch, std::uint64_t static_shared_bytes);
/// Adds the fault of a traced launch that was refused because of `why`.
void record_impossible_launch(LaunchState& launch, const std::string& why);

}  // namespace sevenloops::simt
