// How results of transform algorithms agree: their own bounds, where they are exact, how far NaN
// and infinity spread.

#include <algorithm>
#include <cmath>
#include <utility>

#include "gpu/conv2d/tensor_parts.hpp"
#include "gpu/conv2d/verify.hpp"
#include "reference/conv2d/fourier_magnitude.hpp"
#include "reference/conv2d/winograd_magnitude.hpp"
#include "reference/core/numerics.hpp"

namespace sevenloops {
namespace {

double largest_of(const Tensor<double>& tensor) {
  double largest = 0;
  for (double element : tensor.buffer()) largest = std::max(largest, element);
  return largest;
}

}  // namespace

template <typename T>
auto Judge<T>::transform(Algorithm algorithm) const -> const Transform& {
  const auto [entry, is_new] = transforms_.try_emplace(algorithm);
  Transform& known = entry->second;
  if (!is_new) return known;
  const Conv2dProblem& prob = operands_->prob;
  const Tensor<double> x = converted<double>(operands_->x.view());
  const Tensor<double> w = converted<double>(operands_->w.view());
  const double tiny = smallest_subnormal(prob.accumulate) / unit_roundoff(prob.accumulate);
  const int m = algorithm == Algorithm::winograd_2x2 ? 2 : 4;
  known.magnitude = algorithm == Algorithm::fourier
                        ? fourier_magnitude(prob, x.view(), w.view(), tiny)
                        : winograd_magnitude(prob, m, x.view(), w.view(), tiny);
  known.spread = Tensor<unsigned char>(y_extents(prob));
  std::transform(known.magnitude.largest.buffer().begin(), known.magnitude.largest.buffer().end(),
                 known.spread.buffer().begin(), [&](double largest) {
                   // A little more, for what the numbers themselves are off by.
                   return !std::isfinite(round_to(prob.accumulate, 1.01 * largest));
                 });
  if (!sums_are_exact_ || algorithm == Algorithm::fourier) return known;
  // F(2x2) forms quarters. F(4x4) forms whole numbers of filters that are multiples of 576, and of
  // those multiples of 576 = 9 * 64, scaled by 24 in both directions, before it divides.
  const auto limit = static_cast<double>(max_exact_integer(prob.accumulate));
  const double sum = largest_of(known.magnitude.sum), any = largest_of(known.magnitude.largest);
  known.exact = m == 2
                    ? sum <= limit / 4 && any <= limit
                    : sum <= limit && any <= limit * 64 && std::isfinite(largest_multiple(w, 576));
  return known;
}

template <typename T>
bool Judge<T>::exact(Algorithm algorithm) const {
  return algorithm == Algorithm::sums ? sums_are_exact_ : transform(algorithm).exact;
}

template <typename T>
Agreement Judge<T>::judge_transform(const Part& part, const Tensor<T>& y,
                                    Algorithm algorithm) const {
  const Transform& known = transform(algorithm);
  const TensorView<const double> value = part.reference.value.view();
  const Extents& extents = value.extents;
  const TensorView<const T> got = box(y.view(), part.begin, extents);
  if (known.exact) return agree_bitwise<T>(got, value, part.reference.taps.view());
  BoundTerms terms = this->terms();
  terms.extra_steps = known.magnitude.extra_steps;
  terms.eta *= known.magnitude.underflows;
  terms.reference_steps = known.magnitude.reference_steps;
  // As many steps for every output.
  const TensorView<const std::int64_t> steps{&known.magnitude.steps, extents, {0, 0, 0, 0}};
  return agree_within_bound<T>(got, value, box(known.magnitude.sum.view(), part.begin, extents),
                               steps, terms, part.y0.view(), alarm(),
                               box(known.spread.view(), part.begin, extents));
}

#define SEVENLOOPS_TRANSFORM(T)                   \
  template bool Judge<T>::exact(Algorithm) const; \
  template Agreement Judge<T>::judge_transform(const Part&, const Tensor<T>&, Algorithm) const;
SEVENLOOPS_TRANSFORM(float)
SEVENLOOPS_TRANSFORM(double)
SEVENLOOPS_TRANSFORM(Half)
SEVENLOOPS_TRANSFORM(Bfloat16)
#undef SEVENLOOPS_TRANSFORM

}  // namespace sevenloops
