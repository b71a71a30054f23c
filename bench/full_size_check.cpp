#include "bench/full_size_check.hpp"

#include <cmath>
#include <utility>

#include "bench/contract.hpp"
#include "gpu/device_buffer.hpp"
#include "reference/conv2d/conv2d.hpp"
#include "reference/core/data.hpp"
#include "reference/core/error.hpp"
#include "reference/core/numerics.hpp"

namespace sevenloops {
namespace {

// Whole numbers so small that weighed sums of fill_exact()'s data stay exact in fp64.
std::vector<double> random_weights(const Conv2dProblem& prob, std::uint64_t seed) {
  std::vector<double> weights(static_cast<std::size_t>(prob.K));
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const std::uint64_t bits = random_bits(seed, k);
    const double magnitude = prob.dtype == Dtype::f64 ? 1 : (1 << 15) + (bits >> 49);
    weights[k] = bits & 1 ? magnitude : -magnitude;
  }
  return weights;
}

// sum over the rows k of each group of weight(k) * value(tensor[k]): one row a group.
template <typename T, typename Value>
Tensor<double> weighed_rows(TensorView<const T> w, std::int64_t groups,
                            const std::vector<double>& weights, Value value) {
  Tensor<double> sum({groups, w.extent(1), w.extent(2), w.extent(3)});
  const std::int64_t rows = w.extent(0) / groups;
  for_each_index(w.extents, [&](auto k, auto c, auto r, auto s) {
    sum(k / rows, c, r, s) += value(weights[k]) * value(static_cast<double>(w(k, c, r, s)));
  });
  return sum;
}

// The same over y's second axis.
template <typename T, typename Value>
Tensor<double> weighed_channels(TensorView<const T> y, std::int64_t groups,
                                const std::vector<double>& weights, Value value) {
  Tensor<double> sum({y.extent(0), groups, y.extent(2), y.extent(3)});
  const std::int64_t channels = y.extent(1) / groups;
  for_each_index(y.extents, [&](auto n, auto k, auto p, auto q) {
    sum(n, k / channels, p, q) += value(weights[k]) * value(static_cast<double>(y(n, k, p, q)));
  });
  return sum;
}

// The larger; a NaN is worse than every number.
double worse(double a, double b) { return std::isnan(a) || a > b ? a : b; }

double itself(double value) { return value; }
double magnitude(double value) { return std::abs(value); }

// The problem with one filter a group.
Conv2dProblem one_filter_a_group(Conv2dProblem prob) {
  prob.K = prob.groups;
  return prob;
}

template <typename T>
Tensor<double> mapped(TensorView<const T> x, double (*value)(double)) {
  Tensor<double> copy(x.extents);
  for_each_index(x.extents, [&](auto n, auto c, auto h, auto w) {
    copy(n, c, h, w) = value(static_cast<double>(x(n, c, h, w)));
  });
  return copy;
}

}  // namespace

template <typename T>
FullSizeCheck::FullSizeCheck(const Conv2dOperands<T>& operands, std::uint64_t seed)
    : prob_(operands.prob), weights_(random_weights(operands.prob, seed)) {
  const Conv2dProblem one = one_filter_a_group(prob_);
  const TensorView<const T> x = operands.x.view(), w = operands.w.view(), y0 = operands.y0.view();
  const auto answer = [&](double (*value)(double)) {
    Tensor<double> initial;
    if (operands.beta != 0) initial = weighed_channels<T>(y0, prob_.groups, weights_, value);
    const Tensor<double> filter = weighed_rows<T>(w, prob_.groups, weights_, value);
    const Tensor<double> input = mapped<T>(x, value);
    return conv2d_forward(one, input.view(), filter.view(), value(operands.alpha),
                          value(operands.beta), std::as_const(initial).view());
  };
  expected_ = answer(itself).value.buffer();
  const ReferenceResult sums = answer(magnitude);
  bound_ = sums.value.buffer();
  const double u = unit_roundoff(prob_.accumulate);
  for (std::size_t i = 0; i < bound_.size(); ++i) {
    // Each tap rounds once; alpha, beta * y0 and their sum round three times more.
    const double roundings = (static_cast<double>(sums.taps.buffer()[i]) + 3) * u;
    bound_[i] *= roundings / (1 - roundings);
  }
}

template FullSizeCheck::FullSizeCheck(const Conv2dOperands<float>&, std::uint64_t);
template FullSizeCheck::FullSizeCheck(const Conv2dOperands<double>&, std::uint64_t);

WeighedError FullSizeCheck::compare(Place place, const AnyView& y) const {
  const std::size_t bytes = expected_.size() * sizeof(double);
  DeviceBuffer weights(place, weights_.size() * sizeof(double), "weights");
  DeviceBuffer z(place, bytes, "z");
  weights.upload(weights_.data(), weights.bytes());
  z.poison(0xFF);
  const auto run = [&](auto zero) {
    using T = decltype(zero);
    const auto view = y.as<const T>();
#ifdef SEVENLOOPS_HAS_CUDA
    const auto kernel = place == Place::gpu ? build_gpu::contract<T> : build_plain::contract<T>;
#else
    const auto kernel = build_plain::contract<T>;
#endif
    kernel(view, prob_.groups, static_cast<const double*>(weights.data()),
           static_cast<double*>(z.data()), nullptr);
  };
  if (prob_.dtype == Dtype::f64) {
    run(double());
  } else if (prob_.dtype == Dtype::f32) {
    run(float());
  } else {
    throw Error("dtype", std::string(name_of(prob_.dtype)), "be f32 or f64 for this check");
  }
  std::vector<double> got(expected_.size());
  z.download(got.data(), bytes);

  WeighedError error{.exact = true};
  double squares = 0, expected_squares = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] == expected_[i] || (std::isnan(got[i]) && std::isnan(expected_[i]))) continue;
    error.exact = false;
    const double distance = std::abs(got[i] - expected_[i]);
    squares += distance * distance;
    error.worst_bound_fraction = worse(error.worst_bound_fraction, distance / bound_[i]);
    error.max = worse(error.max, distance);
  }
  for (double value : expected_) expected_squares += std::isfinite(value) ? value * value : 0;
  if (!error.exact) {
    const double count = static_cast<double>(got.size());
    error.rms = std::sqrt(squares / expected_squares);
    error.max /= std::sqrt(expected_squares / count);
  }
  return error;
}

}  // namespace sevenloops
