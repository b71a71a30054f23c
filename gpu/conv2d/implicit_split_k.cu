// implicit_split_k: several blocks share the rows of one tile, so that small layers fill the GPU.
//
// Idea       A layer of few tiles leaves multiprocessors idle, and one of a few more than there are
//            multiprocessors gives some twice the work of others. Blocks that add only a part of a
//            tile's rows are as many as one likes; a second kernel adds their parts.
// Change     Against `implicit_pipelined` a block adds the slabs of one of several parts, and
//            stores its sums in the workspace. Which number of parts is best, split_count()
//            estimates; with one part the launch is that of `implicit_pipelined`.
// Buys       All multiprocessors work, to the end. It costs writing and reading the sums once a
//            part.
// Shared     That of `implicit_pipelined`.
// Numerics   The sums of the parts, each in the order of `implicit_pipelined`, are added in the
//            order of the parts: the result is the same in every run.
// Source     CUTLASS documentation, "Efficient GEMM in CUDA", parallelized reductions.

#include "gpu/conv2d/slab_ring.hpp"

namespace sevenloops::SEVENLOOPS_BUILD {
namespace {

// What split_count() takes for granted, from the data sheet and measurements of an H200.
constexpr int kMultiprocessors = 132;
constexpr double kSlabMicroseconds = 0.71;  // of a block, where others share its multiprocessor
constexpr double kEnoughBlocks = 2.5;       // that keep a multiprocessor busy; fewer take as long
constexpr double kLaunchMicroseconds = 4;   // of the kernel that adds the parts
constexpr double kBytesAMicrosecond = 3e6;  // of global memory
constexpr int kMostParts = 32;
constexpr int kAddThreads = 256;

// Where the sums of part i lie: parts x groups x filters x columns.
template <typename T>
struct Parts {
  T* sums;
  int count;
};

template <typename T, int kWarpsM, RowOrder kOrder>
__global__ void __launch_bounds__(kRingThreads, kRingBlocksAtOnce)
    implicit_split_k(Conv2dProblem prob, TensorView<const T> x, const Tap* taps, const T* rows_of_w,
                     Outputs<T> out, Parts<T> parts) {
  // Tiles change fastest, so that the blocks of a part run together and share its rows of x.
  const int tiles = gridDim.x / parts.count, part = blockIdx.x / tiles;
  const Tile tile = tile_of<T, kWarpsM>(out, blockIdx.x % tiles);
  const ThreadPlace own = thread_place<T, kSide<T>, kSide<T>>(kWarpsM);
  const std::int64_t slabs = ceil_div(row_count(prob), kDepth);
  const int begin = part * slabs / parts.count, end = (part + 1) * slabs / parts.count;
  RingSums<T> sum = {};
  add_slabs<T, kWarpsM, kOrder>(prob, x, taps, rows_of_w, out, tile, begin, end, own, sum);
  if (parts.count > 1) {
    // The part is a y of its own: one image of groups*filters channels of 1 x columns.
    out.y.data = parts.sums + part * prob.K * out.columns;
    out.y.extents = {1, prob.K, 1, out.columns};
    out.y.strides = {0, out.columns, 0, 1};
    out.alpha = 1;
    out.beta = 0;
    out.in_groups = out.columns % kGroup<T> == 0;
  }
  store_sums(out, tile.g, tile.k + own.k, tile.m + own.m, sum);
}

template <typename T>
__global__ void add_parts(Parts<T> parts, TensorView<T> y, T alpha, T beta) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * kAddThreads + threadIdx.x;
  if (thread >= y.size()) return;
  const std::int64_t P = y.extent(2), Q = y.extent(3), columns = y.extent(0) * P * Q;
  const std::int64_t k = thread / columns, column = thread % columns;
  T sum = parts.sums[thread];
  for (int part = 1; part < parts.count; ++part) sum += parts.sums[part * y.size() + thread];
  const T scaled = alpha * sum;
  T& to = y(column / Q / P, k, column / Q % P, column % Q);
  to = beta == 0 ? scaled : fma(beta, to, scaled);
}

// The number of parts for which the slabs of the busiest multiprocessor, and the adding, take least
// time.
template <typename T>
int split_count(const Conv2dProblem& prob) {
  const RingPlan<T> plan(prob);
  const double part_bytes = 2.0 * sizeof(T) * prob.N * prob.K * prob.P() * prob.Q();
  int best = 1;
  double least = 0;
  for (int parts = 1; parts <= std::min(kMostParts, plan.slabs); ++parts) {
    const double blocks =
        std::max<double>(ceil_div(plan.blocks * parts, kMultiprocessors), kEnoughBlocks);
    const double adding =
        parts == 1 ? 0 : kLaunchMicroseconds + parts * part_bytes / kBytesAMicrosecond;
    const double time = blocks * ceil_div(plan.slabs, parts) * kSlabMicroseconds + adding;
    if (parts == 1 || time < least) {
      least = time;
      best = parts;
    }
  }
  return best;
}

template <typename T>
std::size_t bytes_of(const Conv2dForward::Args& args) {
  const int parts = split_count<T>(args.prob);
  const std::size_t sums = parts > 1 ? parts * args.y.size() * sizeof(T) : 0;
  return ceil_div(RingPlan<T>(args.prob).bytes, 16) * 16 + sums;
}

Support supports(const Conv2dForward::Args& args) {
  const bool f64 = args.prob.dtype == Dtype::f64;
  const std::int64_t tiles =
      f64 ? RingPlan<double>(args.prob).blocks : RingPlan<float>(args.prob).blocks;
  const int parts = f64 ? split_count<double>(args.prob) : split_count<float>(args.prob);
  return within_matrix_limits(args.prob,
                              std::max(tiles * parts, ceil_div(args.y.size(), kAddThreads)));
}

std::size_t workspace_bytes(const Conv2dForward::Args& args) {
  return args.prob.dtype == Dtype::f64 ? bytes_of<double>(args) : bytes_of<float>(args);
}

void prepare_stage(const Conv2dForward::Args& args, Workspace workspace, Stream stream) {
  require_workspace("implicit_split_k", workspace, workspace_bytes(args));
  args.prob.dtype == Dtype::f64 ? prepare_ring<double>(args, workspace, stream)
                                : prepare_ring<float>(args, workspace, stream);
}

template <typename T>
void launch_as(const Conv2dForward::Args& args, Workspace workspace, Stream stream) {
  constexpr RowOrder rsc = RowOrder::rsc, crs = RowOrder::crs;
  const RingPlan<T> plan(args.prob);
  const Parts<T> parts{
      reinterpret_cast<T*>(static_cast<char*>(workspace.data) + ceil_div(plan.bytes, 16) * 16),
      split_count<T>(args.prob)};
  const auto wide =
      plan.order == rsc ? implicit_split_k<T, kWide, rsc> : implicit_split_k<T, kWide, crs>;
  const auto square =
      plan.order == rsc ? implicit_split_k<T, kSquare, rsc> : implicit_split_k<T, kSquare, crs>;
  launch(plan.wide ? wide : square,
         LaunchShape{dim3(plan.blocks * parts.count), dim3(kRingThreads),
                     plan.wide ? kRingBytes<T, kWide> : kRingBytes<T, kSquare>},
         stream, args.prob, args.x.as<const T>(), plan.taps(workspace), plan.filters(workspace),
         outputs_of<T>(args), parts);
  if (parts.count == 1) return;
  launch(add_parts<T>, LaunchShape{dim3(ceil_div(args.y.size(), kAddThreads)), dim3(kAddThreads)},
         stream, parts, args.y.as<T>(), static_cast<T>(args.alpha), static_cast<T>(args.beta));
}

void launch_stage(const Conv2dForward::Args& args, Workspace workspace, Stream stream) {
  require_workspace("implicit_split_k", workspace, workspace_bytes(args));
  if (args.y.size() == 0) return;
  args.prob.dtype == Dtype::f64 ? launch_as<double>(args, workspace, stream)
                                : launch_as<float>(args, workspace, stream);
}

}  // namespace

extern const Stage<Conv2dForward> conv2d_implicit_split_k = {
    .name = "implicit_split_k",
    .idea = "Shares the rows of a tile out to several blocks, so that small layers fill the GPU",
    .family = "implicit",
    .order = Order::own,
    .padding = Padding::multiplied,
    .deterministic = true,
    .supports = supports,
    .workspace_bytes = workspace_bytes,
    .prepare = prepare_stage,
    .launch = launch_stage,
};

}  // namespace sevenloops::SEVENLOOPS_BUILD
