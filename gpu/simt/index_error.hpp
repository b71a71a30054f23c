#pragma once
// Indices that leave their axis, in kernels.

namespace sevenloops::simt {

/// From now on a TensorView that is indexed out of range inside a kernel ends the thread that did
/// it. Outside of kernels the handler that was installed before keeps its work.
void install_index_error_handler();

}  // namespace sevenloops::simt
