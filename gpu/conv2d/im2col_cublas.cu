// im2col_cublas: the lowered matrix is multiplied by the vendor's library.
//
// Idea       What is left of convolution after lowering is a matrix product, and for that there is
//            a library whose authors have done nothing else for years. So did Caffe.
// Change     Against `im2col_register_gemm` the product is cuBLAS's: for each image, filters times
//            its columns, straight into its planes of y.
// Buys       The library's speed. It costs generality: y and w must be dense, since a library knows
//            one distance from row to row; and the lowered matrix is written and read as before.
// Shared     none of ours.
// Numerics   cuBLAS adds in an order of its own, in true fp32 (no TF32).
// Source     Jia: Caffe, arXiv 1408.5093; cuBLAS documentation, "cublas<t>gemmStridedBatched".

#include "gpu/conv2d/conv2d_forward.hpp"
#include "gpu/conv2d/lowering.hpp"
#include "gpu/cublas.hpp"

namespace sevenloops::SEVENLOOPS_BUILD {
namespace {

// Images that are lowered at a time: as many as kLoweredBytes hold, at least one.
std::int64_t images_a_turn(const Conv2dProblem& prob) {
  const std::int64_t plane = prob.P() * prob.Q();
  return std::max<std::int64_t>(columns_a_turn(prob, plane) / plane, 1);
}

Support supports(const Conv2dForward::Args& args) {
  const Conv2dProblem& prob = args.prob;
  const auto& y = args.y.strides;
  const auto& w = args.w.strides;
  if (y[3] != 1 || y[2] != prob.Q() || y[1] < prob.P() * prob.Q()) {
    return Support::no("the planes of y are not dense one behind the other, as cuBLAS needs them");
  }
  if (w[3] != 1 || w[2] != prob.S || w[1] != prob.R * prob.S || w[0] < row_count(prob)) {
    return Support::no("the filters are not dense rows c, r, s, as cuBLAS needs them");
  }
  if (args.alpha == 0) return Support::no("alpha is 0, with which cuBLAS does not read x and w");
  constexpr std::int64_t kLargest = (std::int64_t{1} << 31) - 1;
  if (images_a_turn(prob) * prob.P() * prob.Q() > kLargest || std::max(y[1], w[0]) > kLargest) {
    return Support::no(
        "a matrix has rows of more than 2^31 - 1 elements, which cuBLAS cannot count");
  }
  return within_lowering_limits(prob, 0);
}

std::size_t workspace_bytes(const Conv2dForward::Args& args) {
  return lowered_bytes(args.prob, images_a_turn(args.prob) * args.prob.P() * args.prob.Q());
}

template <typename T>
void launch_as(const Conv2dForward::Args& args, T* lowered, Stream stream) {
  const Conv2dProblem& prob = args.prob;
  const std::int64_t plane = prob.P() * prob.Q(), turn = images_a_turn(prob) * plane;
  const std::int64_t K = prob.filters_per_group(), rows = row_count(prob);
  const TensorView<const T> w = args.w.as<const T>();
  const TensorView<T> y = args.y.as<T>();
  lower_in_turns(args, turn, turn, lowered, stream, [&](const Columns& columns) {
    for (std::int64_t g = 0; g < prob.groups; ++g) {
      cublas_multiply<T>(
          stream, K, plane, rows, static_cast<T>(args.alpha), {&w(g * K, 0, 0, 0), w.stride(0), 0},
          {lowered + g * rows * columns.pitch, columns.pitch, plane}, static_cast<T>(args.beta),
          {&y(columns.first / plane, g * K, 0, 0), y.stride(1), y.stride(0)},
          columns.count / plane);
    }
  });
}

void launch_stage(const Conv2dForward::Args& args, Workspace workspace, Stream stream) {
  require_workspace("im2col_cublas", workspace, workspace_bytes(args));
  if (args.y.size() == 0) return;
  args.prob.dtype == Dtype::f64 ? launch_as(args, static_cast<double*>(workspace.data), stream)
                                : launch_as(args, static_cast<float*>(workspace.data), stream);
}

}  // namespace

extern const Stage<Conv2dForward> conv2d_im2col_cublas = {
    .name = "im2col_cublas",
    .idea = "Leaves the product with the lowered matrix to cuBLAS, as Caffe did",
    .family = "gemm",
    .order = Order::own,
    .padding = Padding::multiplied,
    .deterministic = true,
    .gpu_library = "cuBLAS",
    .supports = supports,
    .workspace_bytes = workspace_bytes,
    .prepare = nullptr,
    .launch = launch_stage,
};

}  // namespace sevenloops::SEVENLOOPS_BUILD
