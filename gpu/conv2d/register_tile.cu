// register_tile: a thread forms a tile of outputs, and uses each tap of a filter for all its
// places.
//
// Idea       A tap, once in a register, serves every output of its filter. A thread that has
//            kPlaces outputs of kFilters filters multiplies kPlaces elements of x with kFilters
//            taps.
// Change     Against `smem_tile` a thread has kPlaces rows of outputs in place of one. The taps of
//            its filters lie side by side, to be read 16 bytes at a time, and the window holds
//            zeros where it hangs over x, so that the loop has no test.
// Buys       kPlaces + kFilters/kGroup shared loads for kPlaces*kFilters multiplications: 6 for 32
//            in fp32, where `smem_tile` has 9 for 8. It costs larger tiles, which small images fill
//            badly.
// Shared     at most kSharedBytes. What does not fit is done in chunks: of channels, else of filter
//            rows, else of single taps, always in the order c, r, s. Registers: kPlaces*kFilters
//            sums, kPlaces + kFilters factors.
// Numerics   The order is c, r, s. A tap in the padding is fma(0, w, sum): it changes nothing but a
//            sum of -0 (it takes an underflow to get one) and where w holds an infinity or NaN.
// Source     Volkov: Better performance at lower occupancy, GTC 2010.

#include <algorithm>
#include <numeric>

#include "gpu/conv2d/conv2d_forward.hpp"
#include "gpu/conv2d/thread_tile.hpp"
#include "gpu/cuda.hpp"
#include "gpu/launch.hpp"

namespace sevenloops::SEVENLOOPS_BUILD {
namespace {

constexpr int kTileQ = 16;                    // output columns of a block, one thread each
constexpr int kRows = 4;                      // threads along the output rows of a block
constexpr int kPlaces = 4;                    // output rows of a thread, kRows apart
constexpr int kTileP = kRows * kPlaces;       // output rows of a block
constexpr int kLayers = 4;                    // threads that share the filters of an output place
constexpr int kFilters = 8;                   // filters of a thread, side by side
constexpr int kTileK = kLayers * kFilters;    // filters of a block, all of one group
constexpr int kMaxChannels = 32;              // in one chunk
constexpr std::int64_t kSharedBytes = 24576;  // so that several blocks fit on a multiprocessor

// From tap to tap of w_tile, in elements: whole groups, and spread over the banks.
template <typename T>
constexpr int kPitch = kTileK + kGroup<T>;

static_assert(kTileK % (kRows * kLayers) == 0, "the rows of threads load whole filters");
static_assert((kTileP * kTileQ + kPitch<double>)*sizeof(double) + 16 <= kSharedBytes,
              "a chunk of a single tap must fit");

// The part of a sum that is in shared memory at a time: channels x h.taps x w.taps taps, and the
// window of x that the tile reads there, without the rows and columns that it skips.
struct Axis {
  std::int64_t taps;
  std::int64_t step;              // in x, from one row (column) of the window to the next
  std::int64_t window;            // rows (columns) of the window
  std::int64_t stride, dilation;  // the problem's, in steps; no dilation for a single tap
};
struct Chunk {
  std::int64_t channels;
  Axis h, w;
};

template <typename T>
__global__ void register_tile(Conv2dProblem prob, Chunk chunk, TensorView<const T> x,
                              TensorView<const T> w, TensorView<T> y, T alpha, T beta) {
  const int window_h = chunk.h.window, window_w = chunk.w.window;
  T* w_tile = dynamic_shared<T>();  // channels*rows*columns x kPitch
  T* x_tile = w_tile + chunk.channels * chunk.h.taps * chunk.w.taps * kPitch<T>;  // x window

  // Which tile is this block's? Columns change fastest, then rows, filters, images.
  const int q_tiles = ceil_div(y.extent(3), kTileQ), p_tiles = ceil_div(y.extent(2), kTileP);
  const int k_tiles = ceil_div(prob.filters_per_group(), kTileK);
  const int block = blockIdx.x, block_pk = block / q_tiles, block_kg = block_pk / p_tiles;
  const std::int64_t q_first = block % q_tiles * kTileQ, p_first = block_pk % p_tiles * kTileP;
  const std::int64_t g = block_kg / k_tiles % prob.groups, n = block_kg / k_tiles / prob.groups;
  const std::int64_t k_first = g * prob.filters_per_group() + block_kg % k_tiles * kTileK;
  const std::int64_t k_end = (g + 1) * prob.filters_per_group();

  // Which outputs are this thread's? Places p, p + kRows, ... in column q, of filters k, k + 1, ...
  const std::int64_t p = p_first + threadIdx.y, q = q_first + threadIdx.x;
  const std::int64_t k = k_first + threadIdx.z * kFilters;
  const bool has_output = p < y.extent(2) && q < y.extent(3) && k < k_end;
  T sum[kFilters][kPlaces] = {};

  const int place_step = kRows * chunk.h.stride * window_w;  // from place to place in the window
  const bool rotated = prob.mode == ConvMode::convolution;
  const std::int64_t C = prob.channels_per_group(), R = prob.R, S = prob.S;
  for (std::int64_t c0 = 0; c0 < C; c0 += chunk.channels) {
    const int channels = std::min(chunk.channels, C - c0);
    for (std::int64_t r0 = 0; r0 < R; r0 += chunk.h.taps) {
      const int rows = std::min(chunk.h.taps, R - r0);
      for (std::int64_t s0 = 0; s0 < S; s0 += chunk.w.taps) {
        const int columns = std::min(chunk.w.taps, S - s0);

        // Load the window. A rotated filter lays its last taps on the first rows and columns.
        const std::int64_t r_lowest = rotated ? R - r0 - rows : r0;
        const std::int64_t s_lowest = rotated ? S - s0 - columns : s0;
        const std::int64_t h0 = p_first * prob.stride_h + r_lowest * prob.dilation_h - prob.pad_top;
        const std::int64_t v0 =
            q_first * prob.stride_w + s_lowest * prob.dilation_w - prob.pad_left;
        for (int c = threadIdx.z; c < channels; c += kLayers) {
          for (int i0 = 0; i0 < window_h; i0 += kRows) {
            for (int j0 = 0; j0 < window_w; j0 += kTileQ) {
              const int i = i0 + threadIdx.y, j = j0 + threadIdx.x;
              const std::int64_t h = h0 + i * chunk.h.step, v = v0 + j * chunk.w.step;
              if (i < window_h && j < window_w) {
                T value = 0;
                if (0 <= h && h < prob.H && 0 <= v && v < prob.W) {
                  value = x(n, g * C + c0 + c, h, v);
                }
                x_tile[(c * window_h + i) * window_w + j] = value;
              }
            }
          }
        }

        // Load the filters' taps, each filter by one row of threads; missing filters are zero.
        for (int k_own = threadIdx.z * kRows + threadIdx.y; k_own < kTileK;
             k_own += kRows * kLayers) {
          for (int tap = threadIdx.x; tap < channels * rows * columns; tap += kTileQ) {
            const int c = tap / columns / rows, r = tap / columns % rows, s = tap % columns;
            T value = 0;
            if (k_first + k_own < k_end) value = w(k_first + k_own, c0 + c, r0 + r, s0 + s);
            w_tile[tap * kPitch<T> + k_own] = value;
          }
        }
        __syncthreads();

        // Add the chunk's taps in the order c, r, s.
        for (int c = 0; c < channels && has_output; ++c) {
          for (int r = 0; r < rows; ++r) {
            const int i = (rotated ? rows - 1 - r : r) * chunk.h.dilation;
            const T* const row =
                &x_tile[(c * window_h + i + threadIdx.y * chunk.h.stride) * window_w];
            for (int s = 0; s < columns; ++s) {
              const int j = (rotated ? columns - 1 - s : s) * chunk.w.dilation;
              const T* const taps =
                  &w_tile[((c * rows + r) * columns + s) * kPitch<T> + threadIdx.z * kFilters];
              T value[kPlaces];
              __align__(16) T tap[kFilters];
              SEVENLOOPS_UNROLL
              for (int b = 0; b < kPlaces; ++b) {
                value[b] = row[b * place_step + threadIdx.x * chunk.w.stride + j];
              }
              SEVENLOOPS_UNROLL
              for (int a = 0; a < kFilters; a += kGroup<T>) copy_group(&tap[a], &taps[a]);
              SEVENLOOPS_UNROLL
              for (int a = 0; a < kFilters; ++a) {
                SEVENLOOPS_UNROLL
                for (int b = 0; b < kPlaces; ++b) sum[a][b] = fma(value[b], tap[a], sum[a][b]);
              }
            }
          }
        }
        __syncthreads();
      }
    }
  }

  // Scale and store; beta = 0 does not read y.
  SEVENLOOPS_UNROLL
  for (int a = 0; a < kFilters; ++a) {
    SEVENLOOPS_UNROLL
    for (int b = 0; b < kPlaces; ++b) {
      if (has_output && k + a < k_end && p + b * kRows < y.extent(2)) {
        const T scaled = alpha * sum[a][b];
        T& out = y(n, k + a, p + b * kRows, q);
        out = beta == 0 ? scaled : fma(beta, out, scaled);
      }
    }
  }
}

// One filter row meets every stride-th row of x, several meet every gcd(stride, dilation)-th.
Axis axis_of(std::int64_t taps, int tile, std::int64_t stride, std::int64_t dilation) {
  const std::int64_t step = taps == 1 ? stride : std::gcd(stride, dilation);
  const std::int64_t window = ((tile - 1) * stride + (taps - 1) * dilation) / step + 1;
  return {taps, step, window, stride / step, taps == 1 ? 0 : dilation / step};
}

// In floating point: a chunk that is much too large must not overflow.
template <typename T>
double shared_bytes(const Chunk& chunk) {
  const double window = static_cast<double>(chunk.h.window) * chunk.w.window;
  const double taps = static_cast<double>(chunk.h.taps) * chunk.w.taps;
  return chunk.channels * (window + taps * kPitch<T>)*sizeof(T);
}

// The largest chunk that fits, to a factor of two.
template <typename T>
Chunk fitting_chunk(const Conv2dProblem& prob) {
  std::int64_t channels = std::min<std::int64_t>(prob.channels_per_group(), kMaxChannels);
  std::int64_t rows = prob.R, columns = prob.S;
  while (true) {
    const Chunk chunk{channels, axis_of(rows, kTileP, prob.stride_h, prob.dilation_h),
                      axis_of(columns, kTileQ, prob.stride_w, prob.dilation_w)};
    if (shared_bytes<T>(chunk) <= kSharedBytes) return chunk;
    std::int64_t& too_many = channels > 1 ? channels : rows > 1 ? rows : columns;
    too_many = (too_many + 1) / 2;
  }
}

std::int64_t blocks(const Conv2dForward::Args& args) {
  return args.prob.N * args.prob.groups * ceil_div(args.prob.filters_per_group(), kTileK) *
         ceil_div(args.y.extents[2], kTileP) * ceil_div(args.y.extents[3], kTileQ);
}

Support supports(const Conv2dForward::Args& args) { return within_limits(args.prob, blocks(args)); }

std::size_t workspace_bytes(const Conv2dForward::Args&) { return 0; }

template <typename T>
void launch_as(const Conv2dForward::Args& args, Stream stream) {
  const Chunk chunk = fitting_chunk<T>(args.prob);
  const LaunchShape shape{dim3(blocks(args)), dim3(kTileQ, kRows, kLayers),
                          static_cast<std::size_t>(shared_bytes<T>(chunk))};
  launch(register_tile<T>, shape, stream, args.prob, chunk, args.x.as<const T>(),
         args.w.as<const T>(), args.y.as<T>(), static_cast<T>(args.alpha),
         static_cast<T>(args.beta));
}

void launch_stage(const Conv2dForward::Args& args, Workspace, Stream stream) {
  if (args.y.size() == 0) return;
  args.prob.dtype == Dtype::f64 ? launch_as<double>(args, stream) : launch_as<float>(args, stream);
}

}  // namespace

extern const Stage<Conv2dForward> conv2d_register_tile = {
    .name = "register_tile",
    .idea = "A thread multiplies four elements of x with eight taps, all held in registers",
    .family = "direct",
    .order = Order::reference,
    .padding = Padding::multiplied,
    .deterministic = true,
    .supports = supports,
    .workspace_bytes = workspace_bytes,
    .prepare = nullptr,
    .launch = launch_stage,
};

}  // namespace sevenloops::SEVENLOOPS_BUILD
