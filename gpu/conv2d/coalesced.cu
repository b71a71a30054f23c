// coalesced: consecutive threads take outputs that are neighbors in memory.
//
// Idea       A warp's request costs as many 32-byte sectors as its 32 addresses touch. So threads
//            are dealt out in the order in which y lies in memory, whatever its layout.
// Change     The kernel's loops are those of `direct`; only the map from thread to output differs.
// Buys       In NCHW a warp takes neighboring columns q: it stores and reads x in few sectors, all
//            lanes read the same filter tap. In NHWC neighbors are filters k: x is the same for
//            all lanes, y is dense, and the filter is dense where k is its fastest axis.
// Shared     none. Registers: one sum; all else is indices.
// Source     CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory".

#include <algorithm>

#include "gpu/conv2d/conv2d_forward.hpp"
#include "gpu/cuda.hpp"
#include "gpu/launch.hpp"

namespace sevenloops::SEVENLOOPS_BUILD {
namespace {

constexpr int kThreads = 256;  // of a block, each with one output element

static_assert(kThreads % 32 == 0, "a block is whole warps");

// [which output]
// How many threads apart two outputs are that differ by one in n, k, p or q.
struct ThreadStrides {
  std::int64_t n, k, p, q;
};

template <typename T>
__global__ void coalesced(Conv2dProblem prob, ThreadStrides apart, TensorView<const T> x,
                          TensorView<const T> w, TensorView<T> y, T alpha, T beta) {
  // Which output element is this thread's? The one at its place in y's memory.
  const std::int64_t thread = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (thread >= y.size()) return;
  const std::int64_t n = thread / apart.n % y.extent(0);
  const std::int64_t k = thread / apart.k % y.extent(1);
  const std::int64_t p = thread / apart.p % y.extent(2);
  const std::int64_t q = thread / apart.q % y.extent(3);
  // [which output]

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

// The strides of a dense tensor whose axes follow each other in memory as those of y.
ThreadStrides in_memory_order(const AnyView& y) {
  std::array<int, 4> axes = {3, 2, 1, 0};
  std::stable_sort(axes.begin(), axes.end(),
                   [&](int a, int b) { return y.strides[a] < y.strides[b]; });
  std::array<std::int64_t, 4> apart;
  std::int64_t next = 1;
  for (const int axis : axes) {
    apart[axis] = next;
    next *= y.extents[axis];
  }
  return {apart[0], apart[1], apart[2], apart[3]};
}

// [host side]
std::int64_t blocks(const Conv2dForward::Args& args) { return ceil_div(args.y.size(), kThreads); }

Support supports(const Conv2dForward::Args& args) { return within_limits(args.prob, blocks(args)); }

std::size_t workspace_bytes(const Conv2dForward::Args&) { return 0; }

template <typename T>
void launch_as(const Conv2dForward::Args& args, Stream stream) {
  launch(coalesced<T>, LaunchShape{dim3(blocks(args)), dim3(kThreads)}, stream, args.prob,
         in_memory_order(args.y), args.x.as<const T>(), args.w.as<const T>(), args.y.as<T>(),
         static_cast<T>(args.alpha), static_cast<T>(args.beta));
}

void launch_stage(const Conv2dForward::Args& args, Workspace, Stream stream) {
  if (args.y.size() == 0) return;
  args.prob.dtype == Dtype::f64 ? launch_as<double>(args, stream) : launch_as<float>(args, stream);
}
// [host side]

}  // namespace

// [stage]
extern const Stage<Conv2dForward> conv2d_coalesced = {
    .name = "coalesced",
    .idea = "Consecutive threads take outputs that are neighbors in memory",
    .family = "direct",
    .order = Order::reference,
    .padding = Padding::skipped,
    .deterministic = true,
    .supports = supports,
    .workspace_bytes = workspace_bytes,
    .prepare = nullptr,
    .launch = launch_stage,
};
// [stage]

}  // namespace sevenloops::SEVENLOOPS_BUILD
