#pragma once
// How large the numbers inside a transform algorithm get: what its rounding errors are measured by.

#include <cstdint>

#include "reference/core/tensor.hpp"

namespace sevenloops {

/// What is known about the errors of each output when it is computed by way of transforms. Operands
/// that are infinite or NaN count as zeros in `sum`.
struct TransformMagnitude {
  Tensor<double> sum;  ///< takes the place of S = sum |x||w| in the bound on the error
  Tensor<double>
      largest;  ///< of the numbers on the way; infinite where infinity or NaN is in reach
  std::int64_t steps = 0;      ///< roundings on the longest path that behave like a random walk
  double extra_steps = 0;      ///< what a worst case adds to them
  double underflows = 1;       ///< the weight of one step's loss below the smallest normal number
  double reference_steps = 0;  ///< roundings of the definition itself
};

}  // namespace sevenloops
