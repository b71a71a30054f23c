#pragma once
// Is a stage right? The tiers of docs/numerics.md for one stage and one problem.

#include <string>
#include <vector>

#include "gpu/conv2d/execute.hpp"
#include "reference/core/agreement.hpp"

namespace sevenloops {

/// exact: integers, bit for bit. real: uniform [-1,1) under the derived bound (and bit for bit
/// against the twin where the stage keeps the reference's order). adversarial: NaN, infinities,
/// subnormals, signed zeros, large magnitudes.
enum class DataKind { exact, real, adversarial };

const char* name_of(DataKind kind);

/// Operands of `prob` filled with `kind`, in `layout` (x and y; w in its analogue).
template <typename T>
Conv2dOperands<T> make_operands(const Conv2dProblem& prob, Layout layout, DataKind kind,
                                std::uint64_t seed, double alpha = 1, double beta = 0);

struct Verdict {
  bool pass = false;
  Agreement agreement;
  simt::Report report;      ///< counters and faults when traced
  std::size_t workspace_bytes = 0;
  std::string failure;      ///< one sentence; decoded to n,k,p,q, block and thread where possible
};

/// Runs and judges stage number `index` on given operands (a user's or make_operands').
template <typename T>
Verdict verify(int index, const Conv2dOperands<T>& operands, DataKind kind,
               const ExecuteOptions& options);

}  // namespace sevenloops
