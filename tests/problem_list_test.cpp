// The problem files are as their readers expect, and broken ones are refused with file and line.

#include "tests/support/problem_list.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "reference/core/error.hpp"

namespace sevenloops {
namespace {

using testing::listed_problems;
using testing::ListedProblem;
using testing::read_problems;

std::string error_of(const std::string& text) {
  std::istringstream in(text);
  try {
    read_problems(in, "file.txt");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ProblemList, ReadsTextAndReason) {
  std::istringstream in("# heading\n\nn2c3h7w9_k4r3s3  # all differ \n  n1c1h1w1_k1r1s1 # one\r\n");
  const auto problems = read_problems(in, "file.txt");
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_EQ(problems[0].text, "n2c3h7w9_k4r3s3");
  EXPECT_EQ(problems[0].reason, "all differ");
  EXPECT_EQ(problems[0].prob.W, 9);
  EXPECT_EQ(problems[1].reason, "one");
}

TEST(ProblemList, RefusesBadLinesWithTheirPlace) {
  const std::string good = "n1c1h1w1_k1r1s1 # one\n";
  EXPECT_TRUE(error_of(good + "n2c3x7 # broken").starts_with("file.txt:2: "));
  EXPECT_TRUE(error_of(good + "\nn2c3h1w1_k1r3s3 # no output").starts_with("file.txt:3: "));
  EXPECT_EQ(error_of(good + "n2c3h7w9_k4r3s3"), "file.txt:2: the problem has no reason behind '#'");
  EXPECT_EQ(error_of(good + good), "file.txt:2: the problem is listed twice: n1c1h1w1_k1r1s1");
  EXPECT_EQ(error_of("n2c3h7w9_k4r3s3_g1 # not as printed"),
            "file.txt:1: the problem is n2c3h7w9_k4r3s3_g1, but must be written n2c3h7w9_k4r3s3");
  EXPECT_EQ(error_of("# nothing\n"), "file.txt lists no problem");
  EXPECT_THROW(listed_problems("no_such_list.txt"), Error);
}

// What the lists must not lose: each property is what some error hides behind.
TEST(ProblemList, HoldsWhatErrorsHideBehind) {
  struct Property {
    const char* name;
    bool (*holds)(const Conv2dProblem&);
  };
  using Problem = Conv2dProblem;
  const Property properties[] = {
      {"no images", [](const Problem& p) { return p.N == 0; }},
      {"extents pairwise different",
       [](const Problem& p) {
         const std::int64_t e[] = {p.N, p.C, p.H, p.W, p.K, p.R, p.P(), p.Q()};
         for (int i = 0; i < 8; ++i)
           if (std::count(e, e + 8, e[i]) != 1) return false;
         return true;
       }},
      {"filter sides differ", [](const Problem& p) { return p.R != p.S; }},
      {"even filter", [](const Problem& p) { return p.R % 2 == 0 && p.S % 2 == 0; }},
      {"filter larger than the input", [](const Problem& p) { return p.R > p.H && p.S > p.W; }},
      {"padding at least the filter",
       [](const Problem& p) { return p.pad_top >= p.R && p.pad_left >= p.S; }},
      {"stride larger than the filter",
       [](const Problem& p) { return p.stride_h > p.R && p.stride_w > p.S; }},
      {"strides differ", [](const Problem& p) { return p.stride_h != p.stride_w; }},
      {"dilations differ",
       [](const Problem& p) { return p.dilation_h != p.dilation_w && p.R > 1 && p.S > 1; }},
      {"four pads",
       [](const Problem& p) {
         const std::int64_t pads[] = {p.pad_top, p.pad_left, p.pad_bottom, p.pad_right};
         for (std::int64_t pad : pads)
           if (std::count(pads, pads + 4, pad) != 1) return false;
         return true;
       }},
      {"one row", [](const Problem& p) { return p.H == 1 && p.W > 1; }},
      {"one column", [](const Problem& p) { return p.W == 1 && p.H > 1; }},
      {"depthwise", [](const Problem& p) { return p.groups == p.C && p.K == p.C && p.C > 1; }},
      {"depthwise with a multiplier",
       [](const Problem& p) { return p.groups == p.C && p.K > p.C && p.C > 1; }},
      {"groups of several channels",
       [](const Problem& p) { return p.groups > 1 && p.C > p.groups && p.K > p.groups; }},
      {"rotated filter", [](const Problem& p) { return p.mode == ConvMode::convolution; }},
      {"one output a filter", [](const Problem& p) { return p.P() == 1 && p.Q() == 1; }},
  };
  for (const char* file : {"smoke.txt", "regular.txt"}) {
    const auto problems = listed_problems(file);
    for (const Property& property : properties) {
      const bool smoke = file == std::string("smoke.txt");
      const std::string name = property.name;
      if (smoke && (name == "one row" || name == "one column" || name == "depthwise" ||
                    name == "one output a filter" || name == "padding at least the filter")) {
        continue;
      }
      EXPECT_TRUE(std::any_of(problems.begin(), problems.end(),
                              [&](const ListedProblem& p) { return property.holds(p.prob); }))
          << file << " has no problem with: " << name;
    }
  }
  const auto regular = listed_problems("regular.txt"), counts = listed_problems("counts.txt");
  const auto has = [&](auto holds) {
    return std::any_of(counts.begin(), counts.end(), [&](const auto& p) { return holds(p.prob); });
  };
  EXPECT_TRUE(has([](const Problem& p) { return p.N > 65535; }));
  EXPECT_TRUE(has([](const Problem& p) { return p.K > 65535; }));
  EXPECT_TRUE(has([](const Problem& p) { return p.C * p.R * p.S > 65536; }));
  EXPECT_GE(regular.size(), 40u);
  for (const ListedProblem& p : regular) EXPECT_LE(direct_flops(p.prob), 4e6) << p.text;
  for (const ListedProblem& p : listed_problems("smoke.txt")) {
    EXPECT_LE(direct_flops(p.prob), 4e5) << p.text;
  }
  for (const ListedProblem& p : listed_problems("large.txt")) EXPECT_GE(p.prob.N, 1) << p.text;
}

}  // namespace
}  // namespace sevenloops
