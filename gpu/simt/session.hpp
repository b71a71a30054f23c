#pragma once
// The innermost session of the calling OS thread, as the emulator's own parts see it.

#include "gpu/simt/emulator.hpp"

namespace sevenloops::simt {

/// The options of the innermost session, or the default ones.
Options current_options();

}  // namespace sevenloops::simt
