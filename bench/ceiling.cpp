#include "bench/ceiling.hpp"

#include "bench/rate_kernels.hpp"
#include "bench/timing.hpp"
#include "gpu/check.hpp"
#include "gpu/device_buffer.hpp"

namespace sevenloops {
namespace {

constexpr std::size_t kCopyBytes = std::size_t{1} << 30;

// Enough threads to fill every multiprocessor of any GPU, in full waves.
int threads_in_flight() {
  int device = 0, multiprocessors = 0, threads = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  check(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, device));
  return multiprocessors * threads;
}

template <typename T>
double fma_tflops(ColdTimer& timer, int steps) {
  DeviceBuffer sink(Place::gpu, 256, "sink");
  const int threads = threads_in_flight();
  const Timing timing = timer.time([&](Stream stream) {
    build_gpu::launch_fma_chains(threads, steps, static_cast<T*>(sink.data()), stream);
  });
  const double flops = 2.0 * build_gpu::kFmaChains * threads * steps;
  return flops / timing.median_ms / 1e9;
}

double copy_tb_per_s(ColdTimer& timer) {
  DeviceBuffer from(Place::gpu, kCopyBytes, "copied from");
  DeviceBuffer to(Place::gpu, kCopyBytes, "copied to");
  from.poison(0x3C);
  const Timing timing = timer.time([&](Stream stream) {
    check(cudaMemcpyAsync(to.data(), from.data(), kCopyBytes, cudaMemcpyDeviceToDevice,
                          static_cast<cudaStream_t>(stream)));
  });
  return 2.0 * kCopyBytes / timing.median_ms / 1e9;
}

Ceilings measure() {
  ColdTimer timer;
  return {fma_tflops<float>(timer, 1 << 14), fma_tflops<double>(timer, 1 << 12),
          copy_tb_per_s(timer)};
}

}  // namespace

const Ceilings& measured_ceilings() {
  static const Ceilings ceilings = measure();
  return ceilings;
}

}  // namespace sevenloops
