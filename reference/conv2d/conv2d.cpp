#include "reference/conv2d/conv2d.hpp"

#include <cmath>
#include <utility>

#include "reference/core/eigen_view.hpp"
#include "reference/core/error.hpp"

namespace sevenloops {
namespace {

using Image = ConstPlane<double>;

// Below, waking the other threads takes longer than the work.
constexpr double kParallelFlops = 1e6;

// A convolution uses the filter rotated by half a turn: its tap r acts at position R-1-r.
std::int64_t tap_position(const Conv2dProblem& prob, std::int64_t tap, std::int64_t taps) {
  return prob.mode == ConvMode::convolution ? taps - 1 - tap : tap;
}

// The row and column of x that output p, q reads through tap r, s. May lie in the padding.
std::int64_t input_row(const Conv2dProblem& prob, std::int64_t p, std::int64_t r) {
  return p * prob.stride_h + tap_position(prob, r, prob.R) * prob.dilation_h - prob.pad_top;
}
std::int64_t input_column(const Conv2dProblem& prob, std::int64_t q, std::int64_t s) {
  return q * prob.stride_w + tap_position(prob, s, prob.S) * prob.dilation_w - prob.pad_left;
}

// Backwards: the output row and column that read x's row h, column w through tap r, s; -1 if none.
std::int64_t output_row(const Conv2dProblem& prob, std::int64_t h, std::int64_t r) {
  const std::int64_t distance = h + prob.pad_top - tap_position(prob, r, prob.R) * prob.dilation_h;
  const std::int64_t p = distance / prob.stride_h;
  return distance < 0 || distance % prob.stride_h != 0 || p >= prob.P() ? -1 : p;
}
std::int64_t output_column(const Conv2dProblem& prob, std::int64_t w, std::int64_t s) {
  const std::int64_t distance = w + prob.pad_left - tap_position(prob, s, prob.S) * prob.dilation_w;
  const std::int64_t q = distance / prob.stride_w;
  return distance < 0 || distance % prob.stride_w != 0 || q >= prob.Q() ? -1 : q;
}

bool inside(std::int64_t index, std::int64_t extent) { return 0 <= index && index < extent; }

template <typename T>
void require_extents(const char* name, const TensorView<const T>& view, const Extents& expected) {
  if (view.extents != expected) {
    throw Error("the shape of " + std::string(name), text_of(view.extents),
                "be " + text_of(expected) + " for this problem");
  }
}

// One element being summed.
struct Sum {
  double value = 0, magnitude = 0;
  std::int64_t taps = 0;

  void add(double a, double b) {
    value += a * b;
    magnitude += std::abs(a) * std::abs(b);
    ++taps;
  }
};

// The result under construction, with the scalars that finish each element.
class Result {
 public:
  Result(const Extents& extents, double alpha, double beta, TensorView<const double> old,
         const char* old_name)
      : result_{Tensor<double>(extents), Tensor<double>(extents), Tensor<std::int64_t>(extents)},
        alpha_(alpha),
        beta_(beta),
        old_(old) {
    if (beta != 0) require_extents(old_name, old, extents);
  }

  // value = alpha * sum + beta * old; what is not to be used (beta = 0) is not read.
  void set(std::int64_t i0, std::int64_t i1, std::int64_t i2, std::int64_t i3, const Sum& sum) {
    const double scaled = alpha_ * sum.value;
    result_.value(i0, i1, i2, i3) = beta_ == 0 ? scaled : scaled + beta_ * old_(i0, i1, i2, i3);
    result_.magnitude(i0, i1, i2, i3) = sum.magnitude;
    result_.taps(i0, i1, i2, i3) = sum.taps;
  }

  ReferenceResult take() { return std::move(result_); }

 private:
  ReferenceResult result_;
  double alpha_, beta_;
  TensorView<const double> old_;
};

}  // namespace

Extents x_extents(const Conv2dProblem& prob) { return {prob.N, prob.C, prob.H, prob.W}; }
Extents w_extents(const Conv2dProblem& prob) {
  return {prob.K, prob.channels_per_group(), prob.R, prob.S};
}
Extents y_extents(const Conv2dProblem& prob) { return {prob.N, prob.K, prob.P(), prob.Q()}; }

ReferenceResult conv2d_forward(const Conv2dProblem& prob, TensorView<const double> x,
                               TensorView<const double> w, double alpha, double beta,
                               TensorView<const double> y0) {
  validate(prob);
  require_extents("x", x, x_extents(prob));
  require_extents("w", w, w_extents(prob));
  const std::int64_t N = prob.N, K = prob.K, P = prob.P(), Q = prob.Q();
  const std::int64_t C = prob.channels_per_group(), R = prob.R, S = prob.S;
  Result y(y_extents(prob), alpha, beta, y0, "y0");
#pragma omp parallel for collapse(4) if (direct_flops(prob) > kParallelFlops)
  for (std::int64_t n = 0; n < N; ++n) {
    for (std::int64_t k = 0; k < K; ++k) {
      for (std::int64_t p = 0; p < P; ++p) {
        for (std::int64_t q = 0; q < Q; ++q) {
          const std::int64_t g = k / prob.filters_per_group();
          Sum sum;
          for (std::int64_t c = 0; c < C; ++c) {
            const Image image = plane(x, n, g * C + c);
            const Image filter = plane(w, k, c);
            for (std::int64_t r = 0; r < R; ++r) {
              const std::int64_t row = input_row(prob, p, r);
              for (std::int64_t s = 0; s < S; ++s) {
                const std::int64_t column = input_column(prob, q, s);
                if (inside(row, prob.H) && inside(column, prob.W)) {
                  sum.add(image(row, column), filter(r, s));
                }
              }
            }
          }
          y.set(n, k, p, q, sum);
        }
      }
    }
  }
  return y.take();
}

ReferenceResult conv2d_backward_data(const Conv2dProblem& prob, TensorView<const double> dy,
                                     TensorView<const double> w, double alpha, double beta,
                                     TensorView<const double> dx0) {
  validate(prob);
  require_extents("dy", dy, y_extents(prob));
  require_extents("w", w, w_extents(prob));
  const std::int64_t N = prob.N, C = prob.C, H = prob.H, W = prob.W;
  const std::int64_t K = prob.filters_per_group(), R = prob.R, S = prob.S;
  Result dx(x_extents(prob), alpha, beta, dx0, "dx0");
#pragma omp parallel for collapse(4) if (direct_flops(prob) > kParallelFlops)
  for (std::int64_t n = 0; n < N; ++n) {
    for (std::int64_t c = 0; c < C; ++c) {
      for (std::int64_t row = 0; row < H; ++row) {
        for (std::int64_t column = 0; column < W; ++column) {
          const std::int64_t g = c / prob.channels_per_group();
          Sum sum;
          for (std::int64_t k = 0; k < K; ++k) {
            const Image gradient = plane(dy, n, g * K + k);
            const Image filter = plane(w, g * K + k, c % prob.channels_per_group());
            for (std::int64_t r = 0; r < R; ++r) {
              const std::int64_t p = output_row(prob, row, r);
              for (std::int64_t s = 0; s < S; ++s) {
                const std::int64_t q = output_column(prob, column, s);
                if (p >= 0 && q >= 0) sum.add(gradient(p, q), filter(r, s));
              }
            }
          }
          dx.set(n, c, row, column, sum);
        }
      }
    }
  }
  return dx.take();
}

ReferenceResult conv2d_backward_filter(const Conv2dProblem& prob, TensorView<const double> x,
                                       TensorView<const double> dy, double alpha, double beta,
                                       TensorView<const double> dw0) {
  validate(prob);
  require_extents("x", x, x_extents(prob));
  require_extents("dy", dy, y_extents(prob));
  const std::int64_t K = prob.K, C = prob.channels_per_group(), R = prob.R, S = prob.S;
  const std::int64_t N = prob.N, P = prob.P(), Q = prob.Q();
  Result dw(w_extents(prob), alpha, beta, dw0, "dw0");
#pragma omp parallel for collapse(4) if (direct_flops(prob) > kParallelFlops)
  for (std::int64_t k = 0; k < K; ++k) {
    for (std::int64_t c = 0; c < C; ++c) {
      for (std::int64_t r = 0; r < R; ++r) {
        for (std::int64_t s = 0; s < S; ++s) {
          const std::int64_t g = k / prob.filters_per_group();
          Sum sum;
          for (std::int64_t n = 0; n < N; ++n) {
            const Image gradient = plane(dy, n, k);
            const Image image = plane(x, n, g * C + c);
            for (std::int64_t p = 0; p < P; ++p) {
              const std::int64_t row = input_row(prob, p, r);
              for (std::int64_t q = 0; q < Q; ++q) {
                const std::int64_t column = input_column(prob, q, s);
                if (inside(row, prob.H) && inside(column, prob.W)) {
                  sum.add(gradient(p, q), image(row, column));
                }
              }
            }
          }
          dw.set(k, c, r, s, sum);
        }
      }
    }
  }
  return dw.take();
}

template <typename T>
Tensor<T> conv2d_forward_twin(const Conv2dProblem& prob, TensorView<const T> x,
                              TensorView<const T> w, T alpha, T beta, TensorView<const T> y0) {
  validate(prob);
  require_extents("x", x, x_extents(prob));
  require_extents("w", w, w_extents(prob));
  if (beta != 0) require_extents("y0", y0, y_extents(prob));
  const std::int64_t N = prob.N, K = prob.K, P = prob.P(), Q = prob.Q();
  const std::int64_t C = prob.channels_per_group(), R = prob.R, S = prob.S;
  Tensor<T> y(y_extents(prob));
#pragma omp parallel for collapse(4) if (direct_flops(prob) > kParallelFlops)
  for (std::int64_t n = 0; n < N; ++n) {
    for (std::int64_t k = 0; k < K; ++k) {
      for (std::int64_t p = 0; p < P; ++p) {
        for (std::int64_t q = 0; q < Q; ++q) {
          const std::int64_t g = k / prob.filters_per_group();
          T sum = 0;
          for (std::int64_t c = 0; c < C; ++c) {
            for (std::int64_t r = 0; r < R; ++r) {
              const std::int64_t row = input_row(prob, p, r);
              for (std::int64_t s = 0; s < S; ++s) {
                const std::int64_t column = input_column(prob, q, s);
                if (inside(row, prob.H) && inside(column, prob.W)) {
                  sum = std::fma(x(n, g * C + c, row, column), w(k, c, r, s), sum);
                }
              }
            }
          }
          const T scaled = alpha == 1 ? sum : alpha * sum;
          y(n, k, p, q) = beta == 0 ? scaled : std::fma(beta, y0(n, k, p, q), scaled);
        }
      }
    }
  }
  return y;
}

template Tensor<float> conv2d_forward_twin(const Conv2dProblem&, TensorView<const float>,
                                           TensorView<const float>, float, float,
                                           TensorView<const float>);
template Tensor<double> conv2d_forward_twin(const Conv2dProblem&, TensorView<const double>,
                                            TensorView<const double>, double, double,
                                            TensorView<const double>);

}  // namespace sevenloops
