#pragma once
// What the two ways into cuDNN share.

#include <cudnn.h>

#include <string>
#include <vector>

#include "bench/peers/peer.hpp"

namespace sevenloops::cudnn {

/// Throws Error unless `status` is success.
void require(cudnnStatus_t status, const char* doing);

/// The one handle of this program, set to `stream`.
cudnnHandle_t handle(Stream stream = nullptr);

/// CUDNN_DATA_FLOAT, CUDNN_DATA_DOUBLE; throws Error for types that the peers do not cover.
cudnnDataType_t data_type(Dtype dtype);

cudnnConvolutionMode_t mode_of(ConvMode mode);

/// The eight algorithms with names: those that take these operands. Padding must be the same on
/// opposite sides and the filter dense, KCRS or KRSC, else there are none.
std::vector<Peer> algorithms(const Conv2dForward::Args& args, std::size_t workspace_limit);

/// The graph API's engines, as its heuristics propose them (modes A, B and fallback), without those
/// that round fp32 products to TF32 or inputs to a narrower type.
std::vector<Peer> engines(const Conv2dForward::Args& args, std::size_t workspace_limit);

}  // namespace sevenloops::cudnn
