// im2col_gemm: write the taps of every output into a column, then multiply matrices.
//
// Idea       Column n,p,q of a matrix holds the C*R*S elements of x that the outputs there read.
//            Convolution is then, group by group, filters (K x C*R*S) times columns: a matrix
//            product, whose operands need no tests for borders, strides and dilations.
// Change     Against `smem_tile` a tile is kTileK filters x kTileJ columns of any rows and images,
//            and a thread forms kSide x kSide sums from 2 kSide shared loads.
// Buys       Shared loads are 2/kSide an fma. It costs kWorkspaceBytes of memory, and writing and
//            reading an x made up to R*S times larger. Few filters a group leave tiles empty.
// Shared     2 tiles of kTileRows rows. Registers: kSide*kSide sums and 2 kSide factors.
// Numerics   The order is c, r, s. A tap in the padding is fma(w, 0, sum): it changes nothing but
//            a sum of -0 (it takes an underflow to get one) and where w holds an infinity or NaN.
// Source     Chellapilla, Puri, Simard: High Performance Convolutional Neural Networks for Document
//            Processing (2006); explicit GEMM of the cuDNN paper, arXiv 1410.0759, section 3.

#include <algorithm>
#include <string>

#include "gpu/conv2d/conv2d_forward.hpp"
#include "gpu/cuda.hpp"
#include "gpu/launch.hpp"
#include "reference/core/error.hpp"

namespace sevenloops::SEVENLOOPS_BUILD {
namespace {

constexpr int kThreads = 256;      // of a block of either kernel
constexpr int kLowerChannels = 8;  // of x, written by one thread while lowering
constexpr int kTileK = 64;         // filters of a block of the product
constexpr int kTileJ = 64;         // columns of a block
constexpr int kTileRows = 16;      // rows c, r, s of both operands in shared memory at a time
constexpr int kLanes = 16;         // threads along either side of a tile
constexpr int kSide = 4;           // outputs of a thread along either side, kLanes apart
constexpr std::int64_t kWorkspaceBytes = 512 << 20;  // columns beyond are lowered in turns

// The padding of a row of w_tile spreads a warp's stores, kTileRows rows of 2 filters, over all
// banks.
template <typename T>
constexpr int kPitch = kTileK + 8 / sizeof(T);

// Blocks of the product at a time on a multiprocessor: registers are shared out accordingly.
template <typename T>
constexpr int kBlocksAtOnce = 16 / sizeof(T);

static_assert(kLanes * kLanes == kThreads, "the threads form a square");
static_assert(kSide * kLanes == kTileK && kSide * kLanes == kTileJ, "the threads cover a tile");
static_assert(kTileRows == kLanes, "each thread loads one row of w for kSide filters");
static_assert(kThreads % kTileJ == 0, "the threads load whole rows of columns");

// Columns first_column + j, j < count, of the lowered x: workspace(row, j), rows g, c, r, s.
struct Columns {
  std::int64_t first;  // n*P*Q + p*Q + q of the first
  int count;           // in this turn
  int pitch;           // from row to row in the workspace, in elements
};

template <typename T>
__global__ void lower(Conv2dProblem prob, Columns columns, TensorView<const T> x, T* workspace) {
  // Which column, which channels?
  const int j_blocks = ceil_div(columns.count, kThreads);
  const int j = blockIdx.x % j_blocks * kThreads + threadIdx.x;
  if (j >= columns.count) return;
  const std::int64_t P = prob.P(), Q = prob.Q(), column = columns.first + j;
  const std::int64_t q = column % Q, p = column / Q % P, n = column / Q / P;
  const std::int64_t c_first = std::int64_t{blockIdx.x / j_blocks} * kLowerChannels;
  const std::int64_t c_end = std::min(c_first + kLowerChannels, prob.C);

  // Where does tap r, s = 0, 0 read x, and in what steps go the others? Backwards when rotated.
  const bool rotated = prob.mode == ConvMode::convolution;
  const int R = prob.R, step_h = rotated ? -prob.dilation_h : prob.dilation_h;
  const int S = prob.S, step_w = rotated ? -prob.dilation_w : prob.dilation_w;
  const int h0 = p * prob.stride_h - prob.pad_top + (rotated ? R - 1 : 0) * prob.dilation_h;
  const int v0 = q * prob.stride_w - prob.pad_left + (rotated ? S - 1 : 0) * prob.dilation_w;

  // Write the taps of the channels, one below the other. Those in the padding are zero.
  T* out = workspace + c_first * R * S * columns.pitch + j;
  for (std::int64_t c = c_first; c < c_end; ++c) {
    for (int r = 0; r < R; ++r) {
      for (int s = 0; s < S; ++s) {
        const int h = h0 + r * step_h, v = v0 + s * step_w;
        T value = 0;
        if (0 <= h && h < prob.H && 0 <= v && v < prob.W) value = x(n, c, h, v);
        *out = value;
        out += columns.pitch;
      }
    }
  }
}

template <typename T>
__global__ void __launch_bounds__(kThreads, kBlocksAtOnce<T>)
    multiply(Conv2dProblem prob, Columns columns, TensorView<const T> w, const T* workspace,
             TensorView<T> y, T alpha, T beta) {
  __shared__ T w_tile[kTileRows][kPitch<T>];  // w transposed: rows c, r, s x filters
  __shared__ T x_tile[kTileRows][kTileJ];     // rows c, r, s x columns

  // Which tile is this block's? Filters change fastest, so that columns are reread soon.
  const int K = prob.filters_per_group(), k_tiles = ceil_div(K, kTileK);
  const int j_tiles = ceil_div(columns.count, kTileJ);
  const int block = blockIdx.x, g = block / k_tiles / j_tiles;
  const int k_first = block % k_tiles * kTileK, j_first = block / k_tiles % j_tiles * kTileJ;
  const int R = prob.R, S = prob.S, rows = prob.channels_per_group() * R * S;
  const T* x_rows = workspace + g * rows * columns.pitch;  // rows x columns.count of the group
  const int lane = threadIdx.x % kLanes, line = threadIdx.x / kLanes;

  T sum[kSide][kSide] = {};  // of filters line + kLanes*a and columns lane + kLanes*b
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
    const int j = threadIdx.x % kTileJ;
    for (int i = threadIdx.x / kTileJ; i < depth; i += kThreads / kTileJ) {
      T value = 0;
      if (j_first + j < columns.count) value = x_rows[(row0 + i) * columns.pitch + j_first + j];
      x_tile[i][j] = value;
    }
    __syncthreads();

    // Add the products of the rows, one after the other.
    for (int i = 0; i < depth; ++i) {
      T w_row[kSide], x_row[kSide];
      for (int a = 0; a < kSide; ++a) w_row[a] = w_tile[i][line + kLanes * a];
      for (int b = 0; b < kSide; ++b) x_row[b] = x_tile[i][lane + kLanes * b];
      for (int a = 0; a < kSide; ++a) {
        for (int b = 0; b < kSide; ++b) sum[a][b] = fma(x_row[b], w_row[a], sum[a][b]);
      }
    }
    __syncthreads();
  }

  // Scale and store; beta = 0 does not read y.
  for (int b = 0; b < kSide; ++b) {
    const int j = j_first + lane + kLanes * b;
    if (j < columns.count) {
      const std::int64_t column = columns.first + j, P = y.extent(2), Q = y.extent(3);
      const std::int64_t n = column / Q / P, p = column / Q % P, q = column % Q;
      for (int a = 0; a < kSide; ++a) {
        const int k = k_first + line + kLanes * a;
        if (k < K) {
          const T scaled = alpha * sum[a][b];
          T& out = y(n, std::int64_t{g} * K + k, p, q);
          out = beta == 0 ? scaled : fma(beta, out, scaled);
        }
      }
    }
  }
}

// Rows of all groups.
std::int64_t row_count(const Conv2dProblem& prob) { return prob.C * prob.R * prob.S; }

// Columns lowered in one turn: all, or as many whole tiles as the workspace may hold, at least 1.
std::int64_t columns_a_turn(const Conv2dForward::Args& args) {
  const Conv2dProblem& prob = args.prob;
  const std::int64_t element_bytes = size_in_bytes(prob.dtype);
  const std::int64_t fitting = kWorkspaceBytes / element_bytes / row_count(prob);
  const std::int64_t turn = fitting < kTileJ ? fitting : fitting / kTileJ * kTileJ;
  return std::min(prob.N * prob.P() * prob.Q(), std::max<std::int64_t>(turn, 1));
}

std::size_t workspace_bytes(const Conv2dForward::Args& args) {
  return row_count(args.prob) * columns_a_turn(args) * size_in_bytes(args.prob.dtype);
}

std::int64_t multiply_blocks(const Conv2dProblem& prob, std::int64_t columns) {
  return prob.groups * ceil_div(prob.filters_per_group(), kTileK) * ceil_div(columns, kTileJ);
}

Support supports(const Conv2dForward::Args& args) {
  // 32-bit indices, with room for the tile that hangs over the end.
  constexpr std::int64_t kLargest = 1 << 30;
  if (row_count(args.prob) > kLargest || args.prob.K > kLargest) {
    return Support::no("C*R*S is " + std::to_string(row_count(args.prob)) + " and K " +
                       std::to_string(args.prob.K) + ", but the matrices have at most 2^30 rows");
  }
  return within_limits(args.prob, multiply_blocks(args.prob, columns_a_turn(args)));
}

template <typename T>
void launch_as(const Conv2dForward::Args& args, T* workspace, Stream stream) {
  const Conv2dProblem& prob = args.prob;
  const std::int64_t all = prob.N * prob.P() * prob.Q(), turn = columns_a_turn(args);
  for (std::int64_t first = 0; first < all; first += turn) {
    const std::int64_t count = std::min(turn, all - first);
    const Columns columns{first, static_cast<int>(count), static_cast<int>(turn)};
    const dim3 lower_grid(ceil_div(count, kThreads) * ceil_div(prob.C, kLowerChannels));
    launch(lower<T>, LaunchShape{lower_grid, dim3(kThreads)}, stream, prob, columns,
           args.x.as<const T>(), workspace);
    launch(multiply<T>, LaunchShape{dim3(multiply_blocks(prob, count)), dim3(kThreads)}, stream,
           prob, columns, args.w.as<const T>(), static_cast<const T*>(workspace), args.y.as<T>(),
           static_cast<T>(args.alpha), static_cast<T>(args.beta));
  }
}

void launch_stage(const Conv2dForward::Args& args, Workspace workspace, Stream stream) {
  if (workspace.bytes < workspace_bytes(args)) {
    throw Error("the workspace of im2col_gemm in bytes", workspace.bytes,
                "be at least " + std::to_string(workspace_bytes(args)));
  }
  args.prob.dtype == Dtype::f64 ? launch_as(args, static_cast<double*>(workspace.data), stream)
                                : launch_as(args, static_cast<float*>(workspace.data), stream);
}

}  // namespace

extern const Stage<Conv2dForward> conv2d_im2col_gemm = {
    .name = "im2col_gemm",
    .idea = "Writes the taps of every output into a column, then multiplies matrices by tiles",
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
