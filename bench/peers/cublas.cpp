#include "bench/peers/cublas.hpp"

#include <cublas_v2.h>

#include <cmath>
#include <random>

#include "gpu/check.hpp"
#include "reference/core/error.hpp"
#include "reference/core/layout.hpp"
#include "reference/core/numerics.hpp"

namespace sevenloops::cublas {
namespace {

constexpr int kSamples = 64;  // elements of the result that are computed again on the host

void require(cublasStatus_t status, const char* doing) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw Error(std::string("cuBLAS failed ") + doing + ": " + cublasGetStatusString(status));
  }
}

cublasHandle_t handle() {
  // Never destroyed: at the end of the program the driver may be gone before it.
  static const cublasHandle_t only = [] {
    cublasHandle_t created = nullptr;
    require(cublasCreate(&created), "to start");
    return created;
  }();
  return only;
}

// Rows of the lowered matrix, columns of the result, terms of each sum; of one group.
struct Sizes {
  std::int64_t m, n, k;
};
Sizes sizes_of(const Conv2dProblem& prob) {
  return {prob.N * prob.P() * prob.Q(), prob.filters_per_group(),
          prob.channels_per_group() * prob.R * prob.S};
}

// Row i of the lowered matrix is contiguous (k terms); the result is column by column.
template <typename T>
struct Operands {
  const T* lowered;
  const T* w;
  T* y;

  Operands(const Conv2dForward::Args& args, Workspace workspace)
      : lowered(static_cast<const T*>(workspace.data)),
        w(static_cast<const T*>(args.w.data)),
        y(static_cast<T*>(workspace.data) + sizes_of(args.prob).m * sizes_of(args.prob).k) {}
};

template <typename T>
void launch_product(const Conv2dForward::Args& args, Workspace workspace, Stream stream) {
  const auto [m, n, k] = sizes_of(args.prob);
  const Operands<T> on(args, workspace);
  const T one = 1, zero = 0;
  require(cublasSetStream(handle(), static_cast<cudaStream_t>(stream)), "to set its stream");
  // Default math: fp32 products are not rounded to TF32.
  if constexpr (std::is_same_v<T, float>) {
    require(cublasSgemm_64(handle(), CUBLAS_OP_T, CUBLAS_OP_N, m, n, k, &one, on.lowered, k, on.w,
                           k, &zero, on.y, m),
            "to multiply");
  } else {
    require(cublasDgemm_64(handle(), CUBLAS_OP_T, CUBLAS_OP_N, m, n, k, &one, on.lowered, k, on.w,
                           k, &zero, on.y, m),
            "to multiply");
  }
}

template <typename T>
std::vector<T> downloaded(const T* from, std::int64_t count) {
  std::vector<T> host(static_cast<std::size_t>(count));
  check(cudaMemcpy(host.data(), from, host.size() * sizeof(T), cudaMemcpyDeviceToHost));
  return host;
}

template <typename T>
std::string product_objection(const Conv2dForward::Args& args, Workspace workspace) {
  const auto [m, n, k] = sizes_of(args.prob);
  const Operands<T> on(args, workspace);
  std::mt19937_64 random(1);
  for (int sample = 0; sample < kSamples; ++sample) {
    const auto row = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(m));
    const auto column = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
    const std::vector<T> a = downloaded(on.lowered + row * k, k);
    const std::vector<T> b = downloaded(on.w + column * k, k);
    const double got = downloaded(on.y + column * m + row, 1)[0];
    double sum = 0, magnitude = 0;
    for (std::int64_t i = 0; i < k; ++i) {
      sum += static_cast<double>(a[i]) * b[i];
      magnitude += std::abs(static_cast<double>(a[i]) * b[i]);
    }
    const double roundings = static_cast<double>(k) * unit_roundoff(dtype_v<T>);
    if (!(std::abs(got - sum) <= roundings / (1 - roundings) * magnitude)) {
      return "element (" + std::to_string(row) + ", " + std::to_string(column) + ") is " +
             std::to_string(got) + ", but should be " + std::to_string(sum);
    }
  }
  return "";
}

}  // namespace

std::vector<Peer> products(const Conv2dForward::Args& args, std::size_t workspace_limit) {
  const auto [m, n, k] = sizes_of(args.prob);
  const bool wide = args.prob.dtype == Dtype::f64;
  const double elements =
      static_cast<double>(m) * (static_cast<double>(k) + static_cast<double>(n));
  const double bytes = elements * static_cast<double>(size_in_bytes(args.prob.dtype));
  if (args.w.strides != strides_of(Layout::nchw, args.w.extents) ||
      bytes > static_cast<double>(workspace_limit)) {
    return {};
  }
  Peer peer;
  peer.library = "cuBLAS";
  peer.name = "cuBLAS product, already lowered";
  peer.workspace_bytes = static_cast<std::size_t>(bytes);
  peer.is_convolution = false;
  peer.launch = wide ? launch_product<double> : launch_product<float>;
  peer.objection = wide ? product_objection<double> : product_objection<float>;
  return {peer};
}

int version() {
  int version = 0;
  return cublasGetVersion(handle(), &version) == CUBLAS_STATUS_SUCCESS ? version : 0;
}

}  // namespace sevenloops::cublas
