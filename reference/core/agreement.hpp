#pragma once
// When two results agree. The policy is docs/numerics.md; NaN never passes unnoticed.

#include <cstdint>
#include <string>

#include "reference/core/dtype.hpp"
#include "reference/core/tensor.hpp"

namespace sevenloops {

/// Where and how a result first leaves its reference, or that it does not.
struct Agreement {
  bool pass = false;
  bool bitwise = false;                       ///< every element equal bit for bit (NaN equals NaN)
  std::int64_t compared = 0;                  ///< elements looked at; 0 is a failure unless N = 0
  std::int64_t wrong = 0;                     ///< elements outside
  std::array<std::int64_t, 4> first_wrong{};  ///< index of the first, row-major
  double got = 0, expected = 0;               ///< there
  double worst_bound_fraction = 0;            ///< max |got - ref| / bound (1 = at the bound)
  double worst_us = 0;                        ///< max |got - ref| / (u S), for the accuracy column
  double rms_us = 0;                          ///< root mean square of the same
  std::string failure;                        ///< one sentence, empty when pass
};

/// Tier 0: bit for bit after rounding the fp64 reference once to T. NaN equals NaN; +0 equals -0.
/// With `taps`, fails too when more than half of the expected elements that have taps are zero:
/// such data would hide errors.
template <typename T>
Agreement agree_bitwise(TensorView<const T> got, TensorView<const double> reference,
                        TensorView<const std::int64_t> taps = {});

/// Are +0 and -0 different results?
enum class Zeros { told_apart, alike };

/// Bit for bit against a twin in the same type. NaN equals NaN.
template <typename T>
Agreement agree_with_twin(TensorView<const T> got, TensorView<const T> twin,
                          Zeros zeros = Zeros::told_apart);

/// Numbers that the derived bound needs beside the reference's.
struct BoundTerms {
  double unit_roundoff = 0;    ///< u of the accumulation type
  double output_roundoff = 0;  ///< u_out of the storage type where narrower, else 0
  double alpha = 1, beta = 0;
  double extra_steps = 0;      ///< added to the tap count in gamma_m
  double product_error = 0;    ///< delta: relative error of one product's inputs, 0 when exact
  double eta = 0;              ///< smallest subnormal of the accumulation type
  double output_eta = 0;       ///< of the storage type where narrower, else 0
  double reference_steps = 0;  ///< roundings of the reference where those are more than the taps
};

/// The terms of a sum of products formed in `accumulate` and stored in `storage`.
BoundTerms bound_terms(Dtype storage, Dtype accumulate, double alpha = 1, double beta = 0);

/// What keeps real data honest: a hard bound alone, or also the alarm for randomly signed data.
enum class Alarm { bound_only, statistical };

/// Tier 1, element by element, with t = alpha sum and m = taps + extra_steps:
///
///     |got - ref| <= |alpha| (gamma_m (1 + delta) + delta) S + 2u (|t| + |beta y0|) + u_out |ref|
///                    + taps eta,    gamma_m = m u / (1 - m u)
///
/// enlarged by the reference's own roundings in fp64, so that a correct result never fails,
/// provided that S is below the largest number of the accumulation type. `initial` is y0 (null data
/// when beta = 0). Where the reference is NaN or infinite, so must be the result. Tier 2,
/// Alarm::statistical: also fails when the error is above 4 sqrt(taps) u |alpha| S plus the same
/// rounding terms, which no usual order of summation reaches when signs are random. Source: Higham,
/// Accuracy and Stability of Numerical Algorithms, chapters 3 and 4.
///
/// With `spread` the result comes from transforms, which mix elements: where the reference is NaN
/// or infinite, the result must be one of them, and where `spread` is not 0 it may. Numbers are
/// held to the bound everywhere.
template <typename T>
Agreement agree_within_bound(TensorView<const T> got, TensorView<const double> reference,
                             TensorView<const double> magnitude,
                             TensorView<const std::int64_t> taps, const BoundTerms& terms,
                             TensorView<const double> initial = {},
                             Alarm alarm = Alarm::statistical,
                             TensorView<const unsigned char> spread = {});

}  // namespace sevenloops
