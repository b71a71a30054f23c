// Indices that leave their axis although the address stays inside the tensor.

#include "gpu/cuda.hpp"
#include "gpu/launch.hpp"
#include "reference/core/tensor_view.hpp"
#include "tests/faults/fault_case.hpp"

namespace sevenloops::SEVENLOOPS_BUILD {
namespace {

using simt::FaultKind;

// One thread per element of a 2 x 3 x 4 x 5 tensor; the index of `kAxis` may go one too far.
template <int kAxis, bool kBroken>
__global__ void index_past_axis(TensorView<const float> x, float* y) {
  const int element = blockIdx.x * 60 + threadIdx.x;
  int index[4] = {element / 60, element / 20 % 3, element / 5 % 4, element % 5};
  if (kBroken && element == 62) index[kAxis] = static_cast<int>(x.extent(kAxis));
  const float value = x(index[0], index[1], index[2], index[3]);  // FAULT index_past_axis
  y[element] = value;
}

// The column left of the first: the address is the row above's last element.
template <bool kBroken>
__global__ void index_negative(TensorView<const float> x, float* y) {
  const int element = blockIdx.x * 60 + threadIdx.x;
  int w = element % 5 - 1;
  if (w < 0 && !(kBroken && element == 65)) w = 0;
  const int n = element / 60, c = element / 20 % 3, h = element / 5 % 4;
  const float value = x(n, c, h, w);  // FAULT index_negative
  y[element] = value;
}

using Kernel = void (*)(TensorView<const float>, float*);

template <Kernel kBrokenKernel, Kernel kRepairedKernel>
std::vector<float> run(bool broken) {
  Memory x("x", counting(120)), y("y", 120);
  const TensorView<const float> view{x.data(), {2, 3, 4, 5}, {60, 20, 5, 1}};
  launch(broken ? kBrokenKernel : kRepairedKernel, LaunchShape{dim3(2), dim3(60)}, nullptr, view,
         y.data());
  return y.values();
}

}  // namespace

std::vector<FaultCase> index_range_cases() {
  const auto past = [](const char* name, const char* kernel, simt::Triple thread,
                       std::vector<float> (*function)(bool)) {
    return FaultCase{
        name,     "index_range.cu", FaultKind::index_out_of_range, kernel, {}, {{1, 0, 0}},
        {thread}, function};
  };
  return {
      past("index_past_axis_N", "index_past_axis<0, true>", {2, 0, 0},
           run<index_past_axis<0, true>, index_past_axis<0, false>>),
      past("index_past_axis_C", "index_past_axis<1, true>", {2, 0, 0},
           run<index_past_axis<1, true>, index_past_axis<1, false>>),
      past("index_past_axis_H", "index_past_axis<2, true>", {2, 0, 0},
           run<index_past_axis<2, true>, index_past_axis<2, false>>),
      past("index_past_axis_W", "index_past_axis<3, true>", {2, 0, 0},
           run<index_past_axis<3, true>, index_past_axis<3, false>>),
      past("index_negative", "index_negative<true>", {5, 0, 0},
           run<index_negative<true>, index_negative<false>>),
  };
}

}  // namespace sevenloops::SEVENLOOPS_BUILD
