// Times on a GPU: every stage and every algorithm of the libraries on every yardstick layer, each
// verified before it is timed. Written for --benchmark_out; bench/report.py makes tables of it.
//
//     stage_bench --layers=L5,R56 --benchmark_out=results.json

#include <benchmark/benchmark.h>

#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "bench/cli/layers.hpp"
#include "bench/measure.hpp"
#include "gpu/conv2d/stages.hpp"
#include "gpu/device_buffer.hpp"
#include "reference/conv2d/conv2d.hpp"
#include "reference/core/error.hpp"

namespace sevenloops {
namespace {

constexpr std::uint64_t kSeed = 1;
constexpr const char* kLayersFlag = "--layers=";

struct Named {
  const char *name, *value;
};
constexpr Named kSourceHashes[] = {
#include "stage_hashes.inc"
};

// The operands of the layer being measured: rows of one layer follow each other and share them.
LayerBench& bench_of(const Layer& layer) {
  static std::string current;
  static std::unique_ptr<LayerBench> bench;
  if (current != layer.name) {
    bench.reset();  // before the next one takes its memory
    bench = std::make_unique<LayerBench>(layer.prob, Layout::nchw, kSeed);
    current = layer.name;
  }
  return *bench;
}

// One row: the library's own loop runs once and reports the median of ours.
template <typename Measure>
void run(benchmark::State& state, const Layer& layer, Measure measure) {
  Measured row;
  try {
    row = measure(bench_of(layer));
  } catch (const Error& error) {
    row.refused = error.what();
  }
  state.SetLabel(print(layer.prob));
  state.counters["workspace_bytes"] = static_cast<double>(row.workspace_bytes);
  if (!row.refused.empty()) {
    state.SkipWithError(row.refused.c_str());
    return;
  }
  for (auto iteration : state) state.SetIterationTime(row.timing.median_ms / 1e3);
  state.counters["tflops"] = row.tflops(layer.prob);
  state.counters["p10_ms"] = row.timing.p10_ms;
  state.counters["p90_ms"] = row.timing.p90_ms;
  state.counters["runs"] = row.timing.runs;
  state.counters["prepare_ms"] = row.prepare_ms;
  state.counters["exact"] = row.exact;
  state.counters["worst_bound_fraction"] = row.worst_bound_fraction;
  state.counters["rms_error"] = row.rms_error;
  state.counters["is_convolution"] = row.is_convolution;
}

template <typename Measure>
void add(const Layer& layer, const std::string& name, Measure measure) {
  benchmark::RegisterBenchmark(
      (layer.name + "/" + name).c_str(),
      [layer, measure](benchmark::State& state) { run(state, layer, measure); })
      ->Iterations(1)
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
}

void add_rows(const Layer& layer) {
  const auto stages = conv2d_stages(Build::gpu);
  for (int i = 0; i < static_cast<int>(stages.size()); ++i) {
    add(layer, stages[i]->name, [i](LayerBench& bench) { return bench.stage(i); });
  }
  Conv2dForward::Args shape;
  shape.prob = layer.prob;
  const auto view = [](const Extents& e) {
    return AnyView{nullptr, e, strides_of(Layout::nchw, e)};
  };
  shape.x = view(x_extents(layer.prob));
  shape.w = view(w_extents(layer.prob));
  shape.y = view(y_extents(layer.prob));
  for (const Peer& peer : conv2d_peers(shape, workspace_limit())) {
    add(layer, peer.name, [peer](LayerBench& bench) { return bench.peer(peer); });
  }
}

// Takes --layers=A,B out of the arguments: the names, or none for all.
std::vector<std::string> take_layers(int& argc, char** argv) {
  std::vector<std::string> names;
  int kept = 0;
  for (int i = 0; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument.rfind(kLayersFlag, 0) != 0) {
      argv[kept++] = argv[i];
      continue;
    }
    std::stringstream list(argument.substr(std::string(kLayersFlag).size()));
    for (std::string name; std::getline(list, name, ',');) names.push_back(name);
  }
  argc = kept;
  return names;
}

void add_context() {
  for (const auto& [name, value] : gpu_facts()) benchmark::AddCustomContext(name, value);
  const Ceilings& ceilings = measured_ceilings();
  benchmark::AddCustomContext("fp32_tflops", std::to_string(ceilings.fp32_tflops));
  benchmark::AddCustomContext("fp64_tflops", std::to_string(ceilings.fp64_tflops));
  benchmark::AddCustomContext("copy_tb_per_s", std::to_string(ceilings.copy_tb_per_s));
  for (const Named& hash : kSourceHashes) {
    benchmark::AddCustomContext(std::string("source_hash.") + hash.name, hash.value);
  }
}

int main_of(int argc, char** argv) {
  std::vector<std::string> names = take_layers(argc, argv);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  const char* why = "";
  if (!gpu_available(&why)) throw Error(std::string("there is no GPU to measure on: ") + why);
  add_context();
  for (const Layer& layer : yardstick_layers(names)) add_rows(layer);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace
}  // namespace sevenloops

int main(int argc, char** argv) {
  try {
    return sevenloops::main_of(argc, argv);
  } catch (const sevenloops::Error& error) {
    std::cerr << "stage_bench: " << error.what() << "\n";
    return 2;
  }
}
