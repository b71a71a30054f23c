#pragma once
// The list of stages of convolution forward, once per compilation.

#include <span>

#include "gpu/conv2d/conv2d_forward.hpp"
#include "gpu/place.hpp"
#include "reference/core/stage.hpp"

namespace sevenloops {

using Conv2dStage = Stage<Conv2dForward>;

/// Every stage of stages.def in its order, as compiled for `build`; empty when this binary holds
/// no such compilation. The same index means the same stage in every build.
std::span<const Conv2dStage* const> conv2d_stages(Build build);

/// Does `stage` support `args` at `place`? What calls a library of GPUs does not in the emulator.
Support supports(const Conv2dStage& stage, const Conv2dForward::Args& args, Place place);

}  // namespace sevenloops
