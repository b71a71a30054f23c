// Every check of the emulator on a kernel that deserves it, on the same kernel repaired, and on
// kernels that only look wrong.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "gpu/simt/emulator.hpp"
#include "reference/core/error.hpp"
#include "tests/faults/fault_case.hpp"

namespace sevenloops {

// How GoogleTest prints parameters.
void PrintTo(const FaultCase& test, std::ostream* out) { *out << test.kernel; }
void PrintTo(const CorrectCase& test, std::ostream* out) { *out << test.name; }

namespace {

using simt::Options;
using simt::Report;
using simt::Session;
using simt::ThreadOrder;
using simt::Triple;

std::vector<Options> all_orders(int workers) {
  return {{.order = ThreadOrder::forward, .workers = workers},
          {.order = ThreadOrder::reverse, .workers = workers},
          {.order = ThreadOrder::shuffle, .seed = 1, .workers = workers},
          {.order = ThreadOrder::shuffle, .seed = 2, .workers = workers}};
}

std::vector<Options> all_orders_and_workers() {
  std::vector<Options> all;
  for (int workers : {1, 2, 5}) {
    for (const Options& options : all_orders(workers)) all.push_back(options);
  }
  return all;
}

std::string text(const Options& options) {
  const char* orders[] = {"forward", "reverse", "shuffle"};
  return std::string(orders[static_cast<int>(options.order)]) + " seed " +
         std::to_string(options.seed) + ", workers " + std::to_string(options.workers);
}

std::string text(const Report& report) {
  std::string all = std::to_string(report.faults.size()) + " faults";
  for (const simt::Fault& fault : report.faults) {
    all += std::string("\n  ") + simt::name_of(fault.kind) + ": " + fault.message + " [" +
           fault.kernel + ", array " + fault.array + "]";
    for (const std::string& line : fault.lines) all += " " + line;
  }
  return all;
}

/// The lines of the case's file that are marked for its kernel: {"shared_race.cu:19", ...}.
std::set<std::string> marked_lines(const FaultCase& test) {
  const std::string kernel = std::string(test.kernel).substr(0, std::string(test.kernel).find('<'));
  const std::string mark = "// FAULT " + kernel;
  std::ifstream in(std::string(SEVENLOOPS_SOURCE_DIR "/tests/faults/") + test.file);
  EXPECT_TRUE(in.good()) << test.file;
  std::set<std::string> lines;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.ends_with(mark)) lines.insert(test.file + (":" + std::to_string(number)));
  }
  return lines;
}

/// What the faults of a report name, put together.
struct Named {
  std::set<std::string> kernels, lines, arrays;
  std::set<Triple> blocks, threads;
  std::set<simt::FaultKind> kinds;

  explicit Named(const Report& report) {
    for (const simt::Fault& fault : report.faults) {
      kinds.insert(fault.kind);
      kernels.insert(fault.kernel);
      lines.insert(fault.lines.begin(), fault.lines.end());
      if (!fault.array.empty()) arrays.insert(fault.array);
      blocks.insert(fault.block);
      threads.insert(fault.threads.begin(), fault.threads.end());
    }
  }
};

/// Runs what may end with an Error beside the fault: a launch that is refused, a launch that
/// failed.
void run_broken(const FaultCase& test) {
  try {
    test.run(true);
  } catch (const Error&) {
  }
}

std::vector<FaultCase> fault_cases(std::vector<FaultCase> (*const families[])(), int count) {
  std::vector<FaultCase> all;
  for (int i = 0; i < count; ++i) {
    for (const FaultCase& test : families[i]()) all.push_back(test);
  }
  return all;
}

/// The same families in two compilations.
#define SEVENLOOPS_FAMILIES(build)                                                        \
  {                                                                                       \
    build::shared_race_cases, build::barrier_cases, build::shared_memory_cases,           \
        build::global_memory_cases, build::global_race_cases, build::collective_cases,    \
        build::async_copy_cases, build::impossible_launch_cases, build::index_range_cases \
  }
constexpr int kFamilies = 9;
std::vector<FaultCase> (*const kTraced[kFamilies])() = SEVENLOOPS_FAMILIES(build_traced);
std::vector<FaultCase> (*const kPlain[kFamilies])() = SEVENLOOPS_FAMILIES(build_plain);
#undef SEVENLOOPS_FAMILIES

const FaultCase& plain_twin(const FaultCase& test) {
  static const std::vector<FaultCase> plain = fault_cases(kPlain, kFamilies);
  return *std::find_if(plain.begin(), plain.end(), [&](const FaultCase& candidate) {
    return std::string(candidate.name) == test.name;
  });
}

class FaultTest : public testing::TestWithParam<FaultCase> {};

TEST_P(FaultTest, BrokenIsReported) {
  const FaultCase& test = GetParam();
  for (const Options& options : all_orders_and_workers()) {
    SCOPED_TRACE(text(options));
    Session session(options);
    run_broken(test);
    SCOPED_TRACE(text(session.report()));
    ASSERT_FALSE(session.report().faults.empty());
    const Named named(session.report());
    std::set kinds = {test.kind};
    kinds.insert(test.also.begin(), test.also.end());
    EXPECT_EQ(named.kinds, kinds);
    EXPECT_EQ(named.kernels, std::set<std::string>{test.kernel});
    EXPECT_EQ(named.lines, marked_lines(test));
    if (!test.arrays.empty()) {
      EXPECT_EQ(named.arrays, std::set<std::string>(test.arrays.begin(), test.arrays.end()));
    }
    if (!test.blocks.empty()) {
      EXPECT_EQ(named.blocks, std::set<Triple>(test.blocks.begin(), test.blocks.end()));
    }
    if (!test.threads.empty()) {
      EXPECT_EQ(named.threads, std::set<Triple>(test.threads.begin(), test.threads.end()));
    }
    for (const simt::Fault& fault : session.report().faults) {
      EXPECT_GE(fault.count, 1u);
      EXPECT_NE(fault.message.find(test.kernel), std::string::npos) << "kernel not in the message";
      for (const std::string& line : fault.lines) {
        EXPECT_NE(fault.message.find(line), std::string::npos) << "line not in the message";
      }
    }
  }
}

TEST_P(FaultTest, RepairedIsSilent) {
  const FaultCase& test = GetParam();
  const std::vector<float> expected = plain_twin(test).run(false);
  for (const Options& options : all_orders_and_workers()) {
    SCOPED_TRACE(text(options));
    Session session(options);
    EXPECT_EQ(test.run(false), expected);
    EXPECT_EQ(plain_twin(test).run(false), expected);
    EXPECT_TRUE(session.report().faults.empty()) << text(session.report());
    EXPECT_EQ(session.report().launches.size(), 1u) << "plain launches keep no report";
  }
}

TEST_P(FaultTest, NextLaunchIsUnharmed) {
  const FaultCase& test = GetParam();
  const std::vector<float> expected = plain_twin(test).run(false);
  for (const Options& options : all_orders(2)) {
    SCOPED_TRACE(text(options));
    {
      Session session(options);
      run_broken(test);
      const std::size_t faults = session.report().faults.size();
      EXPECT_EQ(test.run(false), expected);
      EXPECT_EQ(session.report().faults.size(), faults) << text(session.report());
    }
    Session session(options);
    EXPECT_EQ(test.run(false), expected);
    EXPECT_TRUE(session.report().faults.empty()) << text(session.report());
  }
}

INSTANTIATE_TEST_SUITE_P(All, FaultTest, testing::ValuesIn(fault_cases(kTraced, kFamilies)),
                         [](const auto& info) { return std::string(info.param.name); });

// Plain launches check little, but what cannot be carried out is an Error, and no hang.
TEST(PlainLaunches, RefuseTheImpossible) {
  const std::set refused = {simt::FaultKind::impossible_launch, simt::FaultKind::absent_lanes,
                            simt::FaultKind::index_out_of_range};
  for (const FaultCase& test : fault_cases(kPlain, kFamilies)) {
    if (!refused.contains(test.kind)) continue;
    SCOPED_TRACE(test.name);
    const std::vector<float> expected = test.run(false);
    for (const Options& options : all_orders_and_workers()) {
      SCOPED_TRACE(text(options));
      Session session(options);
      EXPECT_THROW(test.run(true), Error);
      EXPECT_EQ(test.run(false), expected);
    }
  }
}

class CorrectTest : public testing::TestWithParam<int> {};

TEST_P(CorrectTest, IsRightAndSilent) {
  const CorrectCase traced = build_traced::correct_cases()[GetParam()];
  const CorrectCase plain = build_plain::correct_cases()[GetParam()];
  for (const Options& options : all_orders_and_workers()) {
    SCOPED_TRACE(text(options));
    Session session(options);
    EXPECT_EQ(plain.run(), plain.expected);
    EXPECT_EQ(traced.run(), traced.expected);
    EXPECT_TRUE(session.report().faults.empty()) << text(session.report());
  }
}

INSTANTIATE_TEST_SUITE_P(All, CorrectTest,
                         testing::Range(0, static_cast<int>(build_plain::correct_cases().size())),
                         [](const auto& info) {
                           return std::string(build_plain::correct_cases()[info.param].name);
                         });

// Every kind of fault has a kernel here that provokes it.
TEST(FaultKinds, AreAllProvoked) {
  std::set<simt::FaultKind> provoked;
  for (const FaultCase& test : fault_cases(kTraced, kFamilies)) provoked.insert(test.kind);
  EXPECT_EQ(provoked.size(), static_cast<std::size_t>(simt::FaultKind::index_out_of_range) + 1);
}

// The same fault in many threads, blocks and launches of a session is told once.
TEST(Faults, AreToldOnce) {
  const FaultCase test = build_traced::shared_memory_cases()[1];
  Session session;
  test.run(true);
  ASSERT_EQ(session.report().faults.size(), 1u);
  const std::uint64_t count = session.report().faults[0].count;
  EXPECT_GE(count, 1u);
  test.run(true);
  ASSERT_EQ(session.report().faults.size(), 1u);
  EXPECT_EQ(session.report().faults[0].count, 2 * count);
}

// The innermost session collects.
TEST(Sessions, Nest) {
  const FaultCase test = build_traced::shared_race_cases()[0];
  Session outer;
  {
    Session inner;
    test.run(true);
    EXPECT_EQ(inner.report().faults.size(), 1u);
  }
  EXPECT_TRUE(outer.report().faults.empty());
  test.run(true);
  EXPECT_EQ(outer.report().faults.size(), 1u);
}

}  // namespace
}  // namespace sevenloops
