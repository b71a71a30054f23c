// implicit_offsets: where each row reads x is looked up instead of divided out.
//
// Idea       Row c, r, s of the virtual matrix reads every column's window at the same distance
//            from the window's corner. These distances are few, C*R*S, and are written to a table
//            once.
// Change     Against `implicit_gemm` an element of x_tile is found by adding a table's entry to the
//            corner of the column: no division, remainder or multiplication in the loop.
// Buys       Some dozens of integer instructions less for each element of a tile. It costs the
//            table, 16 bytes a row, which all blocks read and caches hold.
// Shared     2 tiles of kTileRows rows. Registers: kSums*kSums sums and 2 kSums factors.
// Numerics   The order is c, r, s. A tap in the padding is fma(w, 0, sum): it changes nothing but a
//            sum of -0 (it takes an underflow to get one) and where w holds an infinity or NaN.
// Source     The precomputed indices of cuDNN's IMPLICIT_PRECOMP_GEMM; Lavin: maxDNN, arXiv
//            1501.06633, section 3.

#include "gpu/conv2d/conv2d_forward.hpp"
#include "gpu/conv2d/tap_table.hpp"
#include "gpu/cuda.hpp"
#include "gpu/launch.hpp"

namespace sevenloops::SEVENLOOPS_BUILD {
namespace {

constexpr int kThreads = 256;
constexpr int kTileK = 64;     // filters of a block
constexpr int kTileM = 64;     // columns n, p, q of a block
constexpr int kTileRows = 16;  // rows c, r, s of both operands in shared memory at a time
constexpr int kLanes = 16;     // threads along either side of a tile
constexpr int kSums = 4;       // outputs of a thread along either side, kLanes apart

// The padding of a row of w_tile spreads a warp's stores, kTileRows rows of 2 filters, over all
// banks.
template <typename T>
constexpr int kPitch = kTileK + 8 / sizeof(T);

// Blocks at a time on a multiprocessor: registers are shared out accordingly.
template <typename T>
constexpr int kBlocksAtOnce = 16 / sizeof(T);

static_assert(kLanes * kLanes == kThreads, "the threads form a square");
static_assert(kSums * kLanes == kTileK && kSums * kLanes == kTileM, "the threads cover a tile");
static_assert(kTileRows == kLanes, "each thread loads one row of w for kSums filters");
static_assert(kThreads % kTileM == 0, "the threads load whole rows of columns");

template <typename T>
__global__ void __launch_bounds__(kThreads, kBlocksAtOnce<T>)
    implicit_offsets(Conv2dProblem prob, const Tap* taps, TensorView<const T> x,
                     TensorView<const T> w, TensorView<T> y, T alpha, T beta) {
  __shared__ T w_tile[kTileRows][kPitch<T>];  // w transposed: rows c, r, s x filters
  __shared__ T x_tile[kTileRows][kTileM];     // rows c, r, s x columns

  // Which tile is this block's? Filters change fastest, so that x is reread soon.
  const int K = prob.filters_per_group(), P = y.extent(2), Q = y.extent(3);
  const int columns = y.extent(0) * P * Q;
  const int k_tiles = ceil_div(K, kTileK), m_tiles = ceil_div(columns, kTileM);
  const int block = blockIdx.x, g = block / k_tiles / m_tiles;
  const int k_first = block % k_tiles * kTileK, m_first = block / k_tiles % m_tiles * kTileM;
  const int C = prob.channels_per_group(), R = prob.R, S = prob.S, rows = C * R * S;
  const int lane = threadIdx.x % kLanes, line = threadIdx.x / kLanes;

  // Which column of x_tile does this thread load? Its window starts at h0, v0 of image n.
  const int m_own = threadIdx.x % kTileM, column = m_first + m_own;
  const int h0 = column / Q % P * static_cast<int>(prob.stride_h) - static_cast<int>(prob.pad_top);
  const int v0 = column % Q * static_cast<int>(prob.stride_w) - static_cast<int>(prob.pad_left);
  const T* const corner = x.data + x.offset(column / Q / P, g * C, h0, v0);

  T sum[kSums][kSums] = {};  // of filters line + kLanes*a and columns lane + kLanes*b
  for (int row0 = 0; row0 < rows; row0 += kTileRows) {
    // Load kTileRows rows of both; zero where the group has no such filter or column.
    const int depth = rows - row0 < kTileRows ? rows - row0 : kTileRows;
    if (lane < depth) {
      const int row = row0 + lane, c = row / S / R, r = row / S % R, s = row % S;
      for (int k = line; k < kTileK; k += kLanes) {
        T value = 0;
        if (k_first + k < K) value = w(std::int64_t{g} * K + k_first + k, c, r, s);
        w_tile[lane][k] = value;
      }
    }
    // [gather]
    for (int i = threadIdx.x / kTileM; i < depth; i += kThreads / kTileM) {
      const Tap tap = taps[row0 + i];
      const int h = h0 + tap.h, v = v0 + tap.w;
      T value = 0;
      if (column < columns && 0 <= h && h < prob.H && 0 <= v && v < prob.W) {
        value = corner[tap.offset];
      }
      x_tile[i][m_own] = value;
    }
    // [gather]
    __syncthreads();

    // Add the products of the rows, one after the other.
    for (int i = 0; i < depth; ++i) {
      T w_row[kSums], x_row[kSums];
      for (int a = 0; a < kSums; ++a) w_row[a] = w_tile[i][line + kLanes * a];
      for (int b = 0; b < kSums; ++b) x_row[b] = x_tile[i][lane + kLanes * b];
      for (int a = 0; a < kSums; ++a) {
        for (int b = 0; b < kSums; ++b) sum[a][b] = fma(x_row[b], w_row[a], sum[a][b]);
      }
    }
    __syncthreads();
  }

  // Scale and store; beta = 0 does not read y.
  for (int b = 0; b < kSums; ++b) {
    const int m = m_first + lane + kLanes * b;
    if (m < columns) {
      for (int a = 0; a < kSums; ++a) {
        const int k = k_first + line + kLanes * a;
        if (k < K) {
          const T scaled = alpha * sum[a][b];
          T& out = y(m / Q / P, std::int64_t{g} * K + k, m / Q % P, m % Q);
          out = beta == 0 ? scaled : fma(beta, out, scaled);
        }
      }
    }
  }
}

std::int64_t blocks(const Conv2dProblem& prob) {
  return prob.groups * ceil_div(prob.filters_per_group(), kTileK) *
         ceil_div(prob.N * prob.P() * prob.Q(), kTileM);
}

Support supports(const Conv2dForward::Args& args) {
  return within_matrix_limits(args.prob, blocks(args.prob));
}

std::size_t workspace_bytes(const Conv2dForward::Args& args) {
  return row_count(args.prob) * sizeof(Tap);
}

void prepare_stage(const Conv2dForward::Args& args, Workspace workspace, Stream stream) {
  require_workspace("implicit_offsets", workspace, workspace_bytes(args));
  launch_write_taps(args, RowOrder::crs, static_cast<Tap*>(workspace.data), stream);
}

template <typename T>
void launch_as(const Conv2dForward::Args& args, const Tap* taps, Stream stream) {
  launch(implicit_offsets<T>, LaunchShape{dim3(blocks(args.prob)), dim3(kThreads)}, stream,
         args.prob, taps, args.x.as<const T>(), args.w.as<const T>(), args.y.as<T>(),
         static_cast<T>(args.alpha), static_cast<T>(args.beta));
}

void launch_stage(const Conv2dForward::Args& args, Workspace workspace, Stream stream) {
  require_workspace("implicit_offsets", workspace, workspace_bytes(args));
  if (args.y.size() == 0) return;
  const auto* taps = static_cast<const Tap*>(workspace.data);
  args.prob.dtype == Dtype::f64 ? launch_as<double>(args, taps, stream)
                                : launch_as<float>(args, taps, stream);
}

}  // namespace

extern const Stage<Conv2dForward> conv2d_implicit_offsets = {
    .name = "implicit_offsets",
    .idea = "Looks up where a row reads x in a table instead of dividing its number",
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
