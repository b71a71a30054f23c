#pragma once
// tests/cases/conv2d.json: the kernels of faults that users of other libraries reported.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "reference/conv2d/conv2d.hpp"

namespace sevenloops::testing {

/// What a case says about one result. Every part given must hold exactly.
struct Expectation {
  nlohmann::json parts;

  /// Empty, or one sentence on the first part that does not hold: shape, sum, abs_sum, wsum (the
  /// sum of (i+1) y_i), head, tail, values.
  std::string mismatch(TensorView<const double> result) const;
};

/// One case with its data made, exactly as the storage type holds them.
struct Conv2dCase {
  std::string id, note, property, policy;
  std::vector<std::string> seen_in;
  std::string skip;   ///< why it cannot be run here; empty when it can
  std::string error;  ///< what validate() must say; empty when the problem is legal

  Conv2dProblem prob;
  bool forward = false, backward_data = false, backward_filter = false;  ///< what it speaks about
  double alpha = 1, beta = 0;
  int repeat = 1;                ///< how often the result must be the same
  std::int64_t base_offset = 0;  ///< elements by which operands are to be shifted off alignment

  /// Operands, dense; empty where the directions do not need them.
  Tensor<double> x, w, dy;
  /// What y, dx, dw hold before; empty unless the case says so. Read only when beta is not 0.
  Tensor<double> y0, dx0, dw0;
  /// The strides that the case is about (dense NCHW when it is about none). They may be 0 where
  /// elements repeat, and so large that no dense buffer can hold the tensor.
  Strides x_strides{}, w_strides{}, y_strides{}, dy_strides{};

  std::optional<Expectation> y, dx, dw;
};

/// All cases of the file, in its order; those with `skip` or `error` have no data. Read once.
const std::vector<Conv2dCase>& conv2d_cases();

/// The one called `id`; throws Error when there is none.
const Conv2dCase& conv2d_case(const std::string& id);

}  // namespace sevenloops::testing
