#include "reference/conv2d/fourier_magnitude.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "reference/conv2d/conv2d.hpp"
#include "reference/core/eigen_view.hpp"

namespace sevenloops {
namespace {

int rounded_up_log2(std::int64_t count) {
  return std::bit_width(static_cast<std::uint64_t>(count - 1));
}

// The 2-norm of a plane's finite elements, and whether there are others. Scaled, since squares of
// numbers far from 1 leave the range.
struct Norm {
  double value = 0;
  bool finite = true;
};

Norm norm_of(const ConstPlane<double>& plane) {
  Norm norm;
  double largest = 0;
  for (Eigen::Index i = 0; i < plane.rows(); ++i) {
    for (Eigen::Index j = 0; j < plane.cols(); ++j) {
      const double magnitude = std::abs(plane(i, j));
      if (!std::isfinite(magnitude)) {
        norm.finite = false;
      } else {
        largest = std::max(largest, magnitude);
      }
    }
  }
  if (largest == 0) return norm;
  double squares = 0;
  for (Eigen::Index i = 0; i < plane.rows(); ++i) {
    for (Eigen::Index j = 0; j < plane.cols(); ++j) {
      const double fraction = plane(i, j) / largest;
      if (std::isfinite(plane(i, j))) squares += fraction * fraction;
    }
  }
  norm.value = largest * std::sqrt(squares);
  return norm;
}

// Of all planes, [first axis][second axis].
std::vector<Norm> norms_of(TensorView<const double> planes) {
  std::vector<Norm> norms;
  for (std::int64_t n = 0; n < planes.extent(0); ++n) {
    for (std::int64_t c = 0; c < planes.extent(1); ++c)
      norms.push_back(norm_of(plane(planes, n, c)));
  }
  return norms;
}

}  // namespace

int fourier_levels(const Conv2dProblem& prob) {
  return rounded_up_log2(prob.H + prob.pad_top + prob.pad_bottom) +
         rounded_up_log2(prob.W + prob.pad_left + prob.pad_right) + 2;
}

TransformMagnitude fourier_magnitude(const Conv2dProblem& prob, TensorView<const double> x,
                                     TensorView<const double> w, double tiny) {
  validate(prob);
  const std::int64_t C = prob.channels_per_group();
  const int levels = fourier_levels(prob);
  TransformMagnitude y{Tensor<double>(y_extents(prob)),
                       Tensor<double>(y_extents(prob)),
                       levels + C,
                       23.0 * levels + 4,
                       8,
                       static_cast<double>(C * prob.R * prob.S)};
  const std::vector<Norm> images = norms_of(x), filters = norms_of(w);
  const double points = std::ldexp(1.0, levels), root = std::sqrt(points);
  for (std::int64_t n = 0; n < prob.N; ++n) {
    for (std::int64_t k = 0; k < prob.K; ++k) {
      double sum = 0, largest = 0;
      for (std::int64_t c = 0; c < C; ++c) {
        const Norm& image = images[n * prob.C + k / prob.filters_per_group() * C + c];
        const Norm& filter = filters[k * C + c];
        // What underflow takes from each of the points counts like a norm of this size.
        const double least = 2 * root * tiny;
        sum += std::max(image.value, least) * std::max(filter.value, least);
        largest = std::max({largest, root * image.value, root * filter.value});
        if (!image.finite || !filter.finite) largest = std::numeric_limits<double>::infinity();
      }
      largest = std::max(largest, points * sum);
      for (std::int64_t p = 0; p < prob.P(); ++p) {
        for (std::int64_t q = 0; q < prob.Q(); ++q) {
          y.sum(n, k, p, q) = sum;
          y.largest(n, k, p, q) = largest;
        }
      }
    }
  }
  return y;
}

}  // namespace sevenloops
