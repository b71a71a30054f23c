#pragma once
// The pipelined product: a ring of slabs in shared memory, filled by asynchronous copies.
//
// A slab is kDepth rows of both operands: columns of the virtual matrix, gathered from x with the
// help of a table of taps, and filters, copied into rows beforehand. While the slab that has
// arrived is multiplied, the next kRing - 1 are on their way. Source: PTX ISA, "cp.async".

#include "gpu/async_copy.hpp"
#include "gpu/conv2d/store_sums.hpp"
#include "gpu/conv2d/tap_table.hpp"
#include "gpu/conv2d/thread_tile.hpp"
#include "gpu/launch.hpp"

namespace sevenloops::SEVENLOOPS_BUILD {

constexpr int kRingThreads = 128;     ///< of a block
constexpr int kRingBlocksAtOnce = 4;  ///< on a multiprocessor: of few warps, so that few wait
constexpr int kDepth = 16;            ///< rows of a slab
constexpr int kRing = 3;              ///< slabs: one is multiplied while the others arrive

/// Sums of a thread.
template <typename T>
using RingSums = T[kSide<T>][kSide<T>];

/// A block's warps form a rectangle, `kWide` or `kSquare` of them side by side along the columns.
constexpr int kRingWarps = kRingThreads / 32, kWide = kRingWarps, kSquare = kRingWarps / 2;
template <typename T, int kWarpsM>
constexpr int kTileM = kWarpsM* kWarpM<kSide<T>>;  ///< columns of a block
template <typename T, int kWarpsM>
constexpr int kTileK = kRingWarps / kWarpsM* kWarpK<kSide<T>>;  ///< filters of a block

/// How a problem is cut into tiles and what the workspace holds.
template <typename T>
struct RingPlan {
  RowOrder order;  ///< rsc, where a slab is channels of one tap, that share a test for the border
  bool wide;
  int slabs, pitch;     ///< of the filters' rows, in elements
  std::int64_t blocks;  ///< tiles of all groups
  std::size_t taps_bytes, bytes;

  explicit RingPlan(const Conv2dProblem& prob) {
    const std::int64_t K = prob.filters_per_group(), columns = prob.N * prob.P() * prob.Q();
    order = prob.channels_per_group() % kDepth == 0 ? RowOrder::rsc : RowOrder::crs;
    wide = K <= kTileK<T, kWide>;
    const int tile_m = wide ? kTileM<T, kWide> : kTileM<T, kSquare>;
    const int tile_k = wide ? kTileK<T, kWide> : kTileK<T, kSquare>;
    slabs = ceil_div(row_count(prob), kDepth);
    pitch = ceil_div(K, tile_k) * tile_k;
    blocks = prob.groups * (pitch / tile_k) * ceil_div(columns, tile_m);
    taps_bytes = row_count(prob) * sizeof(Tap);
    bytes = taps_bytes + prob.groups * slabs * kDepth * pitch * sizeof(T);
  }

  const Tap* taps(Workspace workspace) const { return static_cast<const Tap*>(workspace.data); }
  const T* filters(Workspace workspace) const {
    return reinterpret_cast<const T*>(static_cast<char*>(workspace.data) + taps_bytes);
  }
};

/// Writes the table of taps and the filters' rows to the workspace.
template <typename T>
void prepare_ring(const Conv2dForward::Args& args, Workspace workspace, Stream stream) {
  const RingPlan<T> plan(args.prob);
  launch_write_taps(args, plan.order, static_cast<Tap*>(workspace.data), stream);
  launch_write_filter_rows(args, plan.order, plan.slabs * kDepth, plan.pitch,
                           const_cast<T*>(plan.filters(workspace)), stream);
}

/// Which tile of the product is a block's. Filters change fastest, so that x is reread soon.
struct Tile {
  int g, k, m;  ///< group, first filter of it, first column
};
template <typename T, int kWarpsM>
__device__ __forceinline__ Tile tile_of(const Outputs<T>& out, int block) {
  const int k_tiles = ceil_div(out.filters, kTileK<T, kWarpsM>);
  const int m_tiles = ceil_div(out.columns, kTileM<T, kWarpsM>);
  return {block / k_tiles / m_tiles, block % k_tiles * kTileK<T, kWarpsM>,
          block / k_tiles % m_tiles * kTileM<T, kWarpsM>};
}

/// The dynamic shared memory that add_slabs() needs.
template <typename T, int kWarpsM>
constexpr std::size_t kRingBytes = sizeof(T) * kRing* kDepth*(kTileM<T, kWarpsM> +
                                                              kTileK<T, kWarpsM>);

/// The window of x that a column of the virtual matrix reads.
template <typename T>
struct Window {
  const T* corner;  ///< the element at h, v, which may lie outside of x
  int h, v, rows;   ///< rows of x; none where there is no such column
};
template <typename T>
__device__ __forceinline__ Window<T> window_of(const Conv2dProblem& prob,
                                               const TensorView<const T>& x, const Outputs<T>& out,
                                               int g, int column) {
  const int P = out.y.extent(2), Q = out.y.extent(3), n = column / Q / P;
  const int h = column / Q % P * static_cast<int>(prob.stride_h) - static_cast<int>(prob.pad_top);
  const int v = column % Q * static_cast<int>(prob.stride_w) - static_cast<int>(prob.pad_left);
  const T* const corner = x.data + x.offset(n, g * prob.channels_per_group(), h, v);
  return {corner, h, v, column < out.columns ? static_cast<int>(prob.H) : 0};
}

/// Adds the products of slabs [begin, end) to the sums that this thread has at `own` in `tile`. All
/// threads of the block must call it, once. Sums beyond the last filter and column are left alone.
template <typename T, int kWarpsM, RowOrder kOrder>
__device__ __forceinline__ void add_slabs(const Conv2dProblem& prob, const TensorView<const T>& x,
                                          const Tap* taps, const T* rows_of_w,
                                          const Outputs<T>& out, const Tile& tile, int begin,
                                          int end, ThreadPlace own, RingSums<T>& sum) {
  constexpr int kColumns = kTileM<T, kWarpsM>, kFilters = kTileK<T, kWarpsM>;
  constexpr int kWindows = ceil_div(kColumns, kRingThreads);  // columns that a thread copies
  constexpr int kRowStep = ceil_div(kRingThreads, kColumns);  // from row to row that it copies
  constexpr int kGroups = kFilters / kGroup<T>;               // in a row of filters
  static_assert(kDepth % kRowStep == 0, "the threads copy whole rows of x");
  constexpr int kFilterStep = kRingThreads / kGroups;  // from row to row that it copies
  static_assert(kRingThreads % kGroups == 0, "the threads copy whole rows of filters");
  T* const x_ring = dynamic_shared<T>();                 // kRing x kDepth x kColumns
  T* const w_ring = x_ring + kRing * kDepth * kColumns;  // kRing x kDepth x kFilters

  // What does this thread copy? Some columns of x in rows row_own + i*kRowStep, and a group of w.
  const int m_own = threadIdx.x % kColumns, row_own = threadIdx.x / kColumns % kRowStep;
  Window<T> windows[kWindows];
  SEVENLOOPS_UNROLL
  for (int i = 0; i < kWindows; ++i) {
    windows[i] = window_of(prob, x, out, tile.g, tile.m + m_own + i * kRingThreads);
  }
  const int w_row = threadIdx.x / kGroups, w_own = threadIdx.x % kGroups * kGroup<T>;
  const int rows = row_count(prob), slabs = ceil_div(rows, kDepth), W = prob.W;
  const int pitch = ceil_div(out.filters, kFilters) * kFilters;
  const T* filters = rows_of_w + tile.k + w_own +
                     ((std::int64_t{tile.g} * slabs + begin) * kDepth + w_row) * pitch;
  const std::int64_t channel = x.stride(1);

  const auto copy_slab = [&](int slab) {
    const int row0 = slab * kDepth;
    T* const x_slab = x_ring + slab % kRing * kDepth * kColumns + m_own;
    if constexpr (kOrder == RowOrder::rsc) {
      const Tap tap = taps[row0];
      SEVENLOOPS_UNROLL
      for (int j = 0; j < kWindows; ++j) {
        const Window<T>& window = windows[j];
        const int h = window.h + tap.h, v = window.v + tap.w;
        const bool inside = 0 <= h && h < window.rows && 0 <= v && v < W;
        const T* from = window.corner + tap.offset + row_own * channel;
        SEVENLOOPS_UNROLL
        for (int i = 0; i < kDepth; i += kRowStep) {
          async_copy_or_zero(&x_slab[(row_own + i) * kColumns + j * kRingThreads], from, inside);
          from += kRowStep * channel;
        }
      }
    } else {
      SEVENLOOPS_UNROLL
      for (int i = 0; i < kDepth; i += kRowStep) {
        const int row = row0 + row_own + i;
        const Tap tap = row < rows ? taps[row] : Tap{};
        SEVENLOOPS_UNROLL
        for (int j = 0; j < kWindows; ++j) {
          const Window<T>& window = windows[j];
          const int h = window.h + tap.h, v = window.v + tap.w;
          const bool inside = row < rows && 0 <= h && h < window.rows && 0 <= v && v < W;
          async_copy_or_zero(&x_slab[(row_own + i) * kColumns + j * kRingThreads],
                             window.corner + tap.offset, inside);
        }
      }
    }
    SEVENLOOPS_UNROLL
    for (int i = 0; i < kDepth; i += kFilterStep) {
      if (kFilterStep > kDepth && w_row >= kDepth) break;  // more threads than groups
      async_copy_group(&w_ring[(slab % kRing * kDepth + w_row + i) * kFilters + w_own],
                       filters + i * pitch);
    }
    filters += kDepth * pitch;
  };

  const bool has_sums = tile.m + own.m < out.columns && tile.k + own.k < out.filters;
  for (int slab = begin; slab < begin + kRing - 1; ++slab) {
    if (slab < end) copy_slab(slab);
    async_commit();
  }
  for (int slab = begin; slab < end; ++slab) {
    async_wait<kRing - 2>();
    __syncthreads();  // the slab is there for all, and the one before has been read by all
    if (slab + kRing - 1 < end) copy_slab(slab + kRing - 1);
    async_commit();
    if (!has_sums) continue;
    const T* const x_slab = x_ring + slab % kRing * kDepth * kColumns;
    const T* const w_slab = w_ring + slab % kRing * kDepth * kFilters;
    SEVENLOOPS_UNROLL
    for (int i = 0; i < kDepth; ++i)
      add_row(x_slab + i * kColumns, w_slab + i * kFilters, own, sum);
  }
}

}  // namespace sevenloops::SEVENLOOPS_BUILD
