// implicit_pipelined: the next slabs are on their way while the present one is multiplied.
//
// Idea       Asynchronous copies carry the next kRing - 1 slabs of both operands into shared
//            memory, past the registers, while the block multiplies the slab that has arrived.
// Change     Against `implicit_register` the tiles are a ring of slabs, filled by async_copy; a
//            slab needs one barrier instead of two. Filters are copied into rows beforehand, so
//            that they arrive 16 bytes at a time. Where C is a multiple of kDepth, a slab is kDepth
//            channels of one tap r, s, which share the test for the border. The loop is in
//            slab_ring.hpp.
// Buys       No thread waits for global memory, and the loads need no registers. The workspace
//            holds the filters' rows and the table of taps.
// Shared     kRing slabs of both tiles: 36 KiB, 54 where K is small. Registers: kSide^2 sums and
//            2*kSide factors; small blocks, kRingBlocksAtOnce on a multiprocessor, so that while
//            the warps of one wait at its barrier those of three others multiply.
// Numerics   The order is r, s, c, or c, r, s where C is no multiple of kDepth. A tap in the
//            padding is fma(w, 0, sum): it changes nothing but where w holds an infinity or NaN.
// Source     PTX ISA, "cp.async"; CUTLASS documentation, "Efficient GEMM in CUDA".

#include "gpu/conv2d/slab_ring.hpp"

namespace sevenloops::SEVENLOOPS_BUILD {
namespace {

template <typename T, int kWarpsM, RowOrder kOrder>
__global__ void __launch_bounds__(kRingThreads, kRingBlocksAtOnce)
    implicit_pipelined(Conv2dProblem prob, TensorView<const T> x, const Tap* taps,
                       const T* rows_of_w, Outputs<T> out) {
  const Tile tile = tile_of<T, kWarpsM>(out, blockIdx.x);
  const ThreadPlace own = thread_place<T, kSide<T>, kSide<T>>(kWarpsM);
  const int slabs = ceil_div(row_count(prob), kDepth);
  RingSums<T> sum = {};
  add_slabs<T, kWarpsM, kOrder>(prob, x, taps, rows_of_w, out, tile, 0, slabs, own, sum);
  store_sums(out, tile.g, tile.k + own.k, tile.m + own.m, sum);
}

Support supports(const Conv2dForward::Args& args) {
  const bool f64 = args.prob.dtype == Dtype::f64;
  return within_matrix_limits(
      args.prob, f64 ? RingPlan<double>(args.prob).blocks : RingPlan<float>(args.prob).blocks);
}

std::size_t workspace_bytes(const Conv2dForward::Args& args) {
  const bool f64 = args.prob.dtype == Dtype::f64;
  return f64 ? RingPlan<double>(args.prob).bytes : RingPlan<float>(args.prob).bytes;
}

void prepare_stage(const Conv2dForward::Args& args, Workspace workspace, Stream stream) {
  require_workspace("implicit_pipelined", workspace, workspace_bytes(args));
  args.prob.dtype == Dtype::f64 ? prepare_ring<double>(args, workspace, stream)
                                : prepare_ring<float>(args, workspace, stream);
}

template <typename T>
void launch_as(const Conv2dForward::Args& args, Workspace workspace, Stream stream) {
  constexpr RowOrder rsc = RowOrder::rsc, crs = RowOrder::crs;
  const RingPlan<T> plan(args.prob);
  const auto wide =
      plan.order == rsc ? implicit_pipelined<T, kWide, rsc> : implicit_pipelined<T, kWide, crs>;
  const auto square =
      plan.order == rsc ? implicit_pipelined<T, kSquare, rsc> : implicit_pipelined<T, kSquare, crs>;
  launch(plan.wide ? wide : square,
         LaunchShape{dim3(plan.blocks), dim3(kRingThreads),
                     plan.wide ? kRingBytes<T, kWide> : kRingBytes<T, kSquare>},
         stream, args.prob, args.x.as<const T>(), plan.taps(workspace), plan.filters(workspace),
         outputs_of<T>(args));
}

void launch_stage(const Conv2dForward::Args& args, Workspace workspace, Stream stream) {
  require_workspace("implicit_pipelined", workspace, workspace_bytes(args));
  if (args.y.size() == 0) return;
  args.prob.dtype == Dtype::f64 ? launch_as<double>(args, workspace, stream)
                                : launch_as<float>(args, workspace, stream);
}

}  // namespace

extern const Stage<Conv2dForward> conv2d_implicit_pipelined = {
    .name = "implicit_pipelined",
    .idea =
        "Copies the next slabs into a ring in shared memory while it multiplies the present one",
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
