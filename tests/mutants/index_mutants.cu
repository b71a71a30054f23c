// One thread for each output, as in the simplest stage, with one index or one line wrong.

#include "gpu/conv2d/conv2d_forward.hpp"
#include "gpu/cuda.hpp"
#include "gpu/launch.hpp"
#include "tests/mutants/mutant.hpp"

namespace sevenloops::SEVENLOOPS_BUILD {
namespace {

enum class Wrong {
  nothing,
  strides_swapped,
  dilations_swapped,
  height_width_padding_swapped,
  begin_end_padding_swapped,
  mode_ignored,
  one_axis_flipped,
  group_offset,
  last_tap_dropped,
  filter_transposed,
  tail_channel_dropped,
  offset_in_32_bits,
  coordinate_in_32_bits,
  accumulator_uninitialized,
  y_read_when_beta_is_zero,
  alpha_ignored,
  border_test_off_by_one,
  tail_output_unwritten,
  padding_contributes_a_term,
};

constexpr int kThreads = 64;

// The element of `view` at an offset that a 32-bit integer is to hold.
template <typename T>
__device__ T at_32_bit_offset(const TensorView<const T>& view, std::int64_t n, std::int64_t c,
                              std::int64_t h, std::int64_t w) {
  return view.data[static_cast<std::int32_t>(view.offset(n, c, h, w))];
}

template <Wrong kWrong, typename T>
__global__ void convolve(Conv2dProblem prob, TensorView<const T> x, TensorView<const T> w,
                         TensorView<T> y, T alpha, T beta) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  const std::int64_t tail = kWrong == Wrong::tail_output_unwritten ? y.size() % 4 : 0;
  if (thread >= y.size() - tail) return;
  const std::int64_t K = y.extent(1), P = y.extent(2), Q = y.extent(3);
  const std::int64_t q = thread % Q, p = thread / Q % P;
  const std::int64_t k = thread / (Q * P) % K, n = thread / (Q * P * K);

  std::int64_t stride_h = prob.stride_h, stride_w = prob.stride_w;
  std::int64_t dilation_h = prob.dilation_h, dilation_w = prob.dilation_w;
  std::int64_t pad_h = prob.pad_top, pad_w = prob.pad_left;
  if (kWrong == Wrong::strides_swapped) stride_h = prob.stride_w, stride_w = prob.stride_h;
  if (kWrong == Wrong::dilations_swapped)
    dilation_h = prob.dilation_w, dilation_w = prob.dilation_h;
  if (kWrong == Wrong::height_width_padding_swapped) pad_h = prob.pad_left, pad_w = prob.pad_top;
  if (kWrong == Wrong::begin_end_padding_swapped) pad_h = prob.pad_bottom, pad_w = prob.pad_right;

  const bool rotated = prob.mode == ConvMode::convolution && kWrong != Wrong::mode_ignored;
  const bool rotated_w = rotated && kWrong != Wrong::one_axis_flipped;
  std::int64_t C = prob.channels_per_group();
  const std::int64_t R = prob.R, S = prob.S;
  std::int64_t c_first = k / prob.filters_per_group() * C;
  if (kWrong == Wrong::group_offset) c_first = k / prob.filters_per_group();
  if (kWrong == Wrong::tail_channel_dropped && C > 2) C = C / 2 * 2;
  const std::int64_t border = kWrong == Wrong::border_test_off_by_one ? 1 : 0;

  T sum = 0;
  if (kWrong == Wrong::accumulator_uninitialized) sum = y(n, k, p, q);
  for (std::int64_t c = 0; c < C; ++c) {
    for (std::int64_t r = 0; r < R; ++r) {
      std::int64_t h = p * stride_h + (rotated ? R - 1 - r : r) * dilation_h - pad_h;
      for (std::int64_t s = 0; s < S; ++s) {
        std::int64_t v = q * stride_w + (rotated_w ? S - 1 - s : s) * dilation_w - pad_w;
        if (kWrong == Wrong::coordinate_in_32_bits) v = static_cast<std::int32_t>(v);
        if (kWrong == Wrong::last_tap_dropped && c == C - 1 && r == R - 1 && s == S - 1) continue;
        const bool inside = 0 <= h && h < prob.H + border && 0 <= v && v < prob.W;
        if (!inside) {
          if (kWrong == Wrong::padding_contributes_a_term) sum = fma(T(1), w(k, c, r, s), sum);
          continue;
        }
        T value = kWrong == Wrong::offset_in_32_bits ? at_32_bit_offset(x, n, c_first + c, h, v)
                                                     : x(n, c_first + c, h, v);
        T factor = kWrong == Wrong::filter_transposed ? w(k, c, s, r) : w(k, c, r, s);
        sum = fma(value, factor, sum);
      }
    }
  }

  const T scaled = kWrong == Wrong::alpha_ignored ? sum : alpha * sum;
  const bool overwrite = beta == 0 && kWrong != Wrong::y_read_when_beta_is_zero;
  y(n, k, p, q) = overwrite ? scaled : fma(beta, y(n, k, p, q), scaled);
}

Support supports(const Conv2dForward::Args&) { return {}; }

std::size_t workspace_bytes(const Conv2dForward::Args&) { return 0; }

template <Wrong kWrong, typename T>
void launch_as(const Conv2dForward::Args& args, Stream stream) {
  const auto blocks = static_cast<unsigned>((args.y.size() + kThreads - 1) / kThreads);
  launch(convolve<kWrong, T>, LaunchShape{dim3(blocks), dim3(kThreads)}, stream, args.prob,
         args.x.as<const T>(), args.w.as<const T>(), args.y.as<T>(), static_cast<T>(args.alpha),
         static_cast<T>(args.beta));
}

template <Wrong kWrong>
void launch_mutant(const Conv2dForward::Args& args, Workspace, Stream stream) {
  if (args.y.size() == 0) return;
  args.prob.dtype == Dtype::f64 ? launch_as<kWrong, double>(args, stream)
                                : launch_as<kWrong, float>(args, stream);
}

template <Wrong kWrong>
Mutant mutant(const char* name) {
  return {.name = name,
          .idea = "One thread for each output",
          .family = "direct",
          .order = Order::reference,
          .padding = Padding::skipped,
          .deterministic = true,
          .supports = supports,
          .workspace_bytes = workspace_bytes,
          .prepare = nullptr,
          .launch = launch_mutant<kWrong>};
}

}  // namespace

std::vector<Mutant> index_mutants() {
  return {
      mutant<Wrong::nothing>("right"),
      mutant<Wrong::strides_swapped>("strides swapped"),
      mutant<Wrong::dilations_swapped>("dilations swapped"),
      mutant<Wrong::height_width_padding_swapped>("height and width padding swapped"),
      mutant<Wrong::begin_end_padding_swapped>("begin and end padding swapped"),
      mutant<Wrong::mode_ignored>("mode ignored"),
      mutant<Wrong::one_axis_flipped>("filter rotated on one axis only"),
      mutant<Wrong::group_offset>("wrong group offset"),
      mutant<Wrong::last_tap_dropped>("last tap dropped"),
      mutant<Wrong::filter_transposed>("filter transposed"),
      mutant<Wrong::tail_channel_dropped>("tail channel dropped"),
      mutant<Wrong::offset_in_32_bits>("offset in 32 bits"),
      mutant<Wrong::coordinate_in_32_bits>("coordinate in 32 bits"),
      mutant<Wrong::accumulator_uninitialized>("accumulator uninitialized"),
      mutant<Wrong::y_read_when_beta_is_zero>("y read when beta is zero"),
      mutant<Wrong::alpha_ignored>("alpha ignored"),
      mutant<Wrong::border_test_off_by_one>("border test off by one"),
      mutant<Wrong::tail_output_unwritten>("tail output unwritten"),
      mutant<Wrong::padding_contributes_a_term>("padding contributes a term"),
  };
}

}  // namespace sevenloops::SEVENLOOPS_BUILD
