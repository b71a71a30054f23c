// How fast the emulator runs a tiled matrix product, in accesses to memory by threads per second:
// plain, and traced with all checks and counters; by one worker and by one per core.

#include <benchmark/benchmark.h>

#include <string>
#include <thread>
#include <vector>

#include "bench/simt_tiled.hpp"
#include "gpu/device_buffer.hpp"
#include "gpu/place.hpp"
#include "gpu/simt/emulator.hpp"

namespace sevenloops {
namespace {

/// n x n small integers, those of bench/oclgrind/tiled_opencl.cpp: every order of sums is exact.
std::vector<float> operand(int n, int seed) {
  std::vector<float> values(static_cast<std::size_t>(n) * n);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(static_cast<int>((i * 7 + seed) % 13) - 6);
  }
  return values;
}

/// Operands and result in the emulator's memory.
struct Product {
  explicit Product(int n) : n(n), x_host(operand(n, 1)), w_host(operand(n, 5)) {
    x.upload(x_host.data(), x.bytes());
    w.upload(w_host.data(), w.bytes());
  }

  void launch(Build build) const {
    const auto function = build == Build::plain ? build_plain::launch_matmul_tiled
                                                : build_traced::launch_matmul_tiled;
    function(static_cast<const float*>(x.data()), static_cast<const float*>(w.data()),
             static_cast<float*>(y.data()), n);
  }

  bool is_right() const {
    std::vector<float> result(x_host.size());
    y.download(result.data(), y.bytes());
    for (int i = 0; i < n; ++i) {
      const int column = n - 1 - i;
      float sum = 0.0f;
      for (int k = 0; k < n; ++k) sum += x_host[i * n + k] * w_host[k * n + column];
      if (result[i * n + column] != sum) return false;
    }
    return true;
  }

  int n;
  std::vector<float> x_host, w_host;
  DeviceBuffer x{Place::emulator, x_host.size() * sizeof(float), "x"};
  DeviceBuffer w{Place::emulator, w_host.size() * sizeof(float), "w"};
  DeviceBuffer y{Place::emulator, x_host.size() * sizeof(float), "y"};
};

/// What stands in the way of believing a measurement; empty when nothing does.
std::string objection(const Product& product, const simt::Report& report, Build build) {
  if (!product.is_right()) return "the product is wrong";
  if (build == Build::plain) return "";
  if (!report.faults.empty()) return report.faults[0].message;
  const simt::Counters all = simt::total(report);
  const std::uint64_t warp_accesses = all.global_load.requests + all.global_store.requests +
                                      all.shared_load.requests + all.shared_store.requests;
  if (warp_accesses * 32 != static_cast<std::uint64_t>(matmul_tiled_accesses(product.n))) {
    return "the accesses counted are not those of the formula";
  }
  return "";
}

void run(benchmark::State& state, Build build) {
  const Product product(static_cast<int>(state.range(0)));
  simt::Options options;
  options.workers = static_cast<int>(state.range(1));
  for (auto iteration : state) {
    simt::Session session(options);
    product.launch(build);
    state.PauseTiming();
    const std::string reason = objection(product, session.report(), build);
    if (!reason.empty()) state.SkipWithError(reason.c_str());
    state.ResumeTiming();
    if (!reason.empty()) break;
  }
  state.SetItemsProcessed(state.iterations() * matmul_tiled_accesses(product.n));
}

void sizes_and_workers(benchmark::internal::Benchmark* bench) {
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  bench->ArgNames({"n", "workers"})->UseRealTime()->Unit(benchmark::kMillisecond);
  for (int n : {128, 256}) {
    bench->Args({n, 1});
    if (cores > 1) bench->Args({n, cores});
  }
}

BENCHMARK_CAPTURE(run, plain, Build::plain)->Apply(sizes_and_workers);
BENCHMARK_CAPTURE(run, traced_with_all_checks, Build::traced)->Apply(sizes_and_workers);

}  // namespace
}  // namespace sevenloops
