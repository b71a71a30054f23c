// implicit_register: a thread keeps a tile of sums in registers and reads shared memory 16 bytes at
// a time.
//
// Idea       With kSide x kSide sums a thread uses each factor that it reads kSide times. Where the
//            factors of a thread lie side by side, one instruction reads kGroup of them.
// Change     Against `implicit_offsets` the sums of a thread are kSide x kSide in place of 4 x 4,
//            and lie in groups of kGroup instead of apart. A slab of rows is kDepth high.
// Buys       2 shared loads, of kGroup factors each, for kGroup*kGroup multiplications: 1/16 a
//            multiplication in fp32, where `implicit_offsets` has 1/2. The wide tile also gathers x
//            half as often. It costs registers: 2 blocks on a multiprocessor are left.
// Shared     kDepth rows of both tiles, 8 KiB in fp32. The rows of w are kGroup longer, so that the
//            stores of a warp, kDepth rows of some filters, meet all banks once. Registers:
//            kSide*kSide sums and 2 kSide factors.
// Numerics   The order is c, r, s. A tap in the padding is fma(w, 0, sum): it changes nothing but a
//            sum of -0 (it takes an underflow to get one) and where w holds an infinity or NaN.
// Source     Volkov and Demmel: Benchmarking GPUs to tune dense linear algebra (2008), section 5.

#include "gpu/conv2d/store_sums.hpp"
#include "gpu/conv2d/tap_table.hpp"
#include "gpu/conv2d/thread_tile.hpp"

namespace sevenloops::SEVENLOOPS_BUILD {
namespace {

constexpr int kThreads = 256;
constexpr int kDepth = 8;         // rows of a slab
constexpr int kBlocksAtOnce = 2;  // on a multiprocessor: registers are shared out accordingly

// A block's warps form a rectangle, wide along the columns where there are few filters.
constexpr int kWarps = kThreads / 32, kWide = 4, kSquare = 2;
template <typename T>
constexpr int kFewFilters = kWarps / kWide* kWarpK<kSide<T>>;

template <typename T, int kWarpsM>
__global__ void __launch_bounds__(kThreads, kBlocksAtOnce)
    implicit_register(Conv2dProblem prob, const Tap* taps, TensorView<const T> x,
                      TensorView<const T> w, Outputs<T> out) {
  constexpr int kTileM = kWarpsM * kWarpM<kSide<T>>, kTileK = kWarps / kWarpsM * kWarpK<kSide<T>>;
  constexpr int kRowStep = kThreads / kTileM;     // from row to row that a thread loads of x
  constexpr int kFilterStep = kThreads / kDepth;  // from filter to filter that it loads of w
  static_assert(kRowStep >= 1 && kDepth % kRowStep == 0, "the threads load whole rows of x");
  static_assert(kTileK % kFilterStep == 0, "the threads load all filters of a slab");
  __shared__ __align__(16) T x_tile[kDepth][kTileM];
  __shared__ __align__(16) T w_tile[kDepth][kTileK + kGroup<T>];

  // Which tile is this block's? Filters change fastest, so that x is reread soon.
  const int k_tiles = ceil_div(out.filters, kTileK), m_tiles = ceil_div(out.columns, kTileM);
  const int block = blockIdx.x, g = block / k_tiles / m_tiles;
  const int k_first = block % k_tiles * kTileK, m_first = block / k_tiles % m_tiles * kTileM;
  const int C = prob.channels_per_group(), R = prob.R, S = prob.S, rows = C * R * S;

  // Which column of x does this thread load? Its window starts at h0, v0.
  const int m_own = threadIdx.x % kTileM, row_own = threadIdx.x / kTileM;
  const int column = m_first + m_own, P = out.y.extent(2), Q = out.y.extent(3);
  const int H = column < out.columns ? prob.H : 0, W = prob.W;  // no row is inside if H is 0
  const int h0 = column / Q % P * static_cast<int>(prob.stride_h) - static_cast<int>(prob.pad_top);
  const int v0 = column % Q * static_cast<int>(prob.stride_w) - static_cast<int>(prob.pad_left);
  const T* const corner = x.data + x.offset(column / Q / P, g * C, h0, v0);

  const ThreadPlace own = thread_place<T, kSide<T>, kSide<T>>(kWarpsM);
  const bool has_sums = m_first + own.m < out.columns && k_first + own.k < out.filters;
  T sum[kSide<T>][kSide<T>] = {};
  for (int row0 = 0; row0 < rows; row0 += kDepth) {
    // Load kDepth rows of both; zero where the group has no such row, filter or column.
    const int w_row = threadIdx.x % kDepth, w_own = threadIdx.x / kDepth, row = row0 + w_row;
    const int k = k_first + w_own, c = row / S / R, r = row / S % R, s = row % S;
    const T* const w_from = w.data + w.offset(std::int64_t{g} * out.filters + k, c, r, s);
    SEVENLOOPS_UNROLL
    for (int i = 0; i < kTileK; i += kFilterStep) {
      T value = 0;
      if (k + i < out.filters && row < rows) value = w_from[i * w.stride(0)];
      w_tile[w_row][w_own + i] = value;
    }
    SEVENLOOPS_UNROLL
    for (int i = 0; i < kDepth; i += kRowStep) {
      T value = 0;
      if (row0 + row_own + i < rows) {
        const Tap tap = taps[row0 + row_own + i];
        const int h = h0 + tap.h, v = v0 + tap.w;
        if (0 <= h && h < H && 0 <= v && v < W) value = corner[tap.offset];
      }
      x_tile[row_own + i][m_own] = value;
    }
    __syncthreads();

    // Add the products of the rows, one after the other.
    if (has_sums) {
      SEVENLOOPS_UNROLL
      for (int i = 0; i < kDepth; ++i) add_row(x_tile[i], w_tile[i], own, sum);
    }
    __syncthreads();
  }
  if (has_sums) store_sums(out, g, k_first + own.k, m_first + own.m, sum);
}

// Warps side by side along the columns, and the blocks of that.
template <typename T>
int warps_along_columns(const Conv2dProblem& prob) {
  return prob.filters_per_group() <= kFewFilters<T> ? kWide : kSquare;
}

template <typename T>
std::int64_t blocks(const Conv2dProblem& prob) {
  const int warps_m = warps_along_columns<T>(prob), warps_k = kWarps / warps_m;
  return prob.groups * ceil_div(prob.filters_per_group(), warps_k * kWarpK<kSide<T>>) *
         ceil_div(prob.N * prob.P() * prob.Q(), warps_m * kWarpM<kSide<T>>);
}

Support supports(const Conv2dForward::Args& args) {
  const bool f64 = args.prob.dtype == Dtype::f64;
  return within_matrix_limits(args.prob,
                              f64 ? blocks<double>(args.prob) : blocks<float>(args.prob));
}

std::size_t workspace_bytes(const Conv2dForward::Args& args) {
  return row_count(args.prob) * sizeof(Tap);
}

void prepare_stage(const Conv2dForward::Args& args, Workspace workspace, Stream stream) {
  require_workspace("implicit_register", workspace, workspace_bytes(args));
  launch_write_taps(args, RowOrder::crs, static_cast<Tap*>(workspace.data), stream);
}

template <typename T>
void launch_as(const Conv2dForward::Args& args, const Tap* taps, Stream stream) {
  const bool wide = warps_along_columns<T>(args.prob) == kWide;
  launch(wide ? implicit_register<T, kWide> : implicit_register<T, kSquare>,
         LaunchShape{dim3(blocks<T>(args.prob)), dim3(kThreads)}, stream, args.prob, taps,
         args.x.as<const T>(), args.w.as<const T>(), outputs_of<T>(args));
}

void launch_stage(const Conv2dForward::Args& args, Workspace workspace, Stream stream) {
  require_workspace("implicit_register", workspace, workspace_bytes(args));
  if (args.y.size() == 0) return;
  const auto* taps = static_cast<const Tap*>(workspace.data);
  args.prob.dtype == Dtype::f64 ? launch_as<double>(args, taps, stream)
                                : launch_as<float>(args, taps, stream);
}

}  // namespace

extern const Stage<Conv2dForward> conv2d_implicit_register = {
    .name = "implicit_register",
    .idea = "Keeps 8 x 8 sums a thread in registers and reads their factors 16 bytes at a time",
    .family = "implicit",
    .order = Order::reference,
    .padding = Padding::multiplied,
    .deterministic = true,
    .supports = supports,
    .workspace_bytes = workspace_bytes,
    .prepare = prepare_stage,
    .launch = launch_stage,
};

}  // namespace sevenloops::SEVENLOOPS_BUILD
