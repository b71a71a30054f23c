#include "tests/support/conv2d_samples.hpp"

#include <limits>

namespace sevenloops::testing {
namespace {

// Not std::uniform_int_distribution, whose numbers differ between libraries.
int draw(std::mt19937& generator, int least, int most) {
  return least + static_cast<int>(generator() % static_cast<unsigned>(most - least + 1));
}

// An input so large that the output has 1 to about 7 rows.
std::int64_t input_extent(std::mt19937& generator, std::int64_t filter, std::int64_t dilation,
                          std::int64_t pads) {
  const std::int64_t least = std::max<std::int64_t>(1, dilation * (filter - 1) + 1 - pads);
  return least + draw(generator, 0, 9);
}

}  // namespace

std::vector<Conv2dProblem> sample_problems(int random_count) {
  std::vector<Conv2dProblem> problems;
  for (const char* text : {
           "n1c1h1w1_k1r1s1",                            // nothing to hide behind
           "n2c3h7w9_k4r3s3",                            // all extents different
           "n2c3h7w9_k4r3s3_conv",                       // rotated filter
           "n2c3h8w6_k5r3s2_p1x2x3x0",                   // four different pads
           "n1c2h9w7_k3r2s3_p2x0x1x3_conv",              // the same, rotated
           "n2c3h11w8_k2r3s2_u3x2",                      // strides that differ
           "n1c3h13w4_k6r1s1_p0x1_u3x1",                 // stride > filter
           "n1c2h12w11_k3r3s2_d2x4",                     // dilations that differ
           "n1c2h10w15_k3r3s2_p1x4x2x3_u2x3_d3x5_conv",  // everything at once
           "n2c6h5w6_k4r3s3_p1_g2",                      // groups
           "n2c6h5w6_k4r2s3_p1_g2_conv",                 // groups, rotated
           "n1c4h6w7_k8r3s3_p1_g4",                      // depthwise with multiplier 2
           "n2c5h6w7_k5r3s3_p1_u2_g5",                   // depthwise, strided
           "n1c2h2w3_k3r5s5_p3_u2",                      // filter > input
           "n2c1h1w1_k1r3s3_p2_u2",                      // only corner taps read anything
           "n1c2h5w5_k2r2s2_p0x0x1x1",                   // even filter, padded at the end
           "n1c2h5w5_k2r2s4_p1x2x0x1",                   // even filter, padded at the beginning
           "n1c3h1w17_k2r1s7_p0x3",                      // one row
           "n1c3h17w1_k2r7s1_p3x0",                      // one column
           "n3c2h4w4_k2r1s1_p2",                         // outputs wholly in padding
           "n1c2h3w3_k2r2s2_p5_u3_d3",                   // pads larger than the input
           "n0c2h6w6_k3r3s3",                            // empty batch
       }) {
    problems.push_back(parse_conv2d(text));
  }
  std::mt19937 generator(2026);
  for (int i = 0; i < random_count; ++i) problems.push_back(random_problem(generator));
  return problems;
}

Conv2dProblem random_problem(std::mt19937& generator) {
  Conv2dProblem prob;
  prob.N = draw(generator, 1, 3);
  prob.groups = draw(generator, 1, 3);
  prob.C = prob.groups * draw(generator, 1, 4);
  prob.K = prob.groups * draw(generator, 1, 4);
  prob.R = draw(generator, 1, 5);
  prob.S = draw(generator, 1, 5);
  prob.pad_top = draw(generator, 0, 4);
  prob.pad_left = draw(generator, 0, 4);
  prob.pad_bottom = draw(generator, 0, 4);
  prob.pad_right = draw(generator, 0, 4);
  prob.stride_h = draw(generator, 1, 4);
  prob.stride_w = draw(generator, 1, 4);
  prob.dilation_h = draw(generator, 1, 3);
  prob.dilation_w = draw(generator, 1, 3);
  prob.H = input_extent(generator, prob.R, prob.dilation_h, prob.pad_top + prob.pad_bottom);
  prob.W = input_extent(generator, prob.S, prob.dilation_w, prob.pad_left + prob.pad_right);
  prob.mode = draw(generator, 0, 1) == 0 ? ConvMode::cross_correlation : ConvMode::convolution;
  return prob;
}

Tensor<double> integers(const Extents& extents, unsigned seed, int limit) {
  Tensor<double> tensor(extents);
  std::mt19937 generator(seed);
  for (double& element : tensor.buffer()) element = draw(generator, -limit, limit);
  return tensor;
}

Tensor<double> combined(double a, const Tensor<double>& u, double b, const Tensor<double>& v) {
  Tensor<double> sum = u;
  for (std::size_t i = 0; i < sum.buffer().size(); ++i) {
    sum.buffer()[i] = a * u.buffer()[i] + b * v.buffer()[i];
  }
  return sum;
}

Tensor<double> restrided(TensorView<const double> view, const Strides& strides) {
  Tensor<double> copy(view.extents, strides);
  for (double& element : copy.buffer()) element = std::numeric_limits<double>::quiet_NaN();
  for_each_index(view.extents,
                 [&](auto n, auto c, auto h, auto w) { copy(n, c, h, w) = view(n, c, h, w); });
  return copy;
}

}  // namespace sevenloops::testing
