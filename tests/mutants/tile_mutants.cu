// A block for 32 outputs of one filter in one image: the filter passes through shared memory in
// tiles of 32 taps. With one barrier, guard or initialization missing.

#include "gpu/conv2d/conv2d_forward.hpp"
#include "gpu/cuda.hpp"
#include "gpu/launch.hpp"
#include "tests/mutants/mutant.hpp"

namespace sevenloops::SEVENLOOPS_BUILD {
namespace {

enum class Wrong {
  nothing,
  barrier_missing_after_load,
  barrier_missing_before_load,
  barrier_in_branch,
  tile_tail_loaded_unguarded,
  tile_tail_added_unguarded,
  output_tail_unguarded,
  shared_sum_uninitialized,
  shared_sum_of_neighbor,
  input_written,
};

constexpr int kTile = 32;  // outputs of a block, one thread each; and taps in shared memory
constexpr int kThreads = 2 * kTile;  // the second half only helps to load: every other tap

template <Wrong kWrong, typename T>
__global__ void convolve(Conv2dProblem prob, TensorView<const T> x, TensorView<const T> w,
                         TensorView<T> y, T alpha, T beta) {
  __shared__ T taps[kTile];
  __shared__ T sums[kTile];
  const std::int64_t P = y.extent(2), Q = y.extent(3), tiles = (P * Q + kTile - 1) / kTile;
  const std::int64_t tile = blockIdx.x % tiles, k = blockIdx.x / tiles % prob.K;
  const std::int64_t n = blockIdx.x / tiles / prob.K;
  const std::int64_t output = tile * kTile + threadIdx.x % kTile;
  const bool adds = threadIdx.x < kTile;
  const bool has_output = adds && (output < P * Q || kWrong == Wrong::output_tail_unguarded);
  const std::int64_t p = output / Q, q = output % Q;
  const std::int64_t C = prob.channels_per_group(), R = prob.R, S = prob.S;
  const std::int64_t c_first = k / prob.filters_per_group() * C;
  const bool rotated = prob.mode == ConvMode::convolution;
  if (kWrong == Wrong::barrier_in_branch && tile == tiles - 1 && !has_output && adds) return;

  if (kWrong != Wrong::shared_sum_uninitialized && adds) sums[threadIdx.x] = 0;
  for (std::int64_t first = 0; first < C * R * S; first += kTile) {
    const std::int64_t load = first + threadIdx.x / 2;
    if (threadIdx.x % 2 == 0 && (load < C * R * S || kWrong == Wrong::tile_tail_loaded_unguarded)) {
      taps[threadIdx.x / 2] = w(k, load / (R * S), load / S % R, load % S);
    }
    if (kWrong != Wrong::barrier_missing_after_load) __syncthreads();
    const std::int64_t left = C * R * S - first;
    const bool full = left >= kTile || kWrong == Wrong::tile_tail_added_unguarded;
    for (int i = 0; has_output && i < (full ? kTile : static_cast<int>(left)); ++i) {
      const std::int64_t tap = first + i, c = tap / (R * S), r = tap / S % R, s = tap % S;
      const std::int64_t h =
          p * prob.stride_h + (rotated ? R - 1 - r : r) * prob.dilation_h - prob.pad_top;
      const std::int64_t v =
          q * prob.stride_w + (rotated ? S - 1 - s : s) * prob.dilation_w - prob.pad_left;
      if (0 <= h && h < prob.H && 0 <= v && v < prob.W) {
        const int mine = kWrong == Wrong::shared_sum_of_neighbor ? (threadIdx.x | 1) : threadIdx.x;
        sums[mine] = fma(x(n, c_first + c, h, v), taps[i], sums[mine]);
      }
    }
    if (kWrong != Wrong::barrier_missing_before_load) __syncthreads();
  }

  if (kWrong == Wrong::input_written && threadIdx.x == 0) {
    const_cast<T&>(x(n, c_first, 0, 0)) = 7;
  }
  if (has_output) {
    const T scaled = alpha * sums[threadIdx.x];
    y(n, k, p, q) = beta == 0 ? scaled : fma(beta, y(n, k, p, q), scaled);
  }
}

Support supports(const Conv2dForward::Args&) { return {}; }

std::size_t workspace_bytes(const Conv2dForward::Args&) { return 0; }

template <Wrong kWrong, typename T>
void launch_as(const Conv2dForward::Args& args, Stream stream) {
  const std::int64_t tiles = (args.y.extents[2] * args.y.extents[3] + kTile - 1) / kTile;
  const auto blocks = static_cast<unsigned>(args.prob.N * args.prob.K * tiles);
  launch(convolve<kWrong, T>, LaunchShape{dim3(blocks), dim3(kThreads)}, stream, args.prob,
         args.x.as<const T>(), args.w.as<const T>(), args.y.as<T>(), static_cast<T>(args.alpha),
         static_cast<T>(args.beta));
}

template <Wrong kWrong>
void launch_mutant(const Conv2dForward::Args& args, Workspace, Stream stream) {
  if (args.y.size() == 0) return;
  args.prob.dtype == Dtype::f64 ? launch_as<kWrong, double>(args, stream)
                                : launch_as<kWrong, float>(args, stream);
}

template <Wrong kWrong>
Mutant mutant(const char* name) {
  return {.name = name,
          .idea = "The filter passes through shared memory",
          .family = "direct",
          .order = Order::reference,
          .padding = Padding::skipped,
          .deterministic = true,
          .supports = supports,
          .workspace_bytes = workspace_bytes,
          .prepare = nullptr,
          .launch = launch_mutant<kWrong>};
}

}  // namespace

std::vector<Mutant> tile_mutants() {
  return {
      mutant<Wrong::nothing>("right, tiled"),
      mutant<Wrong::barrier_missing_after_load>("missing barrier after the load"),
      mutant<Wrong::barrier_missing_before_load>("missing barrier before the next load"),
      mutant<Wrong::barrier_in_branch>("barrier not reached by idle threads"),
      mutant<Wrong::tile_tail_loaded_unguarded>("tile tail loaded unguarded"),
      mutant<Wrong::tile_tail_added_unguarded>("tile tail added unguarded"),
      mutant<Wrong::output_tail_unguarded>("output tail unguarded"),
      mutant<Wrong::shared_sum_uninitialized>("shared accumulator uninitialized"),
      mutant<Wrong::shared_sum_of_neighbor>("accumulator shared by neighbors"),
      mutant<Wrong::input_written>("input written"),
  };
}

}  // namespace sevenloops::SEVENLOOPS_BUILD
