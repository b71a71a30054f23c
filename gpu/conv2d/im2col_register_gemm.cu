// im2col_register_gemm: the product of the lowered matrix with 8 x 8 sums a thread and 16-byte
// loads.
//
// Idea       A thread that keeps kSide x kSide sums uses each factor kSide times. The lowered
//            matrix and its tile lie so that kGroup neighboring columns are one load.
// Change     Against `im2col_gemm` `lower` is the same, its rows start at multiples of 16 bytes; in
//            the product the sums of a thread lie in groups of kGroup instead of kLanes apart.
// Buys       2 shared loads of kGroup factors for kGroup*kGroup multiplications, where
//            `im2col_gemm` has one load for two, and global loads a quarter as many. Half as many
//            reads of the lowered matrix, since a tile has more filters.
// Shared     kDepth rows of both tiles, 8 KiB in fp32. The rows of w are kGroup longer, so that the
//            stores of a warp, kDepth rows of some filters, meet all banks once. Registers:
//            kSide*kSide sums and 2 kSide factors.
// Numerics   The order is c, r, s. A tap in the padding is fma(w, 0, sum): it changes nothing but a
//            sum of -0 (it takes an underflow to get one) and where w holds an infinity or NaN.
// Source     Volkov and Demmel: Benchmarking GPUs to tune dense linear algebra (2008), section 5.

#include "gpu/conv2d/conv2d_forward.hpp"
#include "gpu/conv2d/lowering.hpp"
#include "gpu/conv2d/store_sums.hpp"
#include "gpu/conv2d/thread_tile.hpp"

namespace sevenloops::SEVENLOOPS_BUILD {
namespace {

constexpr int kThreads = 256;
constexpr int kDepth = 8;         // rows of both operands in shared memory at a time
constexpr int kBlocksAtOnce = 2;  // on a multiprocessor: registers are shared out accordingly

// A block's warps form a rectangle, wide along the columns where there are few filters.
constexpr int kWarps = kThreads / 32, kWide = 4, kSquare = 2;
template <typename T>
constexpr int kFewFilters = kWarps / kWide* kWarpK<kSide<T>>;
template <typename T>
constexpr int kPitchUnit = kWide* kWarpM<kSide<T>>;  // columns of the widest tile

template <typename T, int kWarpsM>
__global__ void __launch_bounds__(kThreads, kBlocksAtOnce)
    multiply(Conv2dProblem prob, Columns columns, TensorView<const T> w, const T* lowered,
             Outputs<T> out) {
  constexpr int kTileM = kWarpsM * kWarpM<kSide<T>>, kTileK = kWarps / kWarpsM * kWarpK<kSide<T>>;
  constexpr int kGroups = kTileM / kGroup<T>;     // of 16 bytes, in a row of columns
  constexpr int kRowStep = kThreads / kGroups;    // from row to row that a thread loads of x
  constexpr int kFilterStep = kThreads / kDepth;  // from filter to filter that it loads of w
  static_assert(kThreads % kGroups == 0, "the threads load whole rows of columns");
  static_assert(kTileK % kFilterStep == 0, "the threads load all filters of a slab");
  __shared__ __align__(16) T x_tile[kDepth][kTileM];
  __shared__ __align__(16) T w_tile[kDepth][kTileK + kGroup<T>];  // w transposed

  // Which tile is this block's? Filters change fastest, so that columns are reread soon.
  const int k_tiles = ceil_div(out.filters, kTileK), m_tiles = ceil_div(columns.count, kTileM);
  const int block = blockIdx.x, g = block / k_tiles / m_tiles;
  const int k_first = block % k_tiles * kTileK, m_first = block / k_tiles % m_tiles * kTileM;
  const int R = prob.R, S = prob.S, rows = prob.channels_per_group() * R * S;
  const T* const x_rows = lowered + std::int64_t{g} * rows * columns.pitch + m_first;

  const ThreadPlace own = thread_place<T, kSide<T>, kSide<T>>(kWarpsM);
  const bool has_sums = m_first + own.m < columns.count && k_first + own.k < out.filters;
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
    // [vector loads]
    const int m = threadIdx.x % kGroups * kGroup<T>;
    SEVENLOOPS_UNROLL
    for (int i = threadIdx.x / kGroups; i < kDepth; i += kRowStep) {
      __align__(16) T group[kGroup<T>] = {};
      const T* const from = &x_rows[std::int64_t{row0 + i} * columns.pitch + m];
      if (row0 + i < rows && m_first + m + kGroup<T> <= columns.count) {
        copy_group(group, from);
      } else if (row0 + i < rows) {
        SEVENLOOPS_UNROLL
        for (int j = 0; j < kGroup<T>; ++j) {
          if (m_first + m + j < columns.count) group[j] = from[j];
        }
      }
      copy_group(&x_tile[i][m], group);
    }
    // [vector loads]
    __syncthreads();

    // Add the products of the rows, one after the other.
    if (has_sums) {
      SEVENLOOPS_UNROLL
      for (int i = 0; i < kDepth; ++i) add_row(x_tile[i], w_tile[i], own, sum);
    }
    __syncthreads();
  }
  const int first = columns.first;
  out.columns = first + columns.count;
  out.in_groups = out.in_groups && first % kGroup<T> == 0 && columns.count % kGroup<T> == 0;
  store_sums(out, g, k_first + own.k, first + m_first + own.m, sum);
}

// How a problem is cut up.
template <typename T>
struct Plan {
  bool wide;
  std::int64_t turn, pitch;  // columns of a turn, and from row to row

  explicit Plan(const Conv2dProblem& prob) {
    wide = prob.filters_per_group() <= kFewFilters<T>;
    turn = columns_a_turn(prob, kPitchUnit<T>);
    pitch = ceil_div(turn, kGroup<T>) * kGroup<T>;
  }
  std::int64_t blocks(const Conv2dProblem& prob, std::int64_t columns) const {
    const int warps_m = wide ? kWide : kSquare, warps_k = kWarps / warps_m;
    return prob.groups * ceil_div(prob.filters_per_group(), warps_k * kWarpK<kSide<T>>) *
           ceil_div(columns, warps_m * kWarpM<kSide<T>>);
  }
};

template <typename T>
std::int64_t blocks(const Conv2dProblem& prob) {
  const Plan<T> plan(prob);
  return plan.blocks(prob, plan.turn);
}

Support supports(const Conv2dForward::Args& args) {
  const bool f64 = args.prob.dtype == Dtype::f64;
  const std::int64_t needed = f64 ? blocks<double>(args.prob) : blocks<float>(args.prob);
  if (const Support matrix = within_matrix_limits(args.prob, needed); !matrix) return matrix;
  return within_lowering_limits(args.prob, needed);
}

std::size_t workspace_bytes(const Conv2dForward::Args& args) {
  const bool f64 = args.prob.dtype == Dtype::f64;
  return lowered_bytes(args.prob,
                       f64 ? Plan<double>(args.prob).pitch : Plan<float>(args.prob).pitch);
}

template <typename T>
void launch_as(const Conv2dForward::Args& args, T* lowered, Stream stream) {
  const Plan<T> plan(args.prob);
  const auto kernel = plan.wide ? multiply<T, kWide> : multiply<T, kSquare>;
  lower_in_turns(args, plan.turn, plan.pitch, lowered, stream, [&](const Columns& columns) {
    launch(kernel, LaunchShape{dim3(plan.blocks(args.prob, columns.count)), dim3(kThreads)}, stream,
           args.prob, columns, args.w.as<const T>(), static_cast<const T*>(lowered),
           outputs_of<T>(args));
  });
}

void launch_stage(const Conv2dForward::Args& args, Workspace workspace, Stream stream) {
  require_workspace("im2col_register_gemm", workspace, workspace_bytes(args));
  if (args.y.size() == 0) return;
  args.prob.dtype == Dtype::f64 ? launch_as(args, static_cast<double*>(workspace.data), stream)
                                : launch_as(args, static_cast<float*>(workspace.data), stream);
}

}  // namespace

extern const Stage<Conv2dForward> conv2d_im2col_register_gemm = {
    .name = "im2col_register_gemm",
    .idea = "Multiplies the lowered matrix with 8 x 8 sums a thread and 16-byte loads",
    .family = "gemm",
    .order = Order::reference,
    .padding = Padding::multiplied,
    .deterministic = true,
    .supports = supports,
    .workspace_bytes = workspace_bytes,
    .prepare = nullptr,
    .launch = launch_stage,
};

}  // namespace sevenloops::SEVENLOOPS_BUILD
