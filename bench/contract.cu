// The full-size check's kernel: all filters of a group weighed into one plane.

#include "bench/contract.hpp"
#include "gpu/cuda.hpp"
#include "gpu/launch.hpp"

namespace sevenloops::SEVENLOOPS_BUILD {
namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kMaxBlocks = 1 << 20;

// One thread an element of z; those left over by a grid of kMaxBlocks follow at its distance.
template <typename T>
__global__ void contract_filters(TensorView<const T> y, std::int64_t groups, const double* weights,
                                 double* z) {
  const std::int64_t P = y.extent(2), Q = y.extent(3);
  const std::int64_t filters = y.extent(1) / groups;
  const std::int64_t count = y.extent(0) * groups * P * Q;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (std::int64_t i = first; i < count; i += step) {
    const std::int64_t q = i % Q, p = i / Q % P, g = i / (Q * P) % groups, n = i / (Q * P * groups);
    double sum = 0;
    for (std::int64_t k = g * filters; k < (g + 1) * filters; ++k) {
      sum = fma(weights[k], static_cast<double>(y(n, k, p, q)), sum);
    }
    z[i] = sum;
  }
}

}  // namespace

template <typename T>
void contract(TensorView<const T> y, std::int64_t groups, const double* weights, double* z,
              Stream stream) {
  const std::int64_t count = y.extent(0) * groups * y.extent(2) * y.extent(3);
  if (count == 0) return;
  const std::int64_t blocks = (count + kThreads - 1) / kThreads;
  const dim3 grid(static_cast<unsigned>(blocks < kMaxBlocks ? blocks : kMaxBlocks));
  launch(contract_filters<T>, LaunchShape{grid, dim3(kThreads)}, stream, y, groups, weights, z);
}

template void contract(TensorView<const float>, std::int64_t, const double*, double*, Stream);
template void contract(TensorView<const double>, std::int64_t, const double*, double*, Stream);

}  // namespace sevenloops::SEVENLOOPS_BUILD
