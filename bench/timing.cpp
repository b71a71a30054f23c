#include "bench/timing.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "bench/rate_kernels.hpp"
#include "gpu/check.hpp"
#include "gpu/device_buffer.hpp"
#include "reference/core/error.hpp"

namespace sevenloops {
namespace {

constexpr std::size_t kCachesToDisplace = 8;

std::size_t filler_bytes() {
  const char* why = "";
  if (!gpu_available(&why)) throw Error(std::string("there is no GPU to measure on: ") + why);
  int device = 0, cache_bytes = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&cache_bytes, cudaDevAttrL2CacheSize, device));
  return kCachesToDisplace * static_cast<std::size_t>(cache_bytes) / 256 * 256;
}

// Linear between neighbors; `sorted` is not empty.
double quantile(const std::vector<double>& sorted, double fraction) {
  const double at = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - std::floor(at)) * (sorted[above] - sorted[below]);
}

Timing summary(std::vector<double> runs_ms) {
  std::sort(runs_ms.begin(), runs_ms.end());
  return {quantile(runs_ms, 0.5), quantile(runs_ms, 0.1), quantile(runs_ms, 0.9),
          static_cast<int>(runs_ms.size())};
}

}  // namespace

struct ColdTimer::State {
  DeviceBuffer filler{Place::gpu, filler_bytes(), "data that displaces the L2's"};
  cudaEvent_t start{}, stop{};

  State() {
    filler.poison(1);
    check(cudaEventCreate(&start));
    check(cudaEventCreate(&stop));
  }
  ~State() {
    cudaEventDestroy(start);
    cudaEventDestroy(stop);
  }

  double run_ms(const std::function<void(Stream)>& work) {
    // Reading leaves clean lines behind: the timed part does not have to write anything back.
    build_gpu::launch_read(filler.data(), filler.bytes(), static_cast<float*>(filler.data()),
                           nullptr);
    check(cudaEventRecord(start, nullptr));
    work(nullptr);
    check(cudaEventRecord(stop, nullptr));
    check(cudaEventSynchronize(stop));
    check(cudaGetLastError());
    float ms = 0;
    check(cudaEventElapsedTime(&ms, start, stop));
    return ms;
  }
};

ColdTimer::ColdTimer() : state_(std::make_unique<State>()) {}
ColdTimer::~ColdTimer() = default;

Timing ColdTimer::time(const std::function<void(Stream)>& work, const TimingOptions& options) {
  const double first_ms = state_->run_ms(work);
  if (first_ms > options.slow_ms) return summary({first_ms});
  std::vector<double> runs_ms;
  double spent_ms = 0;
  while (static_cast<int>(runs_ms.size()) < options.max_runs &&
         (static_cast<int>(runs_ms.size()) < options.min_runs || spent_ms < options.budget_ms)) {
    runs_ms.push_back(state_->run_ms(work));
    spent_ms += runs_ms.back();
  }
  return summary(runs_ms);
}

}  // namespace sevenloops
