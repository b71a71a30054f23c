#pragma once
// cuBLAS' matrix product of a convolution's lowered sizes.

#include "bench/peers/peer.hpp"

namespace sevenloops::cublas {

/// y[N P Q, K] = lowered[N P Q, C R S] * w[K, C R S]^T for one group, the lowered matrix in the
/// workspace (whatever it holds), the result behind it: what explicit lowering costs without the
/// lowering. Empty when the workspace would be larger than `workspace_limit` or the filter is not
/// dense KCRS.
std::vector<Peer> products(const Conv2dForward::Args& args, std::size_t workspace_limit);

/// The library's version as loaded: 130002 and the like.
int version();

}  // namespace sevenloops::cublas
