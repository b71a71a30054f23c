#pragma once
// One problem on the GPU at full size: every stage and every peer, verified, then timed.

#include <memory>
#include <string>
#include <vector>

#include "bench/ceiling.hpp"
#include "bench/timing.hpp"
#include "gpu/conv2d/execute.hpp"

namespace sevenloops {

/// One row of a comparison. Times are there only when `refused` is empty.
struct Measured {
  std::string name;
  std::string library;              ///< empty for our own stages
  bool is_convolution = true;       ///< false: only a part of the work (see Peer)
  std::string refused;              ///< not supported, no memory, or wrong: one sentence
  bool exact = false;               ///< integer data: equal to the definition, bit for bit
  double worst_bound_fraction = 0;  ///< real data: worst error over its derived bound
  std::size_t workspace_bytes = 0;
  double prepare_ms = 0;  ///< of Stage::prepare, 0 when there is none
  Timing timing;

  /// Effective TFLOP/s: the FLOPs of the direct computation over the median.
  double tflops(const Conv2dProblem& prob) const;
};

/// Holds the operands of one problem on the GPU: random integers for the exact check, random reals
/// for the other check and for the times. Checks need no full-size reference: for random signs
/// r_k, sum_k r_k y[n,k,p,q] must be the definition's answer for the one filter sum_k r_k w[k]
/// (Freivalds), over all outputs, at 1/K of the cost.
class LayerBench {
 public:
  /// Throws Error when there is no GPU, or too little memory on it.
  LayerBench(const Conv2dProblem& prob, Layout layout, std::uint64_t seed);
  /// The same on a user's operands (fp32 or fp64) in place of the random reals.
  template <typename T>
  LayerBench(const Conv2dOperands<T>& operands, std::uint64_t seed);
  ~LayerBench();

  /// Stage number `index` of stages.def.
  Measured stage(int index, const TimingOptions& options = {});
  /// Every algorithm of every library of this build; nothing when there is none.
  std::vector<Measured> peers(const TimingOptions& options = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The fastest full convolution among peers' rows, or null.
const Measured* fastest(const std::vector<Measured>& peers);

/// The GPU's name, driver, CUDA version, and libraries' versions, in a fixed order.
std::vector<std::pair<std::string, std::string>> gpu_facts();

}  // namespace sevenloops
