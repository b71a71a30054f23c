// Does the emulator count right? Kernels whose counters were read from a GPU with Nsight Compute,
// kernels whose counters follow by hand, and what must not change them: thread order, workers.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "gpu/simt/emulator.hpp"
#include "tests/counts/count_kernels.hpp"
#include "tests/faults/fault_case.hpp"

namespace sevenloops {
namespace {

using simt::Counters;

/// The one launch that `body` makes under `options`, without faults.
simt::LaunchReport report_of(const std::function<void()>& body, const simt::Options& options = {}) {
  simt::Session session(options);
  body();
  for (const simt::Fault& fault : session.report().faults) ADD_FAILURE() << fault.message;
  EXPECT_EQ(session.report().launches.size(), 1u);
  return session.report().launches.at(0);
}

using Product = void (*)(const float*, const float*, float*, int);
using Copy = void (*)(const float*, float*, int);

Counters product(Product launch, int n, const simt::Options& options = {}) {
  Memory x("x", counting(n * n)), w("w", counting(n * n)), y("y", n * n);
  return report_of([&] { launch(x.data(), w.data(), y.data(), n); }, options).counters;
}

Counters transpose(Copy launch, int n) {
  Memory x("x", counting(n * n)), y("y", n * n);
  return report_of([&] { launch(x.data(), y.data(), n); }).counters;
}

/// Expects requests and sectors.
void expect_global(const simt::GlobalTraffic& traffic, std::uint64_t requests,
                   std::uint64_t sectors) {
  EXPECT_EQ(traffic.requests, requests);
  EXPECT_EQ(traffic.sectors, sectors);
}

// The numbers of the next tests are those Nsight Compute showed for these kernels on an H200:
// l1tex__t_{requests,sectors}_pipe_lsu_mem_global_op_{ld,st}, shared instructions, bank conflicts.

TEST(LikeOnAGpu, ProductUncoalesced) {
  const Counters c = product(build_traced::launch_matmul_uncoalesced, 128);
  expect_global(c.global_load, 131072, 2162688);
  expect_global(c.global_store, 512, 16384);
}

TEST(LikeOnAGpu, ProductNaive) {
  const Counters c = product(build_traced::launch_matmul_naive, 128);
  expect_global(c.global_load, 131072, 327680);
  expect_global(c.global_store, 512, 2048);
  EXPECT_EQ(c.flops, 2u * 128 * 128 * 128);
}

TEST(LikeOnAGpu, ProductTiled) {
  const Counters c = product(build_traced::launch_matmul_tiled, 128);
  expect_global(c.global_load, 4096, 16384);
  expect_global(c.global_store, 512, 2048);
  EXPECT_EQ(c.shared_load.requests, 131072u);
  EXPECT_EQ(c.shared_load.merged_requests, 81920u);
  EXPECT_EQ(c.shared_load.merged_bank_conflicts, 0u);
  EXPECT_EQ(c.shared_store.bank_conflicts, 0u);
  EXPECT_EQ(c.barriers, 16u * 4 * 2);
}

TEST(LikeOnAGpu, TransposeNaive) {
  const Counters c = transpose(build_traced::launch_transpose_naive, 128);
  expect_global(c.global_load, 512, 2048);
  expect_global(c.global_store, 512, 16384);
}

TEST(LikeOnAGpu, TransposeThroughSharedMemory) {
  const Counters c = transpose(build_traced::launch_transpose_shared, 128);
  expect_global(c.global_load, 512, 2048);
  expect_global(c.global_store, 512, 2048);
  EXPECT_EQ(c.shared_load.merged_requests, 512u);
  EXPECT_EQ(c.shared_load.bank_conflicts, 15872u);
  EXPECT_EQ(c.shared_store.bank_conflicts, 0u);
}

TEST(LikeOnAGpu, TransposePadded) {
  const Counters c = transpose(build_traced::launch_transpose_padded, 128);
  expect_global(c.global_store, 512, 2048);
  EXPECT_EQ(c.shared_load.merged_requests, 512u);
  EXPECT_EQ(c.shared_load.bank_conflicts, 0u);
  EXPECT_EQ(c.shared_store.bank_conflicts, 0u);
}

TEST(LikeOnAGpu, SharedVectorsByStride) {
  for (const auto& [stride, passes] : {std::pair(1, 4u), {3, 4u}, {6, 8u}, {9, 4u}}) {
    SCOPED_TRACE(stride);
    Memory x("x", counting(128)), y("y", 128);
    const Counters c = report_of([&, stride = stride] {
                         build_traced::launch_shared4(x.data(), y.data(), stride);
                       }).counters;
    EXPECT_EQ(c.shared_load.wavefronts, passes);
    EXPECT_EQ(c.shared_store.wavefronts, passes);
    EXPECT_EQ(c.shared_load.bank_conflicts, passes - 4);
    EXPECT_EQ(c.shared_load.merged_requests, 1u);
    expect_global(c.global_load, 1, 16);
    expect_global(c.global_store, 1, 16);
  }
}

TEST(LikeOnAGpu, OneSharedVectorForAllLanes) {
  Memory x("x", counting(4)), y("y", 128);
  const Counters c =
      report_of([&] { build_traced::launch_shared_uniform4(x.data(), y.data()); }).counters;
  EXPECT_EQ(c.shared_load.wavefronts, 2u);
  EXPECT_EQ(c.shared_load.bank_conflicts, 0u);
}

// By hand from here on.

Counters copy(int threads, int stride, int offset) {
  Memory x("x", counting(threads * stride + offset)), y("y", threads);
  return report_of([&] { build_traced::launch_copy(x.data(), y.data(), threads, stride, offset); })
      .counters;
}

TEST(Global, StrideAndOffset) {
  // 4 sectors a warp when dense and aligned, one more when shifted, one for each lane when apart.
  expect_global(copy(256, 1, 0).global_load, 8, 8 * 4);
  expect_global(copy(256, 1, 1).global_load, 8, 8 * 5);
  expect_global(copy(256, 1, 8).global_load, 8, 8 * 4);
  expect_global(copy(256, 2, 0).global_load, 8, 8 * 8);
  expect_global(copy(256, 8, 3).global_load, 8, 8 * 32);
  expect_global(copy(256, 33, 0).global_load, 8, 8 * 32);
  EXPECT_EQ(copy(256, 33, 0).global_load.useful_bytes, 256u * 4);
  expect_global(copy(256, 8, 3).global_store, 8, 8 * 4);
}

TEST(Global, VectorsAndBroadcast) {
  Memory x("x", counting(512)), y("y", 512);
  const Counters four =
      report_of([&] { build_traced::launch_copy4(x.data(), y.data(), 128); }).counters;
  expect_global(four.global_load, 4, 4 * 16);
  EXPECT_EQ(four.global_load.useful_bytes, 2048u);
  const Counters one =
      report_of([&] { build_traced::launch_broadcast(x.data(), y.data(), 256); }).counters;
  expect_global(one.global_load, 8, 8);
  EXPECT_EQ(one.global_load.useful_bytes, 8u * 4);
}

TEST(Shared, Strides) {
  // gcd(stride, 32) lanes meet in each bank.
  for (const auto& [stride, passes] :
       {std::pair(1, 1u), {2, 2u}, {3, 1u}, {8, 8u}, {32, 32u}, {33, 1u}}) {
    SCOPED_TRACE(stride);
    Memory x("x", counting(32)), y("y", 32);
    const Counters c = report_of([&, stride = stride] {
                         build_traced::launch_shared_stride(x.data(), y.data(), stride);
                       }).counters;
    EXPECT_EQ(c.shared_load.wavefronts, passes);
    EXPECT_EQ(c.shared_load.bank_conflicts, passes - 1);
    EXPECT_EQ(c.shared_store.bank_conflicts, passes - 1);
  }
}

TEST(Shared, DoublesTakeTwoPasses) {
  Memory x("x", counting(64)), y("y", 64);
  const Counters c = report_of([&] {
                       build_traced::launch_shared_double(reinterpret_cast<double*>(x.data()),
                                                          reinterpret_cast<double*>(y.data()), 1);
                     }).counters;
  EXPECT_EQ(c.shared_load.wavefronts, 2u);
  EXPECT_EQ(c.shared_load.bank_conflicts, 0u);
}

TEST(Divergence, ActiveLanes) {
  Memory x("x", counting(64)), y("y", std::vector<float>(64));
  const Counters half =
      report_of([&] { build_traced::launch_half_warp(x.data(), y.data()); }).counters;
  EXPECT_EQ(half.warp_blocks, 2u * 2);  // a load and a store of each warp
  EXPECT_EQ(half.lane_blocks, 2u * 2 * 16);
  const Counters uneven =
      report_of([&] { build_traced::launch_uneven_loops(x.data(), y.data()); }).counters;
  EXPECT_EQ(uneven.global_load.requests, 2u * 32);
  EXPECT_EQ(uneven.lane_blocks, 2u * (32 * 33 / 2 + 32));
}

// Lanes that left the inner loop must wait for the others, or accesses of different turns meet.
TEST(Divergence, NestedLoopsStayInStep) {
  Memory x("x", counting(512)), y("y", 64);
  const Counters c =
      report_of([&] { build_traced::launch_nested_loops(x.data(), y.data(), 2); }).counters;
  EXPECT_EQ(c.shared_load.requests, 2u * 4 * 6);
  EXPECT_EQ(c.shared_load.bank_conflicts, 0u);
  EXPECT_EQ(c.flops, 2u * 2 * 4 * (11 * 4 + 11 * 5 + 10 * 6));
}

TEST(Synchronization, BarriersCollectivesAtomics) {
  Memory x("x", counting(5 * 256)), y("y", std::vector<float>(65));
  const Counters sum =
      report_of([&] { build_traced::launch_block_sum(x.data(), y.data(), 5); }).counters;
  EXPECT_EQ(sum.barriers, 5u);
  EXPECT_EQ(sum.collectives, 5u * (8 * 5 + 3));
  const Counters atomics = report_of([&] {
                             build_traced::launch_atomics(reinterpret_cast<unsigned*>(y.data()), 3);
                           }).counters;
  // Of each warp: one on shared memory, three on global; of each block two more by one thread,
  // where a retry is possible.
  EXPECT_GE(atomics.atomics, 3u * (2 * 4 + 2));
  EXPECT_LE(atomics.atomics, 3u * (2 * 4 + 2 + 3));
}

TEST(AsyncCopy, CountsAsGlobalLoad) {
  Memory x("x", counting(64 * 5)), y("y", 64);
  const Counters plain =
      report_of([&] { build_traced::launch_double_buffer(x.data(), y.data(), 5); }).counters;
  const Counters async =
      report_of([&] { build_traced::launch_async_double_buffer(x.data(), y.data(), 5); }).counters;
  EXPECT_EQ(async.global_load, plain.global_load);
  EXPECT_EQ(async.shared_load, plain.shared_load);
  EXPECT_EQ(async.shared_store.requests, 0u);
}

TEST(Invariance, OrderAndWorkers) {
  const Counters expected = product(build_traced::launch_matmul_tiled, 96);
  for (const int workers : {1, 2, 5}) {
    for (const auto order :
         {simt::ThreadOrder::forward, simt::ThreadOrder::reverse, simt::ThreadOrder::shuffle}) {
      const simt::Options options{.order = order, .seed = 3, .workers = workers};
      EXPECT_EQ(product(build_traced::launch_matmul_tiled, 96, options), expected);
      Memory x("x", counting(512)), y("y", 128);
      EXPECT_EQ(
          report_of([&] { build_traced::launch_nested_loops(x.data(), y.data(), 4); }, options)
              .counters,
          report_of([&] { build_traced::launch_nested_loops(x.data(), y.data(), 4); }).counters);
    }
  }
}

TEST(Report, NamesLinesAndArrays) {
  Memory x("x", counting(64 * 64)), w("w", counting(64 * 64)), y("y", 64 * 64);
  const simt::LaunchReport report =
      report_of([&] { build_traced::launch_matmul_tiled(x.data(), w.data(), y.data(), 64); });
  EXPECT_EQ(report.kernel, "matmul_tiled");
  EXPECT_EQ(report.grid, (simt::Triple{2, 2, 1}));
  EXPECT_EQ(report.block, (simt::Triple{32, 32, 1}));
  EXPECT_EQ(report.static_shared_bytes, 2u * 32 * 32 * 4);
  EXPECT_EQ(report.blocks_traced, 4u);
  std::vector<std::string> arrays;
  for (const simt::CountersOf& one : report.by_array) arrays.push_back(one.what);
  EXPECT_EQ(arrays, (std::vector<std::string>{"w", "w_tile", "x", "x_tile", "y"}));
  Counters sum;
  for (const simt::CountersOf& one : report.by_line) {
    EXPECT_TRUE(one.what.starts_with("memory.cu:")) << one.what;
    sum += one.counters;
  }
  EXPECT_EQ(sum, report.counters);
}

TEST(Report, SampledBlocks) {
  simt::Options options;
  options.sample_blocks = 9;
  Memory x("x", counting(128 * 128)), y("y", 128 * 128);
  const simt::LaunchReport report =
      report_of([&] { build_traced::launch_transpose_naive(x.data(), y.data(), 128); }, options);
  EXPECT_EQ(report.blocks_total, 16u);
  EXPECT_EQ(report.blocks_traced, 9u);
  EXPECT_EQ(report.counters.global_load.requests, 9u * 32);
}

TEST(Report, PlainLaunchesAreNotCounted) {
  simt::Session session;
  Memory x("x", counting(64 * 64)), y("y", 64 * 64);
  build_plain::launch_transpose_naive(x.data(), y.data(), 64);
  EXPECT_TRUE(session.report().launches.empty());
}

}  // namespace
}  // namespace sevenloops
