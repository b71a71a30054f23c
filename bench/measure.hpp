#pragma once
// One problem on the GPU at full size: every stage and every peer, verified, then timed.

#include <memory>
#include <string>
#include <vector>

#include "bench/ceiling.hpp"
#include "bench/peers/peer.hpp"
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
  double rms_error = 0;             ///< real data: root mean square error over that of the result
  std::size_t workspace_bytes = 0;
  double prepare_ms = 0;  ///< of Stage::prepare, 0 when there is none
  Timing timing;

  /// Effective TFLOP/s: the FLOPs of the direct computation over the median.
  double tflops(const Conv2dProblem& prob) const;
};

/// Holds the operands of one problem on the GPU (dense or strided, fp32 or fp64): random integers
/// for the exact check, random reals for the other check and for the times. Every row is verified
/// on both before it is timed (see FullSizeCheck) and refused when wrong: stages of direct sums
/// must be exact on integers and within the derived bound on reals; transforms and libraries must
/// have the accuracy of the dtype, which fp32 rounded to TF32 has not.
class LayerBench {
 public:
  /// Throws Error when there is no GPU, too little memory on it, or nothing to time (N = 0).
  LayerBench(const Conv2dProblem& prob, Layout layout, std::uint64_t seed);
  /// The same on a user's operands (float or double, in `layout`) in place of the random reals.
  template <typename T>
  LayerBench(const Conv2dOperands<T>& operands, Layout layout, std::uint64_t seed);
  ~LayerBench();

  /// Stage number `index` of stages.def.
  Measured stage(int index, const TimingOptions& options = {});
  /// One algorithm of a library, made for operands like these.
  Measured peer(const Peer& peer, const TimingOptions& options = {});
  /// Every algorithm of every library of this build; nothing when there is none.
  std::vector<Measured> peers(const TimingOptions& options = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The fastest full convolution among `rows` that was not refused, or null.
const Measured* fastest(const std::vector<Measured>& rows);

/// What peers may take for a workspace: nearly all free memory of the GPU, at most 40 GB.
std::size_t workspace_limit();

/// The GPU's name, driver and CUDA versions and those of the libraries, in a fixed order, for the
/// context of a recorded measurement.
std::vector<std::pair<std::string, std::string>> gpu_facts();

}  // namespace sevenloops
