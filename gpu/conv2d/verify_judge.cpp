// What is right for given operands, and how a result agrees with it.

#include <algorithm>
#include <cmath>
#include <utility>

#include "gpu/conv2d/tensor_parts.hpp"
#include "gpu/conv2d/verify.hpp"
#include "reference/conv2d/gemm_oracle.hpp"
#include "reference/core/data.hpp"
#include "reference/core/numerics.hpp"

namespace sevenloops {
namespace {

// The loops and their twin take about a second a core for this much.
constexpr double kLoopsFlops = 1e9;

template <typename T>
bool is_finite(const Tensor<T>& tensor) {
  bool finite = true;
  for_each_index(tensor.extents(), [&](auto n, auto c, auto h, auto w) {
    finite = finite && std::isfinite(static_cast<double>(tensor(n, c, h, w)));
  });
  return finite;
}

Tensor<double> magnitudes(Tensor<double> tensor) {
  for (double& element : tensor.buffer()) element = std::abs(element);
  return tensor;
}

// What the twin of type T can be asked about: sums formed in T.
template <typename T>
constexpr bool kHasTwin = std::is_same_v<T, float> || std::is_same_v<T, double>;

}  // namespace

template <typename T>
Judge<T>::Judge(const Conv2dOperands<T>& operands, DataKind kind)
    : operands_(&operands),
      kind_(kind),
      alpha_(round_to(operands.prob.accumulate, operands.alpha)),
      beta_(round_to(operands.prob.accumulate, operands.beta)),
      non_finite_(operands.prob.K) {
  const Conv2dProblem& prob = operands.prob;
  for_each_index(operands.w.extents(), [&](auto k, auto c, auto r, auto s) {
    if (!std::isfinite(static_cast<double>(operands.w(k, c, r, s)))) non_finite_[k] = true;
  });
  const bool small = direct_flops(prob) <= kLoopsFlops;
  if (small || !is_finite(operands.x) || !is_finite(operands.w)) {
    add_by_definition({}, y_extents(prob));
  } else {
    add_by_oracle();
    const std::int64_t P = prob.P(), Q = prob.Q();
    for (std::uint64_t i = 0; i < 4; ++i) {
      const std::uint64_t bits = random_bits(i, prob.N * prob.K);
      const std::int64_t n = i == 0 ? 0 : i == 1 ? prob.N - 1 : bits % prob.N;
      const std::int64_t k = i == 0 ? 0 : i == 1 ? prob.K - 1 : (bits >> 32) % prob.K;
      add_by_definition({n, k, 0, 0}, {1, 1, P, Q});
    }
  }
  sums_are_exact_ = kind == DataKind::exact && sums_are_exact();
}

// All of y, or one plane, which is a convolution of its own: one image, one group, one filter.
template <typename T>
void Judge<T>::add_by_definition(const Extents& begin, const Extents& extents) {
  Conv2dProblem prob = operands_->prob;
  Extents x_begin{}, w_begin{};
  if (extents != y_extents(prob)) {
    const std::int64_t C = prob.channels_per_group();
    x_begin = {begin[0], begin[1] / prob.filters_per_group() * C, 0, 0};
    w_begin = {begin[1], 0, 0, 0};
    prob.N = prob.K = prob.groups = 1;
    prob.C = C;
  }
  const TensorView<const T> x = box(operands_->x.view(), x_begin, x_extents(prob));
  const TensorView<const T> w = box(operands_->w.view(), w_begin, w_extents(prob));
  const TensorView<const T> y0 = box(operands_->y0.view(), begin, extents);
  Part part;
  part.begin = begin;
  if (beta_ != 0) part.y0 = converted<double>(y0);
  const Tensor<double> x64 = converted<double>(x), w64 = converted<double>(w);
  part.reference =
      conv2d_forward(prob, x64.view(), w64.view(), alpha_, beta_, std::as_const(part.y0).view());
  if constexpr (kHasTwin<T>) {
    if (prob.accumulate == prob.dtype) {
      part.twin =
          conv2d_forward_twin<T>(prob, x, w, static_cast<T>(alpha_), static_cast<T>(beta_), y0);
    }
  }
  parts_.push_back(std::move(part));
}

template <typename T>
void Judge<T>::add_by_oracle() {
  const Conv2dProblem& prob = operands_->prob;
  Part part;
  {
    const Tensor<double> x = converted<double>(operands_->x.view());
    const Tensor<double> w = converted<double>(operands_->w.view());
    part.reference.value = gemm_oracle_forward<double>(prob, x.view(), w.view());
    const Tensor<double> x_size = magnitudes(x), w_size = magnitudes(w);
    part.reference.magnitude = gemm_oracle_forward<double>(prob, x_size.view(), w_size.view());
  }
  // How many taps lie inside the image depends on p and q alone.
  Conv2dProblem plane = prob;
  plane.N = plane.C = plane.K = plane.groups = 1;
  const Tensor<double> x(x_extents(plane)), w(w_extents(plane));
  const Tensor<std::int64_t> inside = conv2d_forward(plane, x.view(), w.view()).taps;
  part.reference.taps = Tensor<std::int64_t>(y_extents(prob));
  if (beta_ != 0) part.y0 = converted<double>(operands_->y0.view());
  for_each_index(y_extents(prob), [&](auto n, auto k, auto p, auto q) {
    part.reference.taps(n, k, p, q) = prob.channels_per_group() * inside(0, 0, p, q);
    double& value = part.reference.value(n, k, p, q);
    value = alpha_ * value + (beta_ == 0 ? 0 : beta_ * part.y0(n, k, p, q));
  });
  parts_.push_back(std::move(part));
}

// Integers whose sums of magnitudes, scaled, stay within the accumulation type's digits.
template <typename T>
bool Judge<T>::sums_are_exact() const {
  const auto limit = static_cast<double>(max_exact_integer(operands_->prob.accumulate));
  const Part& all = parts_.front();
  if (largest_multiple(converted<double>(operands_->x.view()), 1) > limit ||
      largest_multiple(converted<double>(operands_->w.view()), 1) > limit) {
    return false;
  }
  double unit = 1;  // the finest binary fraction in alpha and beta
  while (unit > 0x1p-9 && (std::fmod(alpha_, unit) != 0 || std::fmod(beta_, unit) != 0)) unit /= 2;
  if (std::fmod(alpha_, unit) != 0 || std::fmod(beta_, unit) != 0) return false;
  const double largest_sum = largest_multiple(all.reference.magnitude, 1);
  const double largest_y0 = beta_ == 0 ? 0 : largest_multiple(all.y0, 1);
  return largest_sum <= limit &&
         std::abs(alpha_) * largest_sum + std::abs(beta_) * largest_y0 <= limit * unit;
}

// Where the filter hangs over the border and holds infinities or NaN, a stored zero times those is
// NaN: what the stage says about itself, and no fault.
template <typename T>
void Judge<T>::excuse_padding(const Part& part, Tensor<T>& y, TensorView<const T> expected) const {
  const Conv2dProblem& prob = operands_->prob;
  const std::int64_t all_taps = prob.channels_per_group() * prob.R * prob.S;
  for_each_index(expected.extents, [&](auto n, auto k, auto p, auto q) {
    const bool multiplied = part.reference.taps(n, k, p, q) < all_taps;
    const TensorView<T> got = box(y.view(), part.begin, expected.extents);
    if (multiplied && non_finite_[part.begin[1] + k] &&
        std::isnan(static_cast<double>(got(n, k, p, q)))) {
      got(n, k, p, q) = expected(n, k, p, q);
    }
  });
}

template <typename T>
BoundTerms Judge<T>::terms() const {
  return bound_terms(operands_->prob.dtype, operands_->prob.accumulate, alpha_, beta_);
}

template <typename T>
Alarm Judge<T>::alarm() const {
  return kind_ == DataKind::adversarial ? Alarm::bound_only : Alarm::statistical;
}

template <typename T>
Agreement Judge<T>::judge_sums(const Part& part, const Tensor<T>& y,
                               const Promises& promises) const {
  const auto value = part.reference.value.view();
  const auto taps = part.reference.taps.view();
  const bool excusing =
      promises.padding == Padding::multiplied &&
      std::find(non_finite_.begin(), non_finite_.end(), true) != non_finite_.end();
  Tensor<T> excused;
  const auto got = [&](TensorView<const T> expected) {
    if (!excusing) return box(y.view(), part.begin, value.extents);
    excused = y;
    excuse_padding(part, excused, expected);
    return box(std::as_const(excused).view(), part.begin, value.extents);
  };
  if (sums_are_exact_) return agree_bitwise<T>(got({}), value, taps);

  const Tensor<T> rounded = excusing ? converted<T>(value) : Tensor<T>();
  Agreement agreement =
      agree_within_bound<T>(got(rounded.view()), value, part.reference.magnitude.view(), taps,
                            terms(), part.y0.view(), alarm());
  if (promises.order == Order::own || part.twin.extents() != value.extents) return agreement;
  const Zeros zeros = promises.padding == Padding::multiplied ? Zeros::alike : Zeros::told_apart;
  const Agreement twin = agree_with_twin<T>(got(part.twin.view()), part.twin.view(), zeros);
  agreement.bitwise = twin.bitwise;
  if (twin.pass || !agreement.pass) return agreement;
  agreement.pass = false;
  agreement.wrong = twin.wrong;
  agreement.first_wrong = twin.first_wrong;
  agreement.got = twin.got;
  agreement.expected = twin.expected;
  agreement.failure = twin.failure;
  return agreement;
}

template <typename T>
Agreement Judge<T>::judge(const Tensor<T>& y, const Promises& promises) const {
  Agreement all;
  if (y.extents() != y_extents(operands_->prob)) {
    all.failure = "y has the wrong shape";
    return all;
  }
  for (const Part& part : parts_) {
    Agreement agreement = promises.algorithm == Algorithm::sums
                              ? judge_sums(part, y, promises)
                              : judge_transform(part, y, promises.algorithm);
    for (int axis = 0; axis < 4; ++axis) agreement.first_wrong[axis] += part.begin[axis];
    if (!agreement.pass) return agreement;
    if (&part == &parts_.front()) all = agreement;
  }
  return all;
}

template class Judge<float>;
template class Judge<double>;
template class Judge<Half>;
template class Judge<Bfloat16>;

}  // namespace sevenloops
