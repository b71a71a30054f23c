// Do kernels run in the emulator as CUDA says? Every kernel of tests/counts whose result tells, in
// both builds, under every thread order and number of workers.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "gpu/simt/emulator.hpp"
#include "tests/counts/count_kernels.hpp"
#include "tests/faults/fault_case.hpp"

namespace sevenloops {
namespace {

/// Calls `f` with the functions of both builds.
#define SEVENLOOPS_BOTH(function) \
  { build_plain::function, build_traced::function }

std::vector<simt::Options> all_options() {
  std::vector<simt::Options> all;
  for (const int workers : {1, 3}) {
    for (const auto order :
         {simt::ThreadOrder::forward, simt::ThreadOrder::reverse, simt::ThreadOrder::shuffle}) {
      all.push_back({.order = order, .seed = 7, .workers = workers});
    }
  }
  return all;
}

/// Runs `body` under all options; no launch in it may make a fault.
void under_all_options(const std::function<void()>& body) {
  for (const simt::Options& options : all_options()) {
    SCOPED_TRACE(static_cast<int>(options.order) * 10 + options.workers);
    simt::Session session(options);
    body();
    for (const simt::Fault& fault : session.report().faults) ADD_FAILURE() << fault.message;
  }
}

std::vector<float> table(int count, const std::function<float(int)>& f) {
  std::vector<float> values(count);
  for (int i = 0; i < count; ++i) values[i] = f(i);
  return values;
}

template <typename Function, typename... Args>
void expect_result(std::initializer_list<Function> builds, const std::vector<float>& expected,
                   Args... args) {
  under_all_options([&] {
    for (Function launch : builds) {
      Memory y("y", expected.size());
      launch(args..., y.data());
      EXPECT_EQ(y.values(), expected);
    }
  });
}

TEST(Run, BlockVotes) {
  // 32 are even; all < 64; not all < 63; one is 63; none is 64.
  expect_result(SEVENLOOPS_BOTH(launch_votes), table(64, [](int i) {
                  return 32 + 100 + 10000 + 0.5f + (i >= 32 ? 0.375f : 0.0f);
                }));
}

TEST(Run, Shuffles) {
  expect_result(SEVENLOOPS_BOTH(launch_shuffles), table(160, [](int i) -> float {
                  const int lane = i % 32;
                  if (i < 32) return 3;
                  if (i < 64) return (lane < 3 ? lane : lane - 3) * 1.5f;
                  if (i < 96) return (lane % 16 > 12 ? lane : lane + 3) * 1.5f;
                  if (i < 128) return static_cast<float>(lane ^ 5);
                  return static_cast<float>(lane / 8 * 8 + 2);
                }));
}

TEST(Run, PartialMasks) {
  under_all_options([] {
    for (auto launch : SEVENLOOPS_BOTH(launch_partial_masks)) {
      Memory y("y", std::vector<float>(64, -1.0f));
      launch(y.data());
      EXPECT_EQ(y.values(), table(64, [](int i) -> float {
                  if (i < 32) return i % 2 == 0 ? 30 : 1;
                  if (i % 32 >= 20) return -1;
                  return 5;
                }));
    }
  });
}

TEST(Run, SumsOfBlocks) {
  under_all_options([] {
    for (auto launch : SEVENLOOPS_BOTH(launch_block_sum)) {
      Memory x("x", counting(5 * 256)), y("y", 5);
      launch(x.data(), y.data(), 5);
      EXPECT_EQ(y.values(), table(5, [](int b) { return 256.0f * (b * 256 + b * 256 + 255) / 2; }));
    }
  });
}

TEST(Run, Atomics) {
  constexpr int kBlocks = 7;
  under_all_options([] {
    for (auto launch : SEVENLOOPS_BOTH(launch_atomics)) {
      Memory y("y", std::vector<float>(65));
      auto* counts = reinterpret_cast<unsigned*>(y.data());
      counts[2] = 1000000;
      launch(counts, kBlocks);
      EXPECT_EQ(counts[0], kBlocks * 64u * 63u / 2);
      EXPECT_EQ(counts[1], kBlocks * 64u - 1);
      EXPECT_EQ(counts[2], 0u);
      for (int b = 0; b < kBlocks; ++b) EXPECT_EQ(counts[3 + b], 64u);
      EXPECT_EQ(counts[64], 2u * kBlocks);
    }
  });
}

TEST(Run, VectorsInDynamicSharedMemory) {
  under_all_options([] {
    for (auto launch : SEVENLOOPS_BOTH(launch_vectors)) {
      Memory x("x", counting(128)), y("y", 128);
      launch(x.data(), y.data());
      EXPECT_EQ(y.values(), table(128, [](int i) -> float { return 127 - i; }));
    }
  });
}

TEST(Run, DoubleBuffers) {
  constexpr int kTiles = 5;
  const auto expected = table(64, [](int i) -> float { return kTiles * (63 - i) + 64 * 10; });
  under_all_options([&] {
    for (auto launch :
         {build_plain::launch_double_buffer, build_traced::launch_double_buffer,
          build_plain::launch_async_double_buffer, build_traced::launch_async_double_buffer}) {
      Memory x("x", counting(64 * kTiles)), y("y", 64);
      launch(x.data(), y.data(), kTiles);
      EXPECT_EQ(y.values(), expected);
    }
  });
}

TEST(Run, Products) {
  constexpr int n = 64;
  const auto x_values = table(n * n, [](int i) -> float { return i * 7 % 13 - 6; });
  const auto w_values = table(n * n, [](int i) -> float { return i * 5 % 11 - 5; });
  const auto expected = table(n * n, [&](int i) {
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += x_values[i / n * n + k] * w_values[k * n + i % n];
    return sum;
  });
  under_all_options([&] {
    for (auto launch :
         {build_plain::launch_matmul_naive, build_traced::launch_matmul_naive,
          build_plain::launch_matmul_uncoalesced, build_traced::launch_matmul_uncoalesced,
          build_plain::launch_matmul_tiled, build_traced::launch_matmul_tiled}) {
      Memory x("x", x_values), w("w", w_values), y("y", n * n);
      launch(x.data(), w.data(), y.data(), n);
      EXPECT_EQ(y.values(), expected);
    }
  });
}

TEST(Run, Transposes) {
  constexpr int n = 96;
  under_all_options([] {
    for (auto launch :
         {build_plain::launch_transpose_naive, build_traced::launch_transpose_naive,
          build_plain::launch_transpose_shared, build_traced::launch_transpose_shared,
          build_plain::launch_transpose_padded, build_traced::launch_transpose_padded}) {
      Memory x("x", counting(n * n)), y("y", n * n);
      launch(x.data(), y.data(), n);
      EXPECT_EQ(y.values(), table(n * n, [](int i) -> float { return i % n * n + i / n; }));
    }
  });
}

TEST(Run, Indices) {
  expect_result(SEVENLOOPS_BOTH(launch_ids), table(12 * 24, [](int i) {
                  const int block = i / 24, thread = i % 24;
                  return block / 6 * 100 + block / 2 % 3 * 10 + block % 2 + 0.01f * (thread % 4) +
                         0.1f * (thread / 4 % 3) + 0.5f * (thread / 12);
                }));
}

}  // namespace
}  // namespace sevenloops
