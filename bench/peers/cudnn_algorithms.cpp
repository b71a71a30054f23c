// cuDNN's forward algorithms by name.

#include <array>
#include <memory>

#include "bench/peers/cudnn.hpp"
#include "reference/core/error.hpp"
#include "reference/core/layout.hpp"

namespace sevenloops::cudnn {
namespace {

struct Algorithm {
  cudnnConvolutionFwdAlgo_t value;
  const char* name;
};
constexpr Algorithm kAlgorithms[] = {
    {CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, "implicit_gemm"},
    {CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, "implicit_precomp_gemm"},
    {CUDNN_CONVOLUTION_FWD_ALGO_GEMM, "gemm"},
    {CUDNN_CONVOLUTION_FWD_ALGO_DIRECT, "direct"},
    {CUDNN_CONVOLUTION_FWD_ALGO_FFT, "fft"},
    {CUDNN_CONVOLUTION_FWD_ALGO_FFT_TILING, "fft_tiling"},
    {CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD, "winograd"},
    {CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED, "winograd_nonfused"},
};
static_assert(std::size(kAlgorithms) == CUDNN_CONVOLUTION_FWD_ALGO_COUNT,
              "cuDNN has algorithms that are not in this list");

std::array<int, 4> narrowed(const std::array<std::int64_t, 4>& values) {
  std::array<int, 4> narrow{};
  for (int i = 0; i < 4; ++i) narrow[i] = static_cast<int>(values[i]);
  return narrow;
}

// Descriptors of one problem; destroyed with the last peer that uses them.
struct Descriptors {
  cudnnTensorDescriptor_t x{}, y{};
  cudnnFilterDescriptor_t w{};
  cudnnConvolutionDescriptor_t convolution{};

  Descriptors(const Conv2dForward::Args& args, cudnnTensorFormat_t filter_format) {
    const Conv2dProblem& prob = args.prob;
    const cudnnDataType_t type = data_type(prob.dtype);
    require(cudnnCreateTensorDescriptor(&x), "to create a descriptor");
    require(cudnnCreateTensorDescriptor(&y), "to create a descriptor");
    require(cudnnCreateFilterDescriptor(&w), "to create a descriptor");
    require(cudnnCreateConvolutionDescriptor(&convolution), "to create a descriptor");
    for (const auto& [descriptor, view] : {std::pair(x, args.x), std::pair(y, args.y)}) {
      require(cudnnSetTensorNdDescriptor(descriptor, type, 4, narrowed(view.extents).data(),
                                         narrowed(view.strides).data()),
              "to describe a tensor");
    }
    require(cudnnSetFilterNdDescriptor(w, type, filter_format, 4, narrowed(args.w.extents).data()),
            "to describe the filter");
    require(cudnnSetConvolution2dDescriptor(
                convolution, static_cast<int>(prob.pad_top), static_cast<int>(prob.pad_left),
                static_cast<int>(prob.stride_h), static_cast<int>(prob.stride_w),
                static_cast<int>(prob.dilation_h), static_cast<int>(prob.dilation_w),
                mode_of(prob.mode), type),
            "to describe the convolution");
    require(cudnnSetConvolutionGroupCount(convolution, static_cast<int>(prob.groups)),
            "to set the number of groups");
    require(cudnnSetConvolutionMathType(convolution, CUDNN_FMA_MATH), "to set the arithmetic");
  }
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;
  ~Descriptors() {
    cudnnDestroyConvolutionDescriptor(convolution);
    cudnnDestroyFilterDescriptor(w);
    cudnnDestroyTensorDescriptor(y);
    cudnnDestroyTensorDescriptor(x);
  }
};

void launch_algorithm(const Descriptors& on, cudnnConvolutionFwdAlgo_t algorithm,
                      const Conv2dForward::Args& args, Workspace workspace, Stream stream) {
  // The scalars are float for float data and double for double.
  const float alpha = static_cast<float>(args.alpha), beta = static_cast<float>(args.beta);
  const bool wide = args.prob.dtype == Dtype::f64;
  const void* alpha_at = wide ? static_cast<const void*>(&args.alpha) : &alpha;
  const void* beta_at = wide ? static_cast<const void*>(&args.beta) : &beta;
  require(cudnnConvolutionForward(handle(stream), alpha_at, on.x, args.x.data, on.w, args.w.data,
                                  on.convolution, algorithm, workspace.data, workspace.bytes,
                                  beta_at, on.y, args.y.data),
          "to convolve");
}

}  // namespace

std::vector<Peer> algorithms(const Conv2dForward::Args& args, std::size_t workspace_limit) {
  const Conv2dProblem& prob = args.prob;
  const bool is_kcrs = args.w.strides == strides_of(Layout::nchw, args.w.extents);
  const bool is_krsc = args.w.strides == strides_of(Layout::nhwc, args.w.extents);
  if (!is_kcrs && !is_krsc) return {};
  if (prob.pad_top != prob.pad_bottom || prob.pad_left != prob.pad_right) return {};
  for (const AnyView& view : {args.x, args.w, args.y}) {
    if (span_of(view.extents, view.strides) > INT32_MAX) return {};
  }
  std::shared_ptr<const Descriptors> on;
  try {
    on = std::make_shared<Descriptors>(args, is_kcrs ? CUDNN_TENSOR_NCHW : CUDNN_TENSOR_NHWC);
  } catch (const Error&) {
    return {};  // a shape that cuDNN does not take at all
  }
  std::vector<Peer> peers;
  for (const Algorithm& algorithm : kAlgorithms) {
    std::size_t workspace_bytes = 0;
    if (cudnnGetConvolutionForwardWorkspaceSize(handle(), on->x, on->w, on->convolution, on->y,
                                                algorithm.value,
                                                &workspace_bytes) != CUDNN_STATUS_SUCCESS ||
        workspace_bytes > workspace_limit) {
      continue;
    }
    Peer peer;
    peer.library = "cuDNN";
    peer.name = std::string("cuDNN ") + algorithm.name;
    peer.workspace_bytes = workspace_bytes;
    peer.launch = [on, algorithm](const Conv2dForward::Args& given, Workspace workspace,
                                  Stream stream) {
      launch_algorithm(*on, algorithm.value, given, workspace, stream);
    };
    peers.push_back(std::move(peer));
  }
  return peers;
}

}  // namespace sevenloops::cudnn
