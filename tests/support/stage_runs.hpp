#pragma once
// The ways in which a stage is run on one problem, and the memory that it is run in.

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "gpu/conv2d/verify.hpp"

namespace sevenloops::testing {

/// Where the elements of the operands lie: a dense layout, or sub-tensors of larger ones whose gaps
/// hold NaN.
enum class Storage { nchw, nhwc, chwn, gaps };
inline constexpr std::array kStorages = {Storage::nchw, Storage::nhwc, Storage::chwn,
                                         Storage::gaps};
const char* name_of(Storage storage);

/// make_operands() stored in this way.
template <typename T>
Conv2dOperands<T> stored_operands(const Conv2dProblem& prob, Storage storage, DataKind kind,
                                  std::uint64_t seed, double alpha = 1, double beta = 0);

/// One way to run a stage that must not change a bit of a deterministic result.
struct Variant {
  std::string name;
  ExecuteOptions options;
};

/// Different contents of memory before, operands off alignment, other thread orders.
std::vector<Variant> plain_variants(Place place);

/// Every thread order, with all of the emulator's checks.
std::vector<Variant> traced_variants();

/// The elements of two results, gaps left out, are the same bits.
template <typename T>
bool same_bits(const Tensor<T>& a, const Tensor<T>& b) {
  bool same = a.extents() == b.extents();
  if (!same) return false;
  for_each_index(a.extents(), [&](auto n, auto k, auto p, auto q) {
    same = same && std::memcmp(&a(n, k, p, q), &b(n, k, p, q), sizeof(T)) == 0;
  });
  return same;
}

/// Neither faults nor touched memory.
template <typename T>
::testing::AssertionResult is_clean(const Execution<T>& execution) {
  if (!execution.report.faults.empty()) {
    return ::testing::AssertionFailure() << execution.report.faults.front().message;
  }
  if (!execution.violations.empty()) {
    return ::testing::AssertionFailure() << execution.violations.front();
  }
  return ::testing::AssertionSuccess();
}

/// All of the project's memory places: the emulator, and the GPU where there is one.
std::vector<Place> places();

/// The problem of agreement_at_far_offsets().
inline constexpr const char* kFarProblem = "n2c2h4w5_k2r3s3_p1";

/// Runs the plain compilation of `stage` on kFarProblem with operands whose second image and second
/// filter lie beyond 2^31 elements, or, where a stage wants images to lie innermost, whose second
/// channels do. They are in address space that takes no memory, with as much below it: an offset
/// cut to 32 bits reads zeros instead of crashing. Empty, with a reason, where the stage supports
/// neither in the emulator and where the system grants no such space.
std::optional<Agreement> agreement_at_far_offsets(const Conv2dStage& stage,
                                                  std::string* why_not = nullptr);

}  // namespace sevenloops::testing
