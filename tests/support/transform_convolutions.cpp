#include "tests/support/transform_convolutions.hpp"

#include <bit>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "reference/core/data.hpp"
#include "reference/core/numerics.hpp"

namespace sevenloops::testing {
namespace {

template <typename T>
using Matrix = std::vector<std::vector<T>>;

// Rounds after each operation, as a GPU does.
template <typename T>
Matrix<T> product(const Matrix<T>& a, const Matrix<T>& b) {
  Matrix<T> result(a.size(), std::vector<T>(b[0].size()));
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b[0].size(); ++j) {
      for (std::size_t k = 0; k < b.size(); ++k) result[i][j] += a[i][k] * b[k][j];
    }
  }
  return result;
}

template <typename T>
Matrix<T> transposed(const Matrix<T>& a) {
  Matrix<T> result(a[0].size(), std::vector<T>(a.size()));
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < a[0].size(); ++j) result[j][i] = a[i][j];
  }
  return result;
}

// M a M^T.
template <typename T>
Matrix<T> both_ways(const Matrix<T>& m, const Matrix<T>& a) {
  return product(product(m, a), transposed(m));
}

// `scaled_G` is G times `scale`.
template <typename T>
struct Winograd {
  Matrix<T> B, scaled_G, A;
  T scale;
};

template <typename T>
Winograd<T> winograd_of(int m) {
  if (m == 2) {
    return {{{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, -1, 0, 1}},
            {{2, 0, 0}, {1, 1, 1}, {1, -1, 1}, {0, 0, 2}},
            {{1, 1, 1, 0}, {0, 1, -1, 1}},
            2};
  }
  return {{{4, 0, -5, 0, 1, 0},
           {0, -4, -4, 1, 1, 0},
           {0, 4, -4, -1, 1, 0},
           {0, -2, -1, 2, 1, 0},
           {0, 2, -1, -2, 1, 0},
           {0, 4, 0, -5, 0, 1}},
          {{6, 0, 0}, {-4, -4, -4}, {-4, 4, -4}, {1, 2, 4}, {1, -2, 4}, {0, 0, 24}},
          {{1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}},
          24};
}

// x in the padded image.
template <typename T>
T padded(const Conv2dOperands<T>& on, std::int64_t n, std::int64_t c, std::int64_t row,
         std::int64_t column) {
  const std::int64_t h = row - on.prob.pad_top, v = column - on.prob.pad_left;
  const bool inside = 0 <= h && h < on.prob.H && 0 <= v && v < on.prob.W;
  return inside ? on.x(n, c, h, v) : T(0);
}

// The filter as a cross-correlation uses it.
template <typename T>
T tap(const Conv2dOperands<T>& on, std::int64_t k, std::int64_t c, std::int64_t r, std::int64_t s) {
  if (on.prob.mode == ConvMode::cross_correlation) return on.w(k, c, r, s);
  return on.w(k, c, on.prob.R - 1 - r, on.prob.S - 1 - s);
}

template <typename T>
void store(const Conv2dOperands<T>& on, Tensor<T>& y, std::int64_t n, std::int64_t k,
           std::int64_t p, std::int64_t q, T sum) {
  const T scaled = static_cast<T>(on.alpha) * sum;
  y(n, k, p, q) =
      on.beta == 0 ? scaled : std::fma(static_cast<T>(on.beta), on.y0(n, k, p, q), scaled);
}

template <typename T>
using Spectrum = std::vector<std::complex<T>>;

// Products as they stand: std::complex's own operator mends infinities.
template <typename T>
std::complex<T> times(std::complex<T> a, std::complex<T> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// Elements first, first + step, ... of `data`; `sign` -1 forward, 1 back (unscaled). By halves.
template <typename T>
void transform_row(Spectrum<T>& data, std::size_t first, std::size_t step, std::size_t count,
                   int sign) {
  if (count == 1) return;
  transform_row(data, first, 2 * step, count / 2, sign);
  transform_row(data, first + step, 2 * step, count / 2, sign);
  Spectrum<T> result(count);
  for (std::size_t i = 0; i < count / 2; ++i) {
    const double angle =
        sign * 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(count);
    const std::complex<T> weight(static_cast<T>(std::cos(angle)), static_cast<T>(std::sin(angle)));
    const std::complex<T> even = data[first + 2 * i * step];
    const std::complex<T> odd = times(weight, data[first + (2 * i + 1) * step]);
    result[i] = even + odd;
    result[i + count / 2] = even - odd;
  }
  for (std::size_t i = 0; i < count; ++i) data[first + i * step] = result[i];
}

template <typename T>
void transform_plane(Spectrum<T>& plane, std::size_t height, std::size_t width, int sign) {
  for (std::size_t h = 0; h < height; ++h) transform_row(plane, h * width, 1, width, sign);
  for (std::size_t v = 0; v < width; ++v) transform_row(plane, v, width, height, sign);
}

}  // namespace

template <typename T>
Tensor<T> winograd_convolution(const Conv2dOperands<T>& on, int m) {
  const Conv2dProblem& prob = on.prob;
  const Winograd<T> t = winograd_of<T>(m);
  const std::size_t window = m + 2;
  const std::int64_t C = prob.channels_per_group();
  Tensor<T> y(y_extents(prob));
  for (std::int64_t n = 0; n < prob.N; ++n) {
    for (std::int64_t k = 0; k < prob.K; ++k) {
      for (std::int64_t p0 = 0; p0 < prob.P(); p0 += m) {
        for (std::int64_t q0 = 0; q0 < prob.Q(); q0 += m) {
          Matrix<T> sums(window, std::vector<T>(window));
          for (std::int64_t c = 0; c < C; ++c) {
            Matrix<T> d(window, std::vector<T>(window)), g(3, std::vector<T>(3));
            const std::int64_t channel = k / prob.filters_per_group() * C + c;
            for (std::size_t i = 0; i < window; ++i) {
              for (std::size_t j = 0; j < window; ++j) {
                d[i][j] = padded(on, n, channel, p0 + i, q0 + j);
              }
            }
            for (int r = 0; r < 3; ++r) {
              for (int s = 0; s < 3; ++s) g[r][s] = tap(on, k, c, r, s);
            }
            const Matrix<T> input = both_ways(t.B, d), filter = both_ways(t.scaled_G, g);
            for (std::size_t i = 0; i < window; ++i) {
              for (std::size_t j = 0; j < window; ++j) {
                sums[i][j] += filter[i][j] / (t.scale * t.scale) * input[i][j];
              }
            }
          }
          const Matrix<T> tile = both_ways(t.A, sums);
          for (std::int64_t p = p0; p < std::min(p0 + m, prob.P()); ++p) {
            for (std::int64_t q = q0; q < std::min(q0 + m, prob.Q()); ++q) {
              store(on, y, n, k, p, q, tile[p - p0][q - q0]);
            }
          }
        }
      }
    }
  }
  return y;
}

template <typename T>
Tensor<T> fourier_convolution(const Conv2dOperands<T>& on) {
  const Conv2dProblem& prob = on.prob;
  const std::int64_t rows = prob.H + prob.pad_top + prob.pad_bottom;
  const std::int64_t columns = prob.W + prob.pad_left + prob.pad_right;
  const std::size_t height = std::bit_ceil(static_cast<std::size_t>(rows));
  const std::size_t width = std::bit_ceil(static_cast<std::size_t>(columns));
  const std::int64_t C = prob.channels_per_group();
  Tensor<T> y(y_extents(prob));
  for (std::int64_t n = 0; n < prob.N; ++n) {
    for (std::int64_t k = 0; k < prob.K; ++k) {
      Spectrum<T> sum(height * width);
      for (std::int64_t c = 0; c < C; ++c) {
        Spectrum<T> image(height * width), filter(height * width);
        const std::int64_t channel = k / prob.filters_per_group() * C + c;
        for (std::int64_t i = 0; i < rows; ++i) {
          for (std::int64_t j = 0; j < columns; ++j) {
            image[i * width + j] = padded(on, n, channel, i, j);
          }
        }
        for (std::int64_t r = 0; r < prob.R; ++r) {
          for (std::int64_t s = 0; s < prob.S; ++s) {
            filter[r * prob.dilation_h * width + s * prob.dilation_w] = tap(on, k, c, r, s);
          }
        }
        transform_plane(image, height, width, -1);
        transform_plane(filter, height, width, -1);
        // The conjugate turns the convolution of transforms into a correlation.
        for (std::size_t f = 0; f < sum.size(); ++f)
          sum[f] += times(image[f], std::conj(filter[f]));
      }
      transform_plane(sum, height, width, 1);
      for (std::int64_t p = 0; p < prob.P(); ++p) {
        for (std::int64_t q = 0; q < prob.Q(); ++q) {
          const std::size_t at = p * prob.stride_h * width + q * prob.stride_w;
          store(on, y, n, k, p, q, sum[at].real() / static_cast<T>(height * width));
        }
      }
    }
  }
  return y;
}

template <typename T>
Tensor<T> transform_convolution(const Conv2dOperands<T>& on, Algorithm algorithm) {
  if (algorithm == Algorithm::fourier) return fourier_convolution(on);
  return winograd_convolution(on, algorithm == Algorithm::winograd_2x2 ? 2 : 4);
}

template <typename T>
Conv2dOperands<T> operands_exact_for_4x4(const Conv2dProblem& prob, Layout layout,
                                         std::uint64_t seed) {
  Conv2dOperands<T> on = make_operands<T>(prob, layout, DataKind::exact, seed);
  // One tap of 576 against inputs of 1 contributes at most 576 * 861 to a tile's magnitudes: for
  // fp32's 2^24, 33 such taps a filter; for fp64's digits, any number of larger ones.
  const bool wide = significant_bits(prob.accumulate) >= 53;
  const std::int64_t all_taps = prob.channels_per_group() * prob.R * prob.S;
  fill_exact(on.x.view(), split_seed(seed, 0), wide ? 100 : 2);
  fill_exact_sparse(on.w.view(), split_seed(seed, 1), wide ? 100 : 1, wide ? all_taps : 16);
  for_each_index(on.w.extents(),
                 [&](auto k, auto c, auto r, auto s) { on.w(k, c, r, s) *= T(576); });
  return on;
}

#define SEVENLOOPS_TRANSFORMS(T)                                                 \
  template Tensor<T> winograd_convolution(const Conv2dOperands<T>&, int);        \
  template Tensor<T> fourier_convolution(const Conv2dOperands<T>&);              \
  template Tensor<T> transform_convolution(const Conv2dOperands<T>&, Algorithm); \
  template Conv2dOperands<T> operands_exact_for_4x4(const Conv2dProblem&, Layout, std::uint64_t);
SEVENLOOPS_TRANSFORMS(float)
SEVENLOOPS_TRANSFORMS(double)
#undef SEVENLOOPS_TRANSFORMS

}  // namespace sevenloops::testing
