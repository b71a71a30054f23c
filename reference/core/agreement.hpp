#pragma once
// When two results agree. The policy is docs/numerics.md; NaN never passes unnoticed.

#include <cstdint>
#include <string>

#include "reference/core/tensor.hpp"

namespace sevenloops {

/// Where and how a result first leaves its reference, or that it does not.
struct Agreement {
  bool pass = false;
  bool bitwise = false;              ///< every element equal bit for bit (NaN equals NaN)
  std::int64_t compared = 0;         ///< elements looked at; 0 is a failure unless N = 0
  std::int64_t wrong = 0;            ///< elements outside
  std::array<std::int64_t, 4> first_wrong{};  ///< index of the first, row-major
  double got = 0, expected = 0;      ///< there
  double worst_bound_fraction = 0;   ///< max |got - ref| / bound (1 = at the bound)
  double worst_us = 0;               ///< max |got - ref| / (u S), for the accuracy column
  double rms_us = 0;
  std::string failure;               ///< one sentence, empty when pass
};

/// Tier 0: bit for bit after rounding the fp64 reference once to T. NaN equals NaN; +0 equals -0.
template <typename T>
Agreement agree_bitwise(TensorView<const T> got, TensorView<const double> reference);

/// Bit for bit against a twin in the same type; +0 and -0 are told apart.
template <typename T>
Agreement agree_with_twin(TensorView<const T> got, TensorView<const T> twin);

/// Numbers that the derived bound needs beside the reference's.
struct BoundTerms {
  double unit_roundoff = 0;   ///< u of the accumulation type
  double output_roundoff = 0; ///< u_out of the storage type where narrower, else 0
  double alpha = 1, beta = 0;
  double extra_steps = 0;     ///< added to the tap count in gamma_m
};

/// Tier 1: |got - ref| <= |alpha| gamma_m S + 2u(|alpha sum| + |beta y0|) + u_out |ref| + n eta,
/// element by element. `initial` is y0 (null data when beta = 0). Then tier 2: fails also when
/// |got - ref| > 4 sqrt(n) u S for `random_signs` data.
template <typename T>
Agreement agree_within_bound(TensorView<const T> got, TensorView<const double> reference,
                             TensorView<const double> magnitude,
                             TensorView<const std::int64_t> taps, const BoundTerms& terms,
                             TensorView<const double> initial = {}, bool random_signs = true);

}  // namespace sevenloops
