// Is the oracle fast enough to judge real layers? Its three directions beside Eigen's own product
// of the same sizes, in one run: "ratio" is the oracle's time over the product's.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <random>
#include <string>

#include "reference/conv2d/conv2d.hpp"
#include "reference/conv2d/gemm_oracle.hpp"
#include "reference/core/eigen_view.hpp"

namespace sevenloops {
namespace {

struct Layer {
  const char *name, *text;
};

// Layers of convnet-benchmarks with their batch reduced.
constexpr Layer kLayers[] = {
    {"L5", "n16c384h13w13_k384r3s3"},
    {"L3", "n2c128h32w32_k128r9s9"},
};

Tensor<float> random_tensor(const Extents& extents) {
  Tensor<float> tensor(extents);
  std::mt19937 generator(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (float& element : tensor.buffer()) element = uniform(generator);
  return tensor;
}

// Fastest time of each product so far, which the oracle's directions are divided by.
std::map<std::string, double> product_seconds;

// Times the loop, and reports GFLOP/s (a multiply and an add for each tap) and the fastest pass.
template <typename F>
double fastest_pass(benchmark::State& state, const Conv2dProblem& prob, F&& f) {
  double fastest = std::numeric_limits<double>::infinity();
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    f();
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    fastest = std::min(fastest, passed.count());
    state.SetIterationTime(passed.count());
  }
  state.counters["GFLOP/s"] = direct_flops(prob) / fastest * 1e-9;
  return fastest;
}

// The product that lowering leads to: (K x C R S) times (C R S x N P Q).
void plain_product(benchmark::State& state, const Layer& layer) {
  const Conv2dProblem prob = parse_conv2d(layer.text);
  const Eigen::Index taps = prob.C * prob.R * prob.S, columns = prob.N * prob.P() * prob.Q();
  const RowMatrix<float> w = RowMatrix<float>::Random(prob.K, taps);
  const RowMatrix<float> lowered = RowMatrix<float>::Random(taps, columns);
  RowMatrix<float> y(prob.K, columns);
  product_seconds[layer.name] = fastest_pass(state, prob, [&] {
    y.noalias() = w * lowered;
    benchmark::DoNotOptimize(y.data());
  });
}

template <typename F>
void oracle(benchmark::State& state, const Layer& layer, F&& direction) {
  const Conv2dProblem prob = parse_conv2d(layer.text);
  const Tensor<float> x = random_tensor(x_extents(prob)), w = random_tensor(w_extents(prob)),
                      y = random_tensor(y_extents(prob));
  const double seconds = fastest_pass(state, prob, [&] {
    benchmark::DoNotOptimize(direction(prob, x.view(), w.view(), y.view()));
  });
  if (product_seconds.contains(layer.name)) {
    state.counters["ratio"] = seconds / product_seconds[layer.name];
  }
}

using View = TensorView<const float>;

void register_layer(const Layer& layer) {
  const std::string name = layer.name;
  const auto add = [&](const std::string& what, auto&& run) {
    benchmark::RegisterBenchmark((name + "/" + what).c_str(), run)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  };
  add("eigen_product", [&layer](benchmark::State& state) { plain_product(state, layer); });
  add("oracle_forward", [&layer](benchmark::State& state) {
    oracle(state, layer, [](const Conv2dProblem& prob, View x, View w, View) {
      return gemm_oracle_forward(prob, x, w);
    });
  });
  add("oracle_backward_data", [&layer](benchmark::State& state) {
    oracle(state, layer, [](const Conv2dProblem& prob, View, View w, View dy) {
      return gemm_oracle_backward_data(prob, dy, w);
    });
  });
  add("oracle_backward_filter", [&layer](benchmark::State& state) {
    oracle(state, layer, [](const Conv2dProblem& prob, View x, View, View dy) {
      return gemm_oracle_backward_filter(prob, x, dy);
    });
  });
}

}  // namespace
}  // namespace sevenloops

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  for (const auto& layer : sevenloops::kLayers) sevenloops::register_layer(layer);
  benchmark::RunSpecifiedBenchmarks();
}
