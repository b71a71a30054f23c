#pragma once
// Data that show errors. Element i of a tensor, counted in logical row-major order, depends on the
// seed and on i alone: the same numbers in every layout, on every machine, for any thread count.

#include <cstdint>

#include "reference/core/dtype.hpp"
#include "reference/core/tensor.hpp"

namespace sevenloops {

/// 64 random bits of element `index` of the sequence `seed`.
/// Source: Steele, Lea, Flood, Fast splittable pseudorandom number generators (OOPSLA 2014).
std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index);

/// The seed of an independent sequence, one for each operand of a seed the user gave.
std::uint64_t split_seed(std::uint64_t seed, std::uint64_t stream);

/// Integers small enough that alpha * (sum of products) + beta * y0 is exact in any order.
struct ExactRange {
  std::int64_t largest = 0;  ///< of |x|, |w|, |y0|; 0: no such integers exist
  std::int64_t taps = 0;     ///< products per sum that may be non-zero
};

/// The range for sums of `taps` products: |alpha| taps largest^2 + |beta| largest <= 2^p, counted
/// in the smallest fraction that alpha and beta bring in, p = 24 for fp32, 53 for fp64, 11 for
/// fp16, 8 for bf16 accumulation; and `largest` is exact in the storage type. Long sums keep their
/// range and lose density. `largest` is 0 when alpha or beta is no fraction of at most 8 binary
/// digits.
ExactRange exact_range(Dtype storage, Dtype accumulate, std::int64_t taps, double alpha = 1,
                       double beta = 0);

/// Integers from -largest to largest, none of them zero.
template <typename T>
void fill_exact(TensorView<T> tensor, std::uint64_t seed, std::int64_t largest);

/// The same with exactly min(nonzero, row length) elements that are not zero in each row (the
/// elements with the same first index), spread evenly at random places. For filters of long sums.
template <typename T>
void fill_exact_sparse(TensorView<T> tensor, std::uint64_t seed, std::int64_t largest,
                       std::int64_t nonzero);

/// Uniform in [-1, 1), every multiple of 2^(1 - significant bits) equally likely.
template <typename T>
void fill_real(TensorView<T> tensor, std::uint64_t seed);

/// What fill_adversarial() has to know about the sums that the data go into.
struct AdversarialRange {
  std::int64_t taps = 1;          ///< products per sum
  Dtype accumulate = Dtype::f32;  ///< sums of the large values stay finite in this type
};

/// Rows (the elements with one first index) take turns, starting where the seed says:
/// 1. uniform values with NaN, +inf and -inf, so rare that about half of the sums stay finite;
/// 2. finite extremes: +0, -0, subnormals, the smallest normal, 1, and values so large that a sum
/// of
///    their products just stays finite;
/// 3. one-hot: zeros of both signs, and one 1 at a random place.
template <typename T>
void fill_adversarial(TensorView<T> tensor, std::uint64_t seed, const AdversarialRange& range);

}  // namespace sevenloops
