// im2col_gemm: write the taps of every output into a column, then multiply matrices.
//
// Idea       Column n,p,q of a matrix holds the C*R*S elements of x that the outputs there read.
//            Convolution is then, group by group, filters (K x C*R*S) times columns: a matrix
//            product, whose operands need no tests for borders, strides and dilations.
// Change     Against `smem_tile` a tile is kTileK filters x kTileJ columns of any rows and images,
//            and a thread forms kSums x kSums sums from 2 kSums shared loads.
// Buys       Shared loads are 2/kSums an fma. It costs a workspace, and writing and
//            reading an x made up to R*S times larger. Few filters a group leave tiles empty.
// Shared     2 tiles of kTileRows rows. Registers: kSums*kSums sums and 2 kSums factors.
// Numerics   The order is c, r, s. A tap in the padding is fma(w, 0, sum): it changes nothing but
//            a sum of -0 (it takes an underflow to get one) and where w holds an infinity or NaN.
// Source     Chellapilla, Puri, Simard: High Performance Convolutional Neural Networks for Document
//            Processing (2006); explicit GEMM of the cuDNN paper, arXiv 1410.0759, section 3.

#include "gpu/conv2d/conv2d_forward.hpp"
#include "gpu/conv2d/lowering.hpp"
#include "gpu/cuda.hpp"
#include "gpu/launch.hpp"

namespace sevenloops::SEVENLOOPS_BUILD {
namespace {

constexpr int kThreads = 256;
constexpr int kTileK = 64;     // filters of a block of the product
constexpr int kTileJ = 64;     // columns of a block
constexpr int kTileRows = 16;  // rows c, r, s of both operands in shared memory at a time
constexpr int kLanes = 16;     // threads along either side of a tile
constexpr int kSums = 4;       // outputs of a thread along either side, kLanes apart

// The padding of a row of w_tile spreads a warp's stores, kTileRows rows of 2 filters, over all
// banks.
template <typename T>
constexpr int kPitch = kTileK + 8 / sizeof(T);

// Blocks of the product at a time on a multiprocessor: registers are shared out accordingly.
template <typename T>
constexpr int kBlocksAtOnce = 16 / sizeof(T);

static_assert(kLanes * kLanes == kThreads, "the threads form a square");
static_assert(kSums * kLanes == kTileK && kSums * kLanes == kTileJ, "the threads cover a tile");
static_assert(kTileRows == kLanes, "each thread loads one row of w for kSums filters");
static_assert(kThreads % kTileJ == 0, "the threads load whole rows of columns");

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
    const int j = threadIdx.x % kTileJ;
    for (int i = threadIdx.x / kTileJ; i < depth; i += kThreads / kTileJ) {
      T value = 0;
      if (j_first + j < columns.count) value = x_rows[(row0 + i) * columns.pitch + j_first + j];
      x_tile[i][j] = value;
    }
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
    const int j = j_first + lane + kLanes * b;
    if (j < columns.count) {
      const std::int64_t column = columns.first + j, P = y.extent(2), Q = y.extent(3);
      const std::int64_t n = column / Q / P, p = column / Q % P, q = column % Q;
      for (int a = 0; a < kSums; ++a) {
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

std::size_t workspace_bytes(const Conv2dForward::Args& args) {
  return lowered_bytes(args.prob, columns_a_turn(args.prob, kTileJ));
}

std::int64_t multiply_blocks(const Conv2dProblem& prob, std::int64_t columns) {
  return prob.groups * ceil_div(prob.filters_per_group(), kTileK) * ceil_div(columns, kTileJ);
}

Support supports(const Conv2dForward::Args& args) {
  return within_lowering_limits(args.prob,
                                multiply_blocks(args.prob, columns_a_turn(args.prob, kTileJ)));
}

template <typename T>
void launch_as(const Conv2dForward::Args& args, T* workspace, Stream stream) {
  const auto multiply_columns = [&](const Columns& columns) {
    const dim3 grid(multiply_blocks(args.prob, columns.count));
    launch(multiply<T>, LaunchShape{grid, dim3(kThreads)}, stream, args.prob, columns,
           args.w.as<const T>(), static_cast<const T*>(workspace), args.y.as<T>(),
           static_cast<T>(args.alpha), static_cast<T>(args.beta));
  };
  const std::int64_t turn = columns_a_turn(args.prob, kTileJ);
  lower_in_turns(args, turn, turn, workspace, stream, multiply_columns);
}

void launch_stage(const Conv2dForward::Args& args, Workspace workspace, Stream stream) {
  require_workspace("im2col_gemm", workspace, workspace_bytes(args));
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
