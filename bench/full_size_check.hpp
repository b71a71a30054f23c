#pragma once
// Is a result right where the problem is too large for the definition? All filters are weighed into
// one, and the definition is asked about that one.

#include <vector>

#include "gpu/conv2d/execute.hpp"

namespace sevenloops {

/// How far a result is from the definition, weighed over the filters of each group.
struct WeighedError {
  bool exact = false;  ///< equal everywhere (NaN equals NaN)
  double worst_bound_fraction =
      0;           ///< max error / derived bound of a direct sum; NaN when not finite
  double rms = 0;  ///< root mean square error over that of the expected values
  double max = 0;  ///< largest error over the same
};

/// Freivalds' check. For random whole numbers r_k, summing over the filters k of group g,
///
///     sum_k r_k y[n,k,p,q] = conv2d(x, sum_k r_k w[k])[n,g,p,q]
///
/// so the definition needs one filter a group: 1/(K/groups) of the work, over all outputs. A single
/// wrong output always shows; two that cancel would need equal weights. On the integers of
/// DataKind::exact both sides are exact: the weights lie in [2^15, 2^16) for fp32, whose results
/// stay below 2^24, and are +1 or -1 for fp64. Source: Freivalds, Probabilistic machines can use
/// less running time (IFIP 1977).
class FullSizeCheck {
 public:
  /// Asks the definition on the host. T is float or double; operands in any layout.
  template <typename T>
  FullSizeCheck(const Conv2dOperands<T>& operands, std::uint64_t seed);

  /// Compares y (N x K x P x Q in the problem's dtype, in memory of `place`).
  WeighedError compare(Place place, const AnyView& y) const;

 private:
  Conv2dProblem prob_;
  std::vector<double> weights_;   // one a filter
  std::vector<double> expected_;  // N x groups x P x Q
  std::vector<double> bound_;     // of the same: gamma_m * (|alpha| S + |beta| |y0|), weighed
};

}  // namespace sevenloops
