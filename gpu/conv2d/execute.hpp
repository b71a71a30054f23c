#pragma once
// One stage run once on host data: upload, guard, launch, download, look at what was touched.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "gpu/conv2d/stages.hpp"
#include "gpu/simt/emulator.hpp"
#include "reference/core/tensor.hpp"

namespace sevenloops {

struct ExecuteOptions {
  Place place = Place::emulator;
  /// Emulator: also run the traced compilation, for faults and counters. Traced runs first; after a
  /// fault the plain compilation is not run (it would be what a GPU does: anything).
  bool trace = false;
  simt::Options emulator = {};
  unsigned char poison = 0xFF;       ///< what y (beta = 0) and its stride gaps hold before
  std::uint64_t workspace_seed = 1;  ///< the workspace's random contents
  std::int64_t base_offset = 0;      ///< elements by which every operand is shifted off alignment
  /// An element n, k, p, q of y: a traced run says who wrote it.
  std::optional<std::array<std::int64_t, 4>> who_wrote = std::nullopt;
};

template <typename T>
struct Execution {
  Tensor<T> y;                          ///< with the strides asked for, gaps included
  simt::Report report;                  ///< of the traced run
  std::vector<std::string> violations;  ///< "guard before y changed at byte 12", "x changed", ...
  std::size_t workspace_bytes = 0;
  std::string writer;  ///< "thread (3,0,0) of block (1,0,0) of direct<float>", or "nobody"
};

/// The operands of one run, on the host, in the problem's storage type T.
template <typename T>
struct Conv2dOperands {
  Conv2dProblem prob;
  Tensor<T> x, w, y0;  ///< y0 gives y's strides; its values are read when beta != 0
  double alpha = 1, beta = 0;
};

/// Does stage number `index` support these operands at `place`?
template <typename T>
Support supports(int index, const Conv2dOperands<T>& operands, Place place = Place::emulator);

/// Runs stage number `index` of stages.def. Every buffer lies between canaries; y is poisoned (or
/// holds y0 when beta != 0). Throws Error when unsupported or when memory does not suffice.
template <typename T>
Execution<T> execute(int index, const Conv2dOperands<T>& operands, const ExecuteOptions& options);

/// The same for a stage that need not be in the list: `stage` as compiled for options.place, and
/// `traced` for options.trace (null: never traced).
template <typename T>
Execution<T> execute(const Conv2dStage& stage, const Conv2dStage* traced,
                     const Conv2dOperands<T>& operands, const ExecuteOptions& options);

}  // namespace sevenloops
