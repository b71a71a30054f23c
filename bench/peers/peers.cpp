#include <cuda_runtime_api.h>

#include "bench/peers/cublas.hpp"
#include "bench/peers/peer.hpp"
#include "gpu/device_buffer.hpp"
#ifdef SEVENLOOPS_HAS_CUDNN
#include "bench/peers/cudnn.hpp"
#endif

namespace sevenloops {

std::vector<Peer> conv2d_peers(const Conv2dForward::Args& args, std::size_t workspace_limit) {
  const Dtype dtype = args.prob.dtype;
  if (!gpu_available() || args.prob.N == 0) return {};
  if (dtype != Dtype::f32 && dtype != Dtype::f64) return {};
  std::vector<Peer> peers;
  const auto add = [&](std::vector<Peer> more) {
    for (Peer& peer : more) peers.push_back(std::move(peer));
  };
#ifdef SEVENLOOPS_HAS_CUDNN
  add(cudnn::algorithms(args, workspace_limit));
  add(cudnn::engines(args, workspace_limit));
#endif
  add(cublas::products(args, workspace_limit));
  return peers;
}

std::vector<std::pair<std::string, std::string>> peer_versions() {
  if (!gpu_available()) return {};
  std::vector<std::pair<std::string, std::string>> versions;
#ifdef SEVENLOOPS_HAS_CUDNN
  const std::size_t cudnn = cudnnGetVersion();  // major * 10000 + minor * 100 + patch
  versions.emplace_back("cudnn_version", std::to_string(cudnn / 10000) + "." +
                                             std::to_string(cudnn / 100 % 100) + "." +
                                             std::to_string(cudnn % 100));
#endif
  versions.emplace_back("cublas_version", std::to_string(cublas::version()));
  return versions;
}

}  // namespace sevenloops
