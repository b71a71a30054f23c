// The repository's shape is a test, not a hope: every rule holds for the source tree, and every
// rule finds a tree that breaks it.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <ostream>
#include <set>

#include "tests/support/repo_rules.hpp"

namespace sevenloops::testing {

void PrintTo(const RepoRule& rule, std::ostream* out) { *out << rule.reason; }

namespace {

std::string text(const Violations& found) {
  std::string all;
  for (const std::string& violation : found) all += "\n  " + violation;
  return all;
}

class RepoRules : public ::testing::TestWithParam<RepoRule> {};

TEST_P(RepoRules, HoldForTheTree) {
  static const Tree tree = read_tree(SEVENLOOPS_SOURCE_DIR);
  ASSERT_TRUE(tree.contains("gpu/conv2d/stages.def")) << "not the source tree";
  const Violations found = GetParam().check(tree);
  EXPECT_TRUE(found.empty()) << GetParam().reason << text(found);
}

const char* const kStage = R"(// one: the idea.
#include "gpu/cuda.hpp"
#include "reference/conv2d/problem.hpp"
// [kernel]
__global__ void one(float* y) { y[0] = 1; }
// [kernel]
Support supports(const Args&) { return {}; }
void launch_stage(const Args& args) { launch(one); }
extern const Stage<Conv2dForward> conv2d_one = {.name = "one"};
)";

/// A small tree in which every rule holds.
Tree good_tree() {
  return {
      {".ci/run", ""},
      {"CMakeLists.txt", ""},
      {"CMakePresets.json", ""},
      {"LICENSE", ""},
      {"README.md",
       "# Start here\n[below](#start-here) [docs](docs/page.md#two-words) [b](bench)\n"
       "`[not](a link)`\n```\n[nor](this)\n```\n[far](https://example.org/x)\n"},
      {"docs/page.md", "## Two words\n[up](../README.md)\n"},
      {"lessons/README.md", "# The path\n`one`\n"},
      {"bench/report.py", ""},
      {"bench/a.hpp", "#pragma once\n// A.\n#include \"gpu/cuda.hpp\"\n"},
      {"tests/problems/small.txt", "# Why these.\n\nn1c3h5w5_k2r3s3_p1  # small\n"},
      {"tests/a_test.cpp", "const char* quoted = \"asm <<< __CUDACC__\";  // asm <<<\n"},
      {"reference/core/a.hpp", "#pragma once\n// A.\n"},
      {"reference/conv2d/problem.hpp", "#pragma once\n// P.\n#include \"reference/core/a.hpp\"\n"},
      {"reference/conv2d/conv2d.hpp", "#pragma once\n// The definition.\n"},
      {"gpu/cuda.hpp", "#pragma once\n// C.\n#if defined(__CUDACC__)\n#endif\n"},
      {"gpu/launch.hpp", "#pragma once\n// L.\nkernel<<<1, 1>>>();\n"},
      {"gpu/async_copy.hpp", "#pragma once\n// A.\nvoid f() { asm(\"\"); }\n"},
      {"gpu/conv2d/stages.def", "// In order.\nSEVENLOOPS_STAGE(one)\n"},
      {"gpu/conv2d/one.cu", kStage},
  };
}

TEST(GoodTree, BreaksNoRule) {
  for (const RepoRule& rule : repo_rules()) {
    const Violations found = rule.check(good_tree());
    EXPECT_TRUE(found.empty()) << rule.name << text(found);
  }
}

/// One change to the good tree, and the rule that must find it.
struct Mutant {
  const char* rule;
  const char* path;
  const char* from;  ///< what is replaced; "" adds `to` at the end; null removes the file
  const char* to;
};

const Mutant kMutants[] = {
    {"top_level_is_fixed", "notes.txt", "", "a note"},
    {"top_level_is_fixed", "src/a.cpp", "", "int a;"},
    {"top_level_is_fixed", "LICENSE", nullptr, ""},
    {"stage_lists_are_the_files", "gpu/conv2d/one.cu", nullptr, ""},
    {"stage_lists_are_the_files", "gpu/conv2d/two.cu", "", kStage},
    {"stage_lists_are_the_files", "gpu/conv2d/stages.def", "", "SEVENLOOPS_STAGE(one)\n"},
    {"stage_lists_are_the_files", "gpu/conv2d/stages.def", nullptr, ""},
    {"stage_lists_are_the_files", "lessons/README.md", "`one`", "`two`"},
    {"problem_files_parse", "tests/problems/small.txt", "",
     "n1c3h5w5_k2r3s3_x1  # no such field\n"},
    {"problem_files_parse", "tests/problems/small.txt", "",
     "n1c3h2w2_k2r3s3  # filter too large\n"},
    {"problem_files_parse", "tests/problems/small.txt", "  # small", ""},
    {"includes_point_down", "reference/core/a.hpp", "", "#include \"gpu/cuda.hpp\"\n"},
    {"includes_point_down", "reference/core/a.hpp", "",
     "#include \"reference/conv2d/conv2d.hpp\"\n"},
    {"includes_point_down", "gpu/cuda.hpp", "", "#include \"bench/a.hpp\"\n"},
    {"includes_point_down", "gpu/cuda.hpp", "", "#include \"gpu/conv2d/one.cu\"\n"},
    {"includes_point_down", "bench/a.hpp", "", "#include \"tests/a_test.cpp\"\n"},
    {"includes_point_down", "bench/a.hpp", "", "#include \"cuda.hpp\"\n"},
    {"stages_stand_alone", "gpu/conv2d/one.cu", "", "#include \"reference/conv2d/conv2d.hpp\"\n"},
    {"stages_stand_alone", "gpu/cuda.hpp", "", "#include \"reference/conv2d/conv2d.hpp\"\n"},
    {"stages_stand_alone", "gpu/conv2d/one.cu", "",
     "#include \"reference/conv2d/gemm_oracle.hpp\"\n"},
    {"stages_stand_alone", "gpu/conv2d/one.cu", "", "#include \"gpu/conv2d/two.cu\"\n"},
    {"links_resolve", "README.md", "docs/page.md#two-words", "docs/pages.md"},
    {"links_resolve", "README.md", "#two-words", "#two-word"},
    {"links_resolve", "README.md", "(#start-here)", "(#start)"},
    {"links_resolve", "docs/page.md", "../README.md", "README.md"},
    {"links_resolve", "docs/page.md", "", "![image](missing.png)\n"},
    {"device_words_in_place", "gpu/conv2d/one.cu", "y[0] = 1;", "asm volatile(\"\");"},
    {"device_words_in_place", "bench/a.hpp", "", "void f() { one<<<1, 1>>>(); }\n"},
    {"device_words_in_place", "gpu/async_copy.hpp", "", "#ifdef __CUDACC__\n#endif\n"},
    {"stages_are_read_with_diff", "gpu/conv2d/one.cu", "// one: the idea.\n", ""},
    {"stages_are_read_with_diff", "gpu/conv2d/one.cu",
     "Support supports(const Args&) { return {}; }\n", ""},
    {"stages_are_read_with_diff", "gpu/conv2d/one.cu", "", "__global__ void two();\n"},
    {"stages_are_read_with_diff", "gpu/conv2d/one.cu", "void launch_stage", "void start"},
    {"stages_are_read_with_diff", "gpu/conv2d/one.cu", ".name = \"one\"", ".name = \"two\""},
    {"stages_are_read_with_diff", "gpu/conv2d/one.cu", "// [kernel]\n__", "__"},
    {"headers_introduce_themselves", "bench/a.hpp", "#pragma once\n", ""},
    {"headers_introduce_themselves", "bench/a.hpp", "// A.\n", "\n"},
    {"names_say_what_is_there", "gpu/utils.hpp", "", "#pragma once\n// U.\n"},
    {"names_say_what_is_there", "gpu/conv2d/tile_v2.cu", "", kStage},
    {"names_say_what_is_there", "tests/common/a.cpp", "", "int a;\n"},
    {"nothing_is_left_to_do", "gpu/cuda.hpp", "",
     "// TO"
     "DO: more\n"},
    {"nothing_is_left_to_do", "README.md", "",
     "FIX"
     "ME\n"},
    {"spelling_is_american", "README.md", "",
     "The Col"
     "our of a line.\n"},
    {"spelling_is_american", "gpu/cuda.hpp", "",
     "// Synchron"
     "isation.\n"},
};

TEST(Mutants, BreakTheirRule) {
  std::set<std::string> tried;
  for (const Mutant& mutant : kMutants) {
    SCOPED_TRACE(std::string(mutant.rule) + ", " + mutant.path + ": " + mutant.to);
    Tree tree = good_tree();
    if (mutant.from == nullptr) {
      ASSERT_EQ(tree.erase(mutant.path), 1u);
    } else {
      std::string& changed = tree[mutant.path];
      const std::string from = mutant.from;
      const std::size_t at = from.empty() ? changed.size() : changed.find(from);
      ASSERT_NE(at, changed.npos) << "the good tree has no " << from;
      changed.replace(at, from.size(), mutant.to);
    }
    bool known = false;
    for (const RepoRule& rule : repo_rules()) {
      if (rule.name != std::string(mutant.rule)) continue;
      known = true;
      const Violations found = rule.check(tree);
      EXPECT_FALSE(found.empty());
      for (const std::string& violation : found) {
        EXPECT_NE(violation.find(": "), violation.npos) << "no place in: " << violation;
      }
    }
    EXPECT_TRUE(known) << "no rule of this name";
    tried.insert(mutant.rule);
  }
  EXPECT_EQ(tried.size(), repo_rules().size()) << "a rule without a mutant";
}

// Parts of a stage file in another order than its neighbors'.
TEST(Mutants, StageObjectBeforeItsKernel) {
  Tree tree = good_tree();
  std::string& stage = tree["gpu/conv2d/one.cu"];
  const std::size_t object = stage.find("extern");
  stage = stage.substr(0, stage.find("// [kernel]")) + stage.substr(object) +
          stage.substr(stage.find("// [kernel]"), object - stage.find("// [kernel]"));
  for (const RepoRule& rule : repo_rules()) {
    EXPECT_EQ(rule.check(tree).empty(), rule.name != std::string("stages_are_read_with_diff"))
        << rule.name << text(rule.check(tree));
  }
}

TEST(Mutants, StageFileTooLong) {
  Tree tree = good_tree();
  tree["gpu/conv2d/one.cu"] += std::string(250, '\n');
  for (const RepoRule& rule : repo_rules()) {
    EXPECT_EQ(rule.check(tree).empty(), rule.name != std::string("stages_are_read_with_diff"));
  }
}

TEST(ReadTree, LeavesOutWhatIsIgnored) {
  namespace fs = std::filesystem;
  const fs::path root = fs::path(::testing::TempDir()) / "sevenloops_read_tree";
  fs::remove_all(root);
  const auto write = [&](const char* path, const char* text) {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  };
  write(".gitignore", "/build*/\n*.npy\n__pycache__/\n/edges.png\n");
  write("build-a/a.cpp", "");
  write("docs/build/a.md", "kept");
  write("docs/a.npy", "");
  write("docs/edges.png", "not text");
  write("docs/__pycache__/a.py", "");
  write("edges.png", "");
  write(".git/config", "");
  EXPECT_EQ(read_tree(root.string()),
            (Tree{{".gitignore", "/build*/\n*.npy\n__pycache__/\n/edges.png\n"},
                  {"docs/build/a.md", "kept"},
                  {"docs/edges.png", ""}}));
  fs::remove_all(root);
}

TEST(CodeOnly, BlanksCommentsAndLiterals) {
  EXPECT_EQ(code_only("a /* b\nc */ d // e\nf"), "a     \n     d     \nf");
  EXPECT_EQ(code_only(R"(g("a\"b", 'c', 1'000);)"), R"(g("    ", ' ', 1'000);)");
  EXPECT_EQ(code_only("R\"x(a\")b)x\" c"), "R\"x(    )x\" c");
}

INSTANTIATE_TEST_SUITE_P(All, RepoRules, ::testing::ValuesIn(repo_rules()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace sevenloops::testing
