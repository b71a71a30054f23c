#include "reference/conv2d/winograd_magnitude.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "reference/conv2d/conv2d.hpp"
#include "reference/core/error.hpp"

namespace sevenloops {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Below, waking the other threads takes longer than the work.
constexpr double kParallelFlops = 1e6;

// The transforms' coefficients without their signs, and what follows from them.
template <int kM>
struct Transforms {
  static constexpr int kWindow = kM + 2;
  Eigen::Matrix<double, kM, kWindow> A;       // |A^T|, of the sums
  Eigen::Matrix<double, kWindow, 3> G;        // |G|, of filters
  Eigen::Matrix<double, kWindow, kWindow> B;  // |B^T|, of inputs
  double whole;                               // G times this holds whole numbers
  std::int64_t roundings;                     // on the longest path through all three
  double reach;                               // the largest sum of |A^T| in both directions
};

// Each transform works along rows and along columns: twice the roundings of one row of its matrix.
// G: two additions; halves are exact. B^T: one addition. A^T: two additions.
Transforms<2> transforms_of_2x2() {
  Transforms<2> t;
  t.A << 1, 1, 1, 0,  //
      0, 1, 1, 1;
  t.G << 1, 0, 0,  //
      .5, .5, .5,  //
      .5, .5, .5,  //
      0, 0, 1;
  t.B << 1, 0, 1, 0,  //
      0, 1, 1, 0,     //
      0, 1, 1, 0,     //
      0, 1, 0, 1;
  t.whole = 2;
  t.roundings = 2 * (2 + 1 + 2);
  t.reach = 9;
  return t;
}

// G: three products by rounded coefficients (or a product and a division) and two additions.
// B^T: a product and three additions. A^T: four additions; powers of two are exact.
Transforms<4> transforms_of_4x4() {
  Transforms<4> t;
  t.A << 1, 1, 1, 1, 1, 0,  //
      0, 1, 1, 2, 2, 0,     //
      0, 1, 1, 4, 4, 0,     //
      0, 1, 1, 8, 8, 1;
  t.G << 6, 0, 0,  //
      4, 4, 4,     //
      4, 4, 4,     //
      1, 2, 4,     //
      1, 2, 4,     //
      0, 0, 24;
  t.G /= 24;
  t.B << 4, 0, 5, 0, 1, 0,  //
      0, 4, 4, 1, 1, 0,     //
      0, 4, 4, 1, 1, 0,     //
      0, 2, 1, 2, 1, 0,     //
      0, 2, 1, 2, 1, 0,     //
      0, 4, 0, 5, 0, 1;
  t.whole = 24;
  t.roundings = 2 * (5 + 4 + 4);
  t.reach = 19 * 19;
  return t;
}

double finite_magnitude(double value) { return std::isfinite(value) ? std::abs(value) : 0; }

// One window of transformed magnitudes.
template <int kM>
struct Window {
  Eigen::Matrix<double, kM + 2, kM + 2> values;
  double largest;  // of what is computed on the way; infinite when an operand is not finite
};

template <int kM>
Window<kM> filter_window(const Conv2dProblem& prob, const Transforms<kM>& t,
                         TensorView<const double> w, std::int64_t k, std::int64_t c, double tiny) {
  Eigen::Matrix3d g;
  bool finite = true;
  for (int r = 0; r < 3; ++r) {
    for (int s = 0; s < 3; ++s) {
      const bool rotated = prob.mode == ConvMode::convolution;
      const double tap = w(k, c, rotated ? 2 - r : r, rotated ? 2 - s : s);
      finite = finite && std::isfinite(tap);
      // A part of a number below `tiny` is rounded like one of `tiny`.
      g(r, s) = std::max(finite_magnitude(tap), 2 * tiny);
    }
  }
  Window<kM> window;
  window.values = t.G * g * t.G.transpose();
  window.largest = finite ? t.whole * t.whole * window.values.maxCoeff() : kInfinity;
  return window;
}

template <int kM>
Window<kM> input_window(const Conv2dProblem& prob, const Transforms<kM>& t,
                        TensorView<const double> x, std::int64_t n, std::int64_t c,
                        std::int64_t p_first, std::int64_t q_first) {
  Eigen::Matrix<double, kM + 2, kM + 2> d;
  bool finite = true;
  for (int i = 0; i < kM + 2; ++i) {
    for (int j = 0; j < kM + 2; ++j) {
      const std::int64_t h = p_first + i - prob.pad_top, v = q_first + j - prob.pad_left;
      const bool inside = 0 <= h && h < prob.H && 0 <= v && v < prob.W;
      const double value = inside ? x(n, c, h, v) : 0;
      finite = finite && std::isfinite(value);
      d(i, j) = finite_magnitude(value);
    }
  }
  Window<kM> window;
  window.values = t.B * d * t.B.transpose();
  window.largest = finite ? window.values.maxCoeff() : kInfinity;
  return window;
}

template <int kM>
TransformMagnitude magnitude_of(const Conv2dProblem& prob, const Transforms<kM>& t,
                                TensorView<const double> x, TensorView<const double> w,
                                double tiny) {
  const std::int64_t C = prob.channels_per_group(), K = prob.filters_per_group();
  const std::int64_t P = prob.P(), Q = prob.Q();
  TransformMagnitude y{
      Tensor<double>(y_extents(prob)), Tensor<double>(y_extents(prob)), C + t.roundings, 0, t.reach,
      9.0 * static_cast<double>(C)};
  std::vector<Window<kM>> filters;
  for (std::int64_t k = 0; k < prob.K; ++k) {
    for (std::int64_t c = 0; c < C; ++c) filters.push_back(filter_window(prob, t, w, k, c, tiny));
  }
  const std::int64_t p_tiles = (P + kM - 1) / kM, q_tiles = (Q + kM - 1) / kM;
#pragma omp parallel for collapse(4) if (direct_flops(prob) > kParallelFlops)
  for (std::int64_t n = 0; n < prob.N; ++n) {
    for (std::int64_t g = 0; g < prob.groups; ++g) {
      for (std::int64_t i = 0; i < p_tiles; ++i) {
        for (std::int64_t j = 0; j < q_tiles; ++j) {
          std::vector<Window<kM>> inputs;
          double largest_input = 0;
          for (std::int64_t c = 0; c < C; ++c) {
            inputs.push_back(input_window(prob, t, x, n, g * C + c, i * kM, j * kM));
            largest_input = std::max(largest_input, inputs.back().largest);
          }
          for (std::int64_t k = g * K; k < (g + 1) * K; ++k) {
            Eigen::Matrix<double, kM + 2, kM + 2> products;
            products.setZero();
            double largest = largest_input;
            for (std::int64_t c = 0; c < C; ++c) {
              const Window<kM>& filter = filters[k * C + c];
              products += filter.values.cwiseProduct(inputs[c].values);
              largest = std::max(largest, filter.largest);
            }
            const Eigen::Matrix<double, kM, kM> sums = t.A * products * t.A.transpose();
            for (std::int64_t p = i * kM; p < std::min(P, (i + 1) * kM); ++p) {
              for (std::int64_t q = j * kM; q < std::min(Q, (j + 1) * kM); ++q) {
                const double sum = sums(p - i * kM, q - j * kM);
                y.sum(n, k, p, q) = sum;
                y.largest(n, k, p, q) = std::max(largest, sum);
              }
            }
          }
        }
      }
    }
  }
  return y;
}

}  // namespace

TransformMagnitude winograd_magnitude(const Conv2dProblem& prob, int m, TensorView<const double> x,
                                      TensorView<const double> w, double tiny) {
  validate(prob);
  const bool fits = prob.R == 3 && prob.S == 3 && prob.stride_h == 1 && prob.stride_w == 1 &&
                    prob.dilation_h == 1 && prob.dilation_w == 1;
  if (!fits) {
    throw Error("Winograd's transforms are for 3 x 3 filters of stride and dilation 1, not for " +
                print(prob));
  }
  if (m != 2 && m != 4) throw Error("the size of Winograd's tile", m, "be 2 or 4");
  return m == 2 ? magnitude_of(prob, transforms_of_2x2(), x, w, tiny)
                : magnitude_of(prob, transforms_of_4x4(), x, w, tiny);
}

}  // namespace sevenloops
