// Every kernel that is wrong on purpose is caught, and the same kernel put right passes everything.

#include "tests/mutants/mutant.hpp"

#include <gtest/gtest.h>

#include <algorithm>
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
    {"emulator's checks", DataKind::exact, 1, 0, true},
    {"exact data", DataKind::exact, 1, 0, false},
    {"exact data, alpha and beta", DataKind::exact, 2, -0.5, false},
    {"real data", DataKind::real, 1, 0, false},
    {"adversarial data", DataKind::adversarial, 1, 0, false},
};

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
        const bool small = direct_flops(prob) <= 1e5 && prob.N <= 16;
        if (small && (!tier.trace || file == std::string("smoke.txt"))) {
          prepared.emplace_back(text, prob, tier);
        }
      }
    }
  }
  return prepared;
}

// What one tier found wrong with one mutant.
struct Catch {
  int problems = 0;
  std::string first_problem, first_sentence;
  std::set<std::string> faults;
};

using Catches = std::map<std::string, Catch>;  // by tier

void note(Catch& caught, const std::string& problem, const std::string& sentence) {
  if (caught.problems++ > 0) return;
  caught.first_problem = problem;
  caught.first_sentence = sentence;
}

// Every tier tries every problem on its own, so that the table shows what each can see.
Catches catches_of(const Mutant& plain, const Mutant& traced, const std::list<Prepared>& prepared) {
  Catches catches;
  for (const Prepared& on : prepared) {
    const ExecuteOptions options{.trace = on.tier->trace};
    try {
      const Verdict verdict = verify(plain, &traced, on.judge, options);
      if (on.tier->trace && verdict.report.faults.empty())
        continue;  // the other tiers judge values
      if (verdict.pass) continue;
      Catch& caught = catches[on.tier->name];
      note(caught, on.problem, verdict.failure);
      for (const simt::Fault& fault : verdict.report.faults) {
        caught.faults.insert(simt::name_of(fault.kind));
      }
    } catch (const Error& error) {  // checked indices end a plain run
      note(catches[on.tier->name], on.problem, error.what());
    }
  }
  Catch far;
  try {
    const auto agreement = testing::agreement_at_far_offsets(plain);
    if (agreement && !agreement->pass) note(far, testing::kFarProblem, agreement->failure);
  } catch (const Error& error) {
    note(far, testing::kFarProblem, error.what());
  }
  if (far.problems > 0) catches["offsets beyond 2^31"] = far;
  return catches;
}

bool is_right(const Mutant& mutant) { return std::string(mutant.name).starts_with("right"); }

void print_row(const Mutant& mutant, const Catches& catches) {
  std::cout << mutant.name << '\n';
  if (catches.empty()) std::cout << "    passes everything\n";
  for (const auto& [tier, caught] : catches) {
    std::cout << "    " << tier << ": " << caught.problems << " problems, first "
              << caught.first_problem;
    std::string separator = "; ";
    for (const std::string& fault : caught.faults) {
      std::cout << separator << fault;
      separator = ", ";
    }
    std::cout << '\n';
  }
}

void check_mutants(const std::vector<Mutant>& plain, const std::vector<Mutant>& traced) {
  ASSERT_EQ(plain.size(), traced.size());
  const std::list<Prepared> prepared = prepared_operands();
  std::cout << "Each mutant, and what catches it on how many of the listed problems\n";
  int right = 0;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    ASSERT_STREQ(plain[i].name, traced[i].name);
    const Catches catches = catches_of(plain[i], traced[i], prepared);
    print_row(plain[i], catches);
    if (!is_right(plain[i])) {
      EXPECT_FALSE(catches.empty()) << plain[i].name << " is not caught";
      continue;
    }
    ++right;
    for (const auto& [tier, caught] : catches) {
      ADD_FAILURE() << "the right kernel fails: " << tier << ", " << caught.first_problem << ": "
                    << caught.first_sentence;
    }
  }
  EXPECT_EQ(right, 1);
}

TEST(Mutants, WrongIndicesAreCaught) {
  check_mutants(build_plain::index_mutants(), build_traced::index_mutants());
}

TEST(Mutants, WrongTilesAreCaught) {
  check_mutants(build_plain::tile_mutants(), build_traced::tile_mutants());
}

// What a user reads names the mutant, the element and both values.
TEST(Mutants, FailuresSayWhatIsWrong) {
  const std::vector<Mutant> mutants = build_plain::index_mutants();
  const auto dropped = std::find_if(mutants.begin(), mutants.end(), [](const Mutant& mutant) {
    return mutant.name == std::string("last tap dropped");
  });
  ASSERT_NE(dropped, mutants.end());
  const auto operands =
      make_operands<float>(parse_conv2d("n2c3h7w9_k4r3s3"), Layout::nchw, DataKind::exact, 3);
  const Verdict verdict = verify(*dropped, nullptr, Judge<float>(operands, DataKind::exact), {});
  EXPECT_FALSE(verdict.pass);
  EXPECT_TRUE(verdict.failure.starts_with("last tap dropped: y at n=0 k=0 p=0 q=0 is "))
      << verdict.failure;
}

}  // namespace
}  // namespace sevenloops
