#pragma once
// Lowering: the taps of every output as a column of a matrix in the workspace (im2col).

#include <algorithm>
#include <string>

#include "gpu/conv2d/conv2d_forward.hpp"
#include "gpu/cuda.hpp"
#include "gpu/launch.hpp"

namespace sevenloops::SEVENLOOPS_BUILD {

/// Columns first + j, j < count, of the lowered x: lowered[row*pitch + j], rows g, c, r, s.
struct Columns {
  std::int64_t first;  ///< n*P*Q + p*Q + q of the first
  int count;           ///< in this turn
  int pitch;           ///< from row to row, in elements
};

constexpr int kLowerThreads = 256;
constexpr int kLowerChannels = 8;                  ///< of x, lowered by one thread
constexpr std::int64_t kLoweredBytes = 512 << 20;  ///< columns beyond are lowered in turns

/// Writes the taps of some columns; one thread a column and kLowerChannels channels.
template <typename T>
__global__ void lower(Conv2dProblem prob, Columns columns, TensorView<const T> x, T* lowered) {
  // Which column, which channels?
  const int j_blocks = ceil_div(columns.count, kLowerThreads);
  const int j = blockIdx.x % j_blocks * kLowerThreads + threadIdx.x;
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
  T* out = lowered + c_first * R * S * columns.pitch + j;
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

/// Rows of the lowered matrix, of all groups.
inline std::int64_t lowered_rows(const Conv2dProblem& prob) { return prob.C * prob.R * prob.S; }

/// Columns that are lowered at a time: all, or as many whole tiles of `tile` columns as
/// kLoweredBytes hold, at least one column.
inline std::int64_t columns_a_turn(const Conv2dProblem& prob, std::int64_t tile) {
  const std::int64_t column_bytes = lowered_rows(prob) * size_in_bytes(prob.dtype);
  const std::int64_t fitting = kLoweredBytes / column_bytes;
  const std::int64_t turn = fitting < tile ? fitting : fitting / tile * tile;
  return std::min(prob.N * prob.P() * prob.Q(), std::max<std::int64_t>(turn, 1));
}

/// The workspace that a turn of `pitch` columns takes.
inline std::size_t lowered_bytes(const Conv2dProblem& prob, std::int64_t pitch) {
  return lowered_rows(prob) * pitch * size_in_bytes(prob.dtype);
}

/// Rows and filters are counted in 32 bits, with room for a tile that hangs over the end.
inline Support within_lowering_limits(const Conv2dProblem& prob, std::int64_t blocks) {
  constexpr std::int64_t kLargest = 1 << 30;
  if (lowered_rows(prob) > kLargest || prob.K > kLargest) {
    return Support::no("C*R*S is " + std::to_string(lowered_rows(prob)) + " and K " +
                       std::to_string(prob.K) + ", but the matrices have at most 2^30 rows");
  }
  return within_limits(prob, blocks);
}

/// Lowers all columns, `turn` at a time with the rows `pitch` apart, and calls
/// `multiply(columns)` after each turn.
template <typename T, typename Multiply>
void lower_in_turns(const Conv2dForward::Args& args, std::int64_t turn, std::int64_t pitch,
                    T* lowered, Stream stream, Multiply multiply) {
  const std::int64_t all = args.prob.N * args.prob.P() * args.prob.Q();
  for (std::int64_t first = 0; first < all; first += turn) {
    const std::int64_t count = std::min(turn, all - first);
    const Columns columns{first, static_cast<int>(count), static_cast<int>(pitch)};
    const dim3 grid(ceil_div(count, kLowerThreads) * ceil_div(args.prob.C, kLowerChannels));
    launch(lower<T>, LaunchShape{grid, dim3(kLowerThreads)}, stream, args.prob, columns,
           args.x.as<const T>(), lowered);
    multiply(columns);
  }
}

}  // namespace sevenloops::SEVENLOOPS_BUILD
