#pragma once
// Where a stage runs, and which compilation of it that takes.

namespace sevenloops {

/// Where device memory lies and kernels run. Never chosen silently: outputs always say which.
enum class Place { emulator, gpu };

/// The three compilations of every kernel file: for the emulator as it is (results), for the
/// emulator with every access reported (checks and counters), and for the GPU.
enum class Build { plain, traced, gpu };

}  // namespace sevenloops
