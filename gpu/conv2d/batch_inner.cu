// batch_inner: where the batch is the fastest axis, a warp takes the same output of many images.
//
// Idea       In CHWN neighbors in memory are images. Everything but n is then the same for all
//            threads of a block: the output's place, the taps inside the image, the addresses of x.
// Change     Against `register_tile` a block's tile is up to 128 images x 128 filters at one place
//            p, q; it loads rows of images and of filters for one tap r, s and kDepth channels at a
//            time, and adds them with kSide x kSide sums a thread. Few images or filters take
//            fewer warps.
// Buys       Loads and stores are whole lines whatever the size, stride and padding of the image;
//            no thread tests for the border, a block leaves out taps. It costs the reuse of x from
//            one place to the next, and threads without work where N is less than 64.
// Shared     kDepth rows of both tiles, 8 KiB in fp32. Registers: kSide*kSide sums and 2 kSide
//            factors.
// Numerics   The order is r, s, c. Taps in the padding are left out.
// Source     Krizhevsky: cuda-convnet2 (2014); the cuDNN paper, arXiv 1410.0759, section 3.

#include "gpu/conv2d/conv2d_forward.hpp"
#include "gpu/conv2d/thread_tile.hpp"
#include "gpu/cuda.hpp"
#include "gpu/launch.hpp"

namespace sevenloops::SEVENLOOPS_BUILD {
namespace {

constexpr int kDepth = 8;         // channels of both operands in shared memory at a time
constexpr int kBlocksAtOnce = 2;  // on a multiprocessor: registers are shared out accordingly

// The warps of a block form a rectangle.
template <typename T, int kWarpsN>
constexpr int kTileN = kWarpsN* kWarpM<kSide<T>>;  // images of a block
template <typename T, int kWarpsK>
constexpr int kTileK = kWarpsK* kWarpK<kSide<T>>;  // filters of a block

template <typename T, int kWarpsN, int kWarpsK>
__global__ void __launch_bounds__(32 * kWarpsN * kWarpsK, kBlocksAtOnce)
    batch_inner(Conv2dProblem prob, TensorView<const T> x, TensorView<const T> w, TensorView<T> y,
                T alpha, T beta) {
  constexpr int kThreads = 32 * kWarpsN * kWarpsK;
  constexpr int kImages = kTileN<T, kWarpsN>, kFilters = kTileK<T, kWarpsK>;
  __shared__ __align__(16) T x_tile[kDepth][kImages];
  __shared__ __align__(16) T w_tile[kDepth][kFilters];

  // Which place, which tile? Filters change fastest, then images, so that x is reread soon.
  const int N = prob.N, K = prob.filters_per_group(), C = prob.channels_per_group();
  const int k_tiles = ceil_div(K, kFilters), n_tiles = ceil_div(N, kImages);
  const std::int64_t block = blockIdx.x, rest = block / k_tiles / n_tiles;
  const int k_first = block % k_tiles * kFilters, n_first = block / k_tiles % n_tiles * kImages;
  const int g = rest % prob.groups;
  const std::int64_t place = rest / prob.groups, p = place / y.extent(3), q = place % y.extent(3);

  const ThreadPlace own = thread_place<T, kSide<T>, kSide<T>>(kWarpsN);
  const bool has_sums = n_first + own.m < N && k_first + own.k < K;
  const bool rotated = prob.mode == ConvMode::convolution;
  T sum[kSide<T>][kSide<T>] = {};
  for (int r = 0; r < prob.R; ++r) {
    const std::int64_t h =
        p * prob.stride_h - prob.pad_top + (rotated ? prob.R - 1 - r : r) * prob.dilation_h;
    if (h < 0 || h >= prob.H) continue;
    for (int s = 0; s < prob.S; ++s) {
      const std::int64_t v =
          q * prob.stride_w - prob.pad_left + (rotated ? prob.S - 1 - s : s) * prob.dilation_w;
      if (v < 0 || v >= prob.W) continue;
      const T* const x_from = x.data + x.offset(n_first, std::int64_t{g} * C, h, v);
      const T* const w_from = w.data + w.offset(std::int64_t{g} * K + k_first, 0, r, s);
      for (int c0 = 0; c0 < C; c0 += kDepth) {
        // Load kDepth channels of both; zero where there is no such channel, image or filter.
        SEVENLOOPS_UNROLL
        for (int i = threadIdx.x; i < kDepth * kImages; i += kThreads) {
          const int c = c0 + i / kImages, n = i % kImages;
          const bool exists = c < C && n_first + n < N;
          x_tile[i / kImages][n] = exists ? x_from[n * x.stride(0) + c * x.stride(1)] : 0;
        }
        SEVENLOOPS_UNROLL
        for (int i = threadIdx.x; i < kDepth * kFilters; i += kThreads) {
          const int c = c0 + i / kFilters, k = i % kFilters;
          const bool exists = c < C && k_first + k < K;
          w_tile[i / kFilters][k] = exists ? w_from[k * w.stride(0) + c * w.stride(1)] : 0;
        }
        __syncthreads();
        if (has_sums) {
          SEVENLOOPS_UNROLL
          for (int i = 0; i < kDepth; ++i) add_row(x_tile[i], w_tile[i], own, sum);
        }
        __syncthreads();
      }
    }
  }

  // Scale and store; beta = 0 does not read y.
  SEVENLOOPS_UNROLL
  for (int a = 0; a < kSide<T>; ++a) {
    const int filter = k_first + own.k + filter_offset<T>(a);
    SEVENLOOPS_UNROLL
    for (int b = 0; b < kSide<T>; ++b) {
      const int image = n_first + own.m + column_offset<T>(b);
      if (filter < K && image < N) {
        const T scaled = alpha * sum[a][b];
        T& out = y(image, std::int64_t{g} * K + filter, p, q);
        out = beta == 0 ? scaled : fma(beta, out, scaled);
      }
    }
  }
}

// How a block's warps stand for a problem: as many as it has images and filters for.
template <typename T>
struct BlockShape {
  int warps_n, warps_k;
  explicit BlockShape(const Conv2dProblem& prob)
      : warps_n(prob.N <= kTileN<T, 1> ? 1 : 2),
        warps_k(warps_n == 1 && prob.filters_per_group() <= kTileK<T, 1> ? 1 : 4) {}
};

template <typename T>
std::int64_t blocks(const Conv2dProblem& prob) {
  const BlockShape<T> shape(prob);
  return ceil_div(prob.filters_per_group(), shape.warps_k * kTileK<T, 1>) *
         ceil_div(prob.N, shape.warps_n * kTileN<T, 1>) * prob.groups * prob.P() * prob.Q();
}

Support supports(const Conv2dForward::Args& args) {
  const bool f64 = args.prob.dtype == Dtype::f64;
  return within_limits(args.prob, f64 ? blocks<double>(args.prob) : blocks<float>(args.prob));
}

std::size_t workspace_bytes(const Conv2dForward::Args&) { return 0; }

template <typename T>
void launch_as(const Conv2dForward::Args& args, Stream stream) {
  const BlockShape<T> shape(args.prob);
  const auto kernel = shape.warps_n == 2   ? batch_inner<T, 2, 4>
                      : shape.warps_k == 4 ? batch_inner<T, 1, 4>
                                           : batch_inner<T, 1, 1>;
  launch(kernel, LaunchShape{dim3(blocks<T>(args.prob)), dim3(32 * shape.warps_n * shape.warps_k)},
         stream, args.prob, args.x.as<const T>(), args.w.as<const T>(), args.y.as<T>(),
         static_cast<T>(args.alpha), static_cast<T>(args.beta));
}

void launch_stage(const Conv2dForward::Args& args, Workspace, Stream stream) {
  if (args.y.size() == 0) return;
  args.prob.dtype == Dtype::f64 ? launch_as<double>(args, stream) : launch_as<float>(args, stream);
}

}  // namespace

extern const Stage<Conv2dForward> conv2d_batch_inner = {
    .name = "batch_inner",
    .idea = "Takes the same output of neighboring images, which lie side by side in CHWN",
    .family = "direct",
    .order = Order::own,
    .padding = Padding::skipped,
    .deterministic = true,
    .supports = supports,
    .workspace_bytes = workspace_bytes,
    .prepare = nullptr,
    .launch = launch_stage,
};

}  // namespace sevenloops::SEVENLOOPS_BUILD
