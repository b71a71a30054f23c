// direct: one thread for each output element, the inner loops of the definition inside it.
//
// Idea       The four outer loops n k p q become threads; the three inner ones c r s stay loops.
// Change     The first stage: nothing came before it.
// Buys       Every output at the same time. Consecutive threads take consecutive filters k, as a
//            first attempt might: in NCHW a warp then stores to 32 places P*Q elements apart and
//            reads the filter at 32 places C*R*S apart, each a 32-byte sector for one element.
// Shared     none. Registers: one sum; all else is indices.
// Source     The formula at Conv2dProblem; "direct convolution" of the cuDNN paper, arXiv
//            1410.0759, section 3.

#include "gpu/conv2d/conv2d_forward.hpp"
#include "gpu/cuda.hpp"
#include "gpu/launch.hpp"

namespace sevenloops::SEVENLOOPS_BUILD {
namespace {

constexpr int kThreads = 256;  // of a block, each with one output element

static_assert(kThreads % 32 == 0, "a block is whole warps");

template <typename T>
__global__ void direct(Conv2dProblem prob, TensorView<const T> x, TensorView<const T> w,
                       TensorView<T> y, T alpha, T beta) {
  // Which output element is this thread's? Filters change fastest, then columns, rows, images.
  const std::int64_t thread = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (thread >= y.size()) return;
  const std::int64_t K = y.extent(1), P = y.extent(2), Q = y.extent(3);
  const std::int64_t k = thread % K;
  const std::int64_t q = thread / K % Q;
  const std::int64_t p = thread / (K * Q) % P;
  const std::int64_t n = thread / (K * Q * P);

  // Where does tap r, s = 0, 0 read x, and in what steps go the others? Backwards when rotated.
  const bool rotated = prob.mode == ConvMode::convolution;
  const int R = prob.R, step_h = rotated ? -prob.dilation_h : prob.dilation_h;
  const int S = prob.S, step_w = rotated ? -prob.dilation_w : prob.dilation_w;
  const int h0 = p * prob.stride_h - prob.pad_top + (rotated ? R - 1 : 0) * prob.dilation_h;
  const int v0 = q * prob.stride_w - prob.pad_left + (rotated ? S - 1 : 0) * prob.dilation_w;

  // Sum over the taps c, r, s. Those in the padding contribute nothing.
  const std::int64_t C = prob.channels_per_group(), c_first = k / prob.filters_per_group() * C;
  T sum = 0;
  for (std::int64_t c = 0; c < C; ++c) {
    for (int r = 0; r < R; ++r) {
      const int h = h0 + r * step_h;
      if (h < 0 || h >= prob.H) continue;
      const T* x_row = &x(n, c_first + c, h, 0);
      const T* w_row = &w(k, c, r, 0);
      for (int s = 0; s < S; ++s) {
        const int v = v0 + s * step_w;
        if (v < 0 || v >= prob.W) continue;
        sum = fma(x_row[v * x.stride(3)], w_row[s * w.stride(3)], sum);
      }
    }
  }

  // Scale and store; beta = 0 does not read y.
  const T scaled = alpha * sum;
  y(n, k, p, q) = beta == 0 ? scaled : fma(beta, y(n, k, p, q), scaled);
}

std::int64_t blocks(const Conv2dForward::Args& args) { return ceil_div(args.y.size(), kThreads); }

Support supports(const Conv2dForward::Args& args) { return within_limits(args.prob, blocks(args)); }

std::size_t workspace_bytes(const Conv2dForward::Args&) { return 0; }

template <typename T>
void launch_as(const Conv2dForward::Args& args, Stream stream) {
  launch(direct<T>, LaunchShape{dim3(blocks(args)), dim3(kThreads)}, stream, args.prob,
         args.x.as<const T>(), args.w.as<const T>(), args.y.as<T>(), static_cast<T>(args.alpha),
         static_cast<T>(args.beta));
}

void launch_stage(const Conv2dForward::Args& args, Workspace, Stream stream) {
  if (args.y.size() == 0) return;
  args.prob.dtype == Dtype::f64 ? launch_as<double>(args, stream) : launch_as<float>(args, stream);
}

}  // namespace

extern const Stage<Conv2dForward> conv2d_direct = {
    .name = "direct",
    .idea = "One thread for each output element",
    .family = "direct",
    .order = Order::reference,
    .padding = Padding::skipped,
    .deterministic = true,
    .supports = supports,
    .workspace_bytes = workspace_bytes,
    .prepare = nullptr,
    .launch = launch_stage,
};

}  // namespace sevenloops::SEVENLOOPS_BUILD
