// Every kernel that is wrong on purpose is caught, and the same kernel put right passes everything.

#include "tests/mutants/mutant.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <list>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "gpu/conv2d/verify.hpp"
#include "reference/core/error.hpp"
#include "tests/support/problem_list.hpp"
#include "tests/support/stage_runs.hpp"

namespace sevenloops {
namespace {

using testing::listed_problems;

// What checks a stage: some data, judged, or the emulator's checks.
struct Tier {
  std::string name;
  DataKind kind;
  double alpha, beta;
  bool trace;
};

const std::vector<Tier> kTiers = {
    {"emulator", DataKind::exact, 1, 0, true},
    {"exact", DataKind::exact, 1, 0, false},
    {"exact with alpha, beta", DataKind::exact, 2, -0.5, false},
    {"real", DataKind::real, 1, 0, false},
    {"adversarial", DataKind::adversarial, 1, 0, false},
};
constexpr const char* kFarTier = "offsets beyond 2^31";

// Operands with what is right for them, computed once for all mutants.
struct Prepared {
  std::string problem;
  const Tier* tier;
  Conv2dOperands<float> operands;
  Judge<float> judge;

  Prepared(const std::string& text, const Conv2dProblem& prob, const Tier& used)
      : problem(text),
        tier(&used),
        operands(make_operands<float>(prob, Layout::nchw, used.kind, 3, used.alpha, used.beta)),
        judge(operands, used.kind) {}
};

// Small problems of both lists; traced only those of the smoke list.
std::list<Prepared> prepared_operands() {
  std::list<Prepared> prepared;
  for (const char* file : {"smoke.txt", "regular.txt"}) {
    for (const auto& [prob, text, reason] : listed_problems(file)) {
      for (const Tier& tier : kTiers) {
        const bool small = direct_flops(prob) <= 3e4 && prob.N <= 16;
        if (small && (!tier.trace || file == std::string("smoke.txt"))) {
          prepared.emplace_back(text, prob, tier);
        }
      }
    }
  }
  return prepared;
}

// What the tiers found wrong with one mutant.
struct Catches {
  std::map<std::string, int> problems;  // by tier: how many showed it
  std::set<std::string> faults;         // kinds, from the emulator's checks
  std::string first;                    // the first problem and sentence

  void add(const std::string& tier, const std::string& problem, const std::string& sentence) {
    if (problems.empty()) first = problem + ": " + sentence;
    ++problems[tier];
  }
};

// Every tier tries every problem on its own, so that the table shows what each can see.
Catches catches_of(const Mutant& plain, const Mutant& traced, const std::list<Prepared>& prepared) {
  Catches catches;
  for (const Prepared& on : prepared) {
    try {
      const Verdict verdict = verify(plain, &traced, on.judge, {.trace = on.tier->trace});
      if (on.tier->trace && verdict.report.faults.empty())
        continue;  // the other tiers judge values
      if (!verdict.pass) catches.add(on.tier->name, on.problem, verdict.failure);
      for (const simt::Fault& fault : verdict.report.faults) {
        catches.faults.insert(simt::name_of(fault.kind));
      }
    } catch (const Error& error) {  // checked indices end a plain run
      catches.add(on.tier->name, on.problem, error.what());
    }
  }
  try {
    const auto far = testing::agreement_at_far_offsets(plain);
    if (far && !far->pass) catches.add(kFarTier, testing::kFarProblem, far->failure);
  } catch (const Error& error) {
    catches.add(kFarTier, testing::kFarProblem, error.what());
  }
  return catches;
}

bool is_right(const Mutant& mutant) { return std::string(mutant.name).starts_with("right"); }

std::vector<std::string> tier_names() {
  std::vector<std::string> names;
  for (const Tier& tier : kTiers) names.push_back(tier.name);
  names.push_back(kFarTier);
  return names;
}

// On how many problems each tier caught the mutant, and the kinds of faults.
void print_row(const Mutant& mutant, const Catches& catches) {
  std::cout << std::left << std::setw(40) << mutant.name << std::right;
  for (const std::string& tier : tier_names()) {
    const auto caught = catches.problems.find(tier);
    std::cout << std::setw(static_cast<int>(tier.size()) + 2)
              << (caught == catches.problems.end() ? "-" : std::to_string(caught->second));
  }
  std::string separator = "  ";
  for (const std::string& fault : catches.faults) {
    std::cout << separator << fault;
    separator = ", ";
  }
  std::cout << '\n';
}

void print_heading(const std::list<Prepared>& prepared) {
  std::map<std::string, int> problems{{kFarTier, 1}};
  for (const Prepared& on : prepared) ++problems[on.tier->name];
  std::cout << "What catches each mutant, on how many problems\n"
            << std::left << std::setw(40) << "mutant";
  for (const std::string& tier : tier_names()) std::cout << "  " << tier;
  std::cout << "  faults reported\n" << std::setw(40) << "of so many problems" << std::right;
  for (const std::string& tier : tier_names()) {
    std::cout << std::setw(static_cast<int>(tier.size()) + 2) << problems[tier];
  }
  std::cout << '\n';
}

// Are these errors that the emulator must report, whether or not values come out wrong?
enum class Faulty { values_only, to_the_emulator };

void check_mutants(const std::vector<Mutant>& plain, const std::vector<Mutant>& traced,
                   Faulty faulty) {
  ASSERT_EQ(plain.size(), traced.size());
  const std::list<Prepared> prepared = prepared_operands();
  print_heading(prepared);
  int right = 0;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    ASSERT_STREQ(plain[i].name, traced[i].name);
    const Catches catches = catches_of(plain[i], traced[i], prepared);
    print_row(plain[i], catches);
    if (is_right(plain[i])) {
      ++right;
      EXPECT_TRUE(catches.problems.empty()) << "the right kernel fails on " << catches.first;
    } else {
      EXPECT_FALSE(catches.problems.empty()) << plain[i].name << " is not caught";
      EXPECT_TRUE(faulty == Faulty::values_only || !catches.faults.empty())
          << plain[i].name << " is not reported by the emulator";
    }
  }
  EXPECT_EQ(right, 1);
}

TEST(Mutants, WrongIndicesAreCaught) {
  check_mutants(build_plain::index_mutants(), build_traced::index_mutants(), Faulty::values_only);
}

TEST(Mutants, WrongTilesAreCaught) {
  check_mutants(build_plain::tile_mutants(), build_traced::tile_mutants(), Faulty::to_the_emulator);
}

// What a user reads names the stage, the element, both values, and who wrote it.
TEST(Mutants, FailuresSayWhatIsWrongAndWhoWroteIt) {
  const auto plain = build_plain::index_mutants(), traced = build_traced::index_mutants();
  const auto failure_of = [&](const std::string& name, const char* problem) {
    const auto found = std::find_if(plain.begin(), plain.end(),
                                    [&](const Mutant& mutant) { return mutant.name == name; });
    const auto operands =
        make_operands<float>(parse_conv2d(problem), Layout::nchw, DataKind::exact, 3);
    const Judge<float> judge(operands, DataKind::exact);
    return verify(*found, &traced[found - plain.begin()], judge, {}).failure;
  };
  const std::string dropped = failure_of("last tap dropped", "n2c3h7w9_k4r3s3");
  EXPECT_TRUE(dropped.starts_with("last tap dropped: y at n=0 k=0 p=0 q=0 is ")) << dropped;
  EXPECT_NE(dropped.find("; 280 of 280 elements are wrong; written by thread (0,0,0) of block "
                         "(0,0,0) of convolve<"),
            std::string::npos)
      << dropped;
  const std::string unwritten = failure_of("tail output unwritten", "n1c2h5w6_k3r3s4");
  EXPECT_TRUE(unwritten.starts_with("tail output unwritten: y at n=0 k=2 p=2 q=0 is nan"))
      << unwritten;
  EXPECT_TRUE(unwritten.ends_with("; written by nobody")) << unwritten;
}

// The element and its writer agree: outputs are numbered through the threads.
TEST(Mutants, WritersAreThoseOfTheElement) {
  const auto plain = build_plain::index_mutants(), traced = build_traced::index_mutants();
  const auto operands =
      make_operands<float>(parse_conv2d("n2c3h7w9_k4r3s3"), Layout::nchw, DataKind::exact, 3);
  const auto writer_of = [&](std::int64_t n, std::int64_t k, std::int64_t p, std::int64_t q) {
    return execute(plain[0], &traced[0], operands,
                   {.trace = true, .who_wrote = std::array{n, k, p, q}})
        .writer;
  };
  EXPECT_TRUE(writer_of(0, 0, 0, 5).starts_with("thread (5,0,0) of block (0,0,0) of convolve<"));
  // Output ((1 * 4 + 2) * 5 + 3) * 7 + 4 = 235 = 3 * 64 + 43.
  EXPECT_TRUE(writer_of(1, 2, 3, 4).starts_with("thread (43,0,0) of block (3,0,0) of convolve<"))
      << writer_of(1, 2, 3, 4);
}

}  // namespace
}  // namespace sevenloops
