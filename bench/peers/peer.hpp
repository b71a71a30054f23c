#pragma once
// Libraries' own implementations of convolution forward, as rows beside our stages.

#include <functional>
#include <string>
#include <vector>

#include "gpu/conv2d/conv2d_forward.hpp"
#include "reference/core/stage.hpp"

namespace sevenloops {

/// One algorithm of a library, bound to the operands it was asked for.
struct Peer {
  std::string library;  ///< "cuDNN", "cuBLAS"
  std::string name;     ///< "cuDNN fft_tiling", "cuDNN engine 12 (tile 3, ...)", "cuBLAS sgemm"
  std::size_t workspace_bytes = 0;
  /// Does it compute the convolution? If not (the matrix product of the lowered sizes, without the
  /// lowering) it writes to its workspace, is timed only, and is no peer to be faster than.
  bool is_convolution = true;
  /// Enqueues the work. Throws Error when the library refuses.
  std::function<void(Workspace, Stream)> launch;
};

/// Every algorithm that the libraries of this build offer for `args` (GPU memory, alpha and beta
/// included) in true arithmetic of the dtype (fp32 products are never rounded to TF32), with at
/// most `workspace_limit` bytes. Empty when none fits. Valid while the operands live.
std::vector<Peer> conv2d_peers(const Conv2dForward::Args& args, std::size_t workspace_limit);

/// Versions of the libraries compiled in and loaded: {"cuDNN", "9.19.0"}, ...; empty without them.
std::vector<std::pair<std::string, std::string>> peer_versions();

}  // namespace sevenloops
