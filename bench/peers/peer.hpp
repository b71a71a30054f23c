#pragma once
// Libraries' own implementations of convolution forward, as rows beside our stages.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "gpu/conv2d/conv2d_forward.hpp"
#include "reference/core/stage.hpp"

namespace sevenloops {

/// One algorithm of a library for operands of one shape.
struct Peer {
  std::string library;  ///< "cuDNN", "cuBLAS"
  std::string name;     ///< "cuDNN fft_tiling", "cuDNN engine 12 k13=2", "cuBLAS product"
  std::size_t workspace_bytes = 0;
  /// Does it compute the convolution? If not (the matrix product of the lowered sizes, without the
  /// lowering), its operands and result lie in the workspace and it is no row to be faster than.
  bool is_convolution = true;
  /// Enqueues the work on operands shaped like those it was made for. Throws Error when the library
  /// refuses.
  std::function<void(const Conv2dForward::Args&, Workspace, Stream)> launch;
  /// Only without `is_convolution`: says what is wrong with the result, empty when nothing is.
  std::function<std::string(const Conv2dForward::Args&, Workspace)> objection;
};

/// Every algorithm that the libraries of this build offer for operands like `args`: no memory is
/// touched, the views' pointers may be null. True arithmetic of the dtype only (fp32 products are
/// never rounded to TF32), and at most `workspace_limit` bytes.
std::vector<Peer> conv2d_peers(const Conv2dForward::Args& args, std::size_t workspace_limit);

/// Versions of the libraries as loaded: {"cudnn_version", "9.19.0"}, ...; empty without them.
std::vector<std::pair<std::string, std::string>> peer_versions();

}  // namespace sevenloops
