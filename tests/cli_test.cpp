// The command line where all is well: comparing, checking, running, listing.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "bench/cli/check.hpp"
#include "bench/cli/figures.hpp"
#include "bench/cli/layers.hpp"
#include "bench/cli/nearest.hpp"
#include "bench/cli/quantity.hpp"
#include "bench/cli/table.hpp"
#include "reference/conv2d/conv2d.hpp"
#include "reference/core/data.hpp"
#include "reference/core/error.hpp"
#include "reference/core/npy.hpp"
#include "reference/core/numerics.hpp"
#include "tests/support/program.hpp"

namespace sevenloops::testing {
namespace {

using nlohmann::json;

// So many stages at least run in the emulator whatever the problem; the others may refuse it.
constexpr int kAtLeast = 12;

class CommandLine : public ::testing::Test {
 protected:
  Outcome sevenloops(const std::vector<std::string>& arguments) const {
    return run_program(SEVENLOOPS_PROGRAM, arguments, folder_.path());
  }

  std::string file(const char* name) const { return folder_.path() / name; }

  // A random tensor, kept in a file too.
  template <typename T>
  Tensor<T> tensor(const char* name, const Extents& extents, std::uint64_t seed, int rank = 4) {
    Tensor<T> made(extents);
    fill_real(made.view(), seed);
    write_npy(file(name), std::as_const(made).view(), rank);
    return made;
  }

  std::vector<std::string> stages() const {
    std::vector<std::string> names;
    const json list = json::parse(sevenloops({"list", "--json"}).out);
    for (const json& stage : list["conv2d"]) names.push_back(stage["name"]);
    return names;
  }

  // Why the emulator cannot run stage number `index` on `prob`; empty: it can.
  static std::string refusal(std::size_t index, const Conv2dProblem& prob) {
    const Conv2dStage& stage = *conv2d_stages(Build::plain)[index];
    return supports(stage, shapes_of(prob, Layout::nchw), Place::emulator).reason;
  }

  TemporaryFolder folder_;
};

template <typename T>
Tensor<double> fp64(const Tensor<T>& tensor) {
  return converted<double>(tensor.view());
}

// Every element within `tolerance` of the expected, and the same shape.
template <typename T>
void expect_near(const Tensor<T>& got, const Tensor<double>& expected, double tolerance) {
  ASSERT_EQ(got.extents(), expected.extents());
  for_each_index(got.extents(), [&](auto n, auto c, auto h, auto w) {
    ASSERT_NEAR(static_cast<double>(got(n, c, h, w)), expected(n, c, h, w), tolerance)
        << "at " << n << ", " << c << ", " << h << ", " << w;
  });
}

TEST_F(CommandLine, ListsWhatIsThere) {
  const json list = json::parse(sevenloops({"list", "--json"}).out);
  ASSERT_EQ(list["conv2d"].size(), conv2d_stages(Build::plain).size());
  const Outcome table = sevenloops({"list"});
  EXPECT_EQ(table.code, 0);
  for (const json& stage : list["conv2d"]) {
    EXPECT_NE(table.out.find(stage["name"]), std::string::npos);
    EXPECT_NE(table.out.find(stage["idea"]), std::string::npos);
    EXPECT_EQ(stage["source_hash"].get<std::string>().size(), 16u);
  }
  const json all = json::parse(sevenloops({"list", "--layers", "--json"}).out);
  EXPECT_EQ(all["layers"].size(), layers().size());
  for (const json& layer : all["layers"]) {
    EXPECT_EQ(parse_conv2d(layer["problem"].get<std::string>()),
              layer_named(layer["name"].get<std::string>()).prob);
  }
}

TEST_F(CommandLine, HelpShowsExamplesEverywhere) {
  const std::vector<std::vector<std::string>> commands{{},
                                                       {"compare"},
                                                       {"check"},
                                                       {"list"},
                                                       {"run"},
                                                       {"run", "conv2d"},
                                                       {"run", "conv2d-backward-data"},
                                                       {"run", "conv2d-backward-filter"}};
  for (std::vector<std::string> arguments : commands) {
    arguments.push_back("--help");
    const Outcome outcome = sevenloops(arguments);
    EXPECT_EQ(outcome.code, 0);
    EXPECT_NE(outcome.out.find("Example"), std::string::npos) << outcome.out;
    EXPECT_EQ(outcome.error, "");
  }
}

TEST_F(CommandLine, ComparesAllStagesInOneAlignedTable) {
  const std::string problem = "n2c3h9w8_k5r3s2";
  const Outcome outcome =
      sevenloops({"compare", "conv2d", "--problem", problem, "--json", "all.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.out << outcome.error;
  EXPECT_EQ(outcome.error, "");  // no progress line where there is no terminal
  EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos);  // and no colors
  const std::vector<std::string> lines = lines_of(outcome.out);
  EXPECT_NE(lines[0].find("emulator"), std::string::npos);
  EXPECT_NE(lines[0].find(problem), std::string::npos);
  // All rows end where the rule ends: the last column stands at the right.
  std::size_t rule = 0;
  while (rule < lines.size() && lines[rule].rfind("----", 0) != 0) ++rule;
  const std::vector<std::string> names = stages();
  ASSERT_LT(rule + names.size(), lines.size());
  const json results = json::parse(read_text(file("all.json")));
  EXPECT_EQ(results["place"], "emulator");
  EXPECT_EQ(results["problem"], problem);
  ASSERT_EQ(results["stages"].size(), names.size());
  int ran = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& row = lines[rule + 1 + i];
    EXPECT_EQ(row.rfind(names[i] + " ", 0), 0u) << row;
    const json& stage = results["stages"][i];
    EXPECT_EQ(stage["name"], names[i]);
    const std::string refused = refusal(i, parse_conv2d(problem));
    ASSERT_EQ(stage.contains("refused"), !refused.empty()) << row;
    if (!refused.empty()) {
      EXPECT_NE(stage["refused"].get<std::string>().find(refused), std::string::npos);
      EXPECT_NE(row.find("does not support this problem"), std::string::npos) << row;
      continue;
    }
    ++ran;
    EXPECT_EQ(row.size(), lines[rule].size()) << row;
    EXPECT_NE(row.find("exact"), std::string::npos) << row;
    EXPECT_TRUE(stage["integers"]["pass"] && stage["real_data"]["pass"]);
    EXPECT_GT(stage["counters"]["global_load"]["requests"], 0);
    if (conv2d_stages(Build::plain)[i]->algorithm == Algorithm::sums) {
      EXPECT_GE(stage["counters"]["flops"], direct_flops(parse_conv2d(problem)));
    }
    EXPECT_TRUE(stage["faults"].empty());
  }
  EXPECT_GE(ran, kAtLeast);
}

TEST_F(CommandLine, SaysHowTheBatchWasChanged) {
  const Outcome outcome = sevenloops(
      {"compare", "conv2d", "--layer", "llama_cpp_conv2d/gg4", "--batch", "1", "--by", "array"});
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_NE(lines_of(outcome.out)[0].find("only the batch was reduced, from 16 to 1"),
            std::string::npos);
  EXPECT_NE(outcome.out.find("by array"), std::string::npos);
}

TEST_F(CommandLine, SamplesBlocksAndSaysSo) {
  const Outcome outcome = sevenloops({"compare", "conv2d", "--problem", "n1c2h40w40_k16r3s3",
                                      "--sample", "4", "--stages", stages()[0]});
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_NE(outcome.out.find("about 4 blocks"), std::string::npos) << outcome.out;
}

TEST_F(CommandLine, ComparesAnEmptyBatch) {
  EXPECT_EQ(sevenloops({"compare", "conv2d", "--problem", "n0c3h5w4_k2r3s3"}).code, 0);
}

TEST_F(CommandLine, ComparesOnYourOwnTensors) {
  tensor<float>("x.npy", {1, 3, 12, 10}, 1);
  tensor<float>("w.npy", {4, 3, 3, 3}, 2);
  const Outcome outcome = sevenloops(
      {"compare", "conv2d", "--x", "x.npy", "--w", "w.npy", "--pad", "1", "--json", "own.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.out << outcome.error;
  EXPECT_NE(outcome.out.find("n1c3h12w10_k4r3s3_p1"), std::string::npos);
  const json results = json::parse(read_text(file("own.json")));
  int ran = 0;
  for (const json& stage : results["stages"]) {
    if (stage.contains("refused")) continue;
    ++ran;
    EXPECT_TRUE(stage["own_data"]["pass"]) << stage["name"];
  }
  EXPECT_GE(ran, kAtLeast);
}

TEST_F(CommandLine, ChecksEveryStage) {
  const std::string problem = "n2c4h7w6_k6r3s2_p1x0_u1x2_g2";
  const std::vector<std::string> names = stages();
  int ran = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Outcome outcome =
        sevenloops({"check", "conv2d", "--stage", names[i], "--problem", problem});
    const std::string refused = refusal(i, parse_conv2d(problem));
    if (!refused.empty()) {
      EXPECT_NE(outcome.code, 0);
      EXPECT_NE(outcome.error.find(refused), std::string::npos) << outcome.error;
      continue;
    }
    ++ran;
    EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.error;
    EXPECT_NE(outcome.out.find("All checks pass."), std::string::npos);
    EXPECT_EQ(outcome.out.find("FAIL"), std::string::npos);
  }
  EXPECT_GE(ran, kAtLeast);
}

TEST_F(CommandLine, RunsTheDefinitionAndEveryStageWithAllParameters) {
  const Tensor<float> x = tensor<float>("x.npy", {2, 4, 9, 8}, 1);
  const Tensor<float> w = tensor<float>("w.npy", {6, 2, 3, 2}, 2);
  const Tensor<float> b = tensor<float>("b.npy", {1, 1, 1, 6}, 3, 1);
  Conv2dProblem prob{.N = 2,
                     .C = 4,
                     .H = 9,
                     .W = 8,
                     .K = 6,
                     .R = 3,
                     .S = 2,
                     .pad_top = 1,
                     .pad_left = 0,
                     .pad_bottom = 2,
                     .pad_right = 1,
                     .stride_h = 2,
                     .stride_w = 1,
                     .dilation_h = 1,
                     .dilation_w = 2,
                     .groups = 2,
                     .mode = ConvMode::convolution};
  const Tensor<float> y0 = tensor<float>("y0.npy", y_extents(prob), 4);
  const Tensor<double> x64 = fp64(x), w64 = fp64(w), y64 = fp64(y0);
  Tensor<double> expected = conv2d_forward(prob, x64.view(), w64.view(), 0.5, -2, y64.view()).value;
  for_each_index(expected.extents(),
                 [&](auto n, auto k, auto p, auto q) { expected(n, k, p, q) += b(0, 0, 0, k); });
  std::vector<std::string> names{"reference"};
  const std::vector<std::string> all = stages();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (refusal(i, prob).empty()) names.push_back(all[i]);
  }
  EXPECT_GE(static_cast<int>(names.size()), kAtLeast);
  for (const std::string& stage : names) {
    for (const char* layout : {"nchw", "nhwc"}) {
      const Outcome outcome = sevenloops(
          {"run",      "conv2d",  "--x",      "x.npy", "--w",        "w.npy", "--b",      "b.npy",
           "--pad",    "1,0,2,1", "--stride", "2,1",   "--dilation", "1,2",   "--groups", "2",
           "--mode",   "conv",    "--alpha",  "0.5",   "--beta",     "-2",    "--y",      "y0.npy",
           "--layout", layout,    "--stage",  stage,   "--out",      "y.npy"});
      ASSERT_EQ(outcome.code, 0) << stage << ": " << outcome.error;
      expect_near(read_npy<float>(file("y.npy")), expected, stage == "reference" ? 2e-6 : 1e-5);
    }
  }
}

TEST_F(CommandLine, RunsOtherTypes) {
  const Conv2dProblem prob{.N = 1, .C = 2, .H = 5, .W = 6, .K = 3, .R = 2, .S = 3};
  const Tensor<double> x = tensor<double>("x8.npy", x_extents(prob), 1);
  const Tensor<double> w = tensor<double>("w8.npy", w_extents(prob), 2);
  for (const std::string& stage : {stages()[0], std::string("reference")}) {
    ASSERT_EQ(sevenloops({"run", "conv2d", "--x", "x8.npy", "--w", "w8.npy", "--stage", stage,
                          "--out", "y8.npy"})
                  .code,
              0);
    expect_near(read_npy<double>(file("y8.npy")), conv2d_forward(prob, x.view(), w.view()).value,
                1e-14);
  }
  const Tensor<double> half_x = fp64(tensor<Half>("x2.npy", x_extents(prob), 1));
  const Tensor<double> half_w = fp64(tensor<Half>("w2.npy", w_extents(prob), 2));
  ASSERT_EQ(sevenloops({"run", "conv2d", "--x", "x2.npy", "--w", "w2.npy", "--out", "y2.npy"}).code,
            0);
  expect_near(read_npy<Half>(file("y2.npy")),
              conv2d_forward(prob, half_x.view(), half_w.view()).value, 0x1p-10);
}

TEST_F(CommandLine, RunsAnEmptyBatch) {
  Tensor<float> x({0, 3, 5, 5});
  write_npy(file("x.npy"), std::as_const(x).view());
  tensor<float>("w.npy", {4, 3, 3, 2}, 1);
  ASSERT_EQ(sevenloops({"run", "conv2d", "--x", "x.npy", "--w", "w.npy", "--out", "y.npy"}).code,
            0);
  EXPECT_EQ(read_npy<float>(file("y.npy"), 4, Empty::allowed).extents(), (Extents{0, 4, 3, 4}));
}

TEST_F(CommandLine, RunsTheGradients) {
  const Conv2dProblem prob{.N = 2,
                           .C = 4,
                           .H = 8,
                           .W = 7,
                           .K = 6,
                           .R = 3,
                           .S = 2,
                           .pad_top = 1,
                           .pad_left = 0,
                           .pad_bottom = 1,
                           .pad_right = 0,
                           .stride_h = 2,
                           .stride_w = 1,
                           .groups = 2};
  const Tensor<double> x = fp64(tensor<float>("x.npy", x_extents(prob), 1));
  const Tensor<double> w = fp64(tensor<float>("w.npy", w_extents(prob), 2));
  const Tensor<double> dy = fp64(tensor<float>("dy.npy", y_extents(prob), 3));
  // H = 8 and the 7 that would give the same P are told apart by --input-size.
  ASSERT_EQ(sevenloops({"run", "conv2d-backward-data", "--dy", "dy.npy", "--w", "w.npy",
                        "--input-size", "8,7", "--pad", "1,0", "--stride", "2,1", "--groups", "2",
                        "--stage", "reference", "--out", "dx.npy"})
                .code,
            0);
  expect_near(read_npy<float>(file("dx.npy")),
              conv2d_backward_data(prob, dy.view(), w.view()).value, 2e-6);
  ASSERT_EQ(sevenloops({"run", "conv2d-backward-filter", "--x", "x.npy", "--dy", "dy.npy",
                        "--filter-size", "3,2", "--pad", "1,0", "--stride", "2,1", "--groups", "2",
                        "--out", "dw.npy"})
                .code,
            0);
  expect_near(read_npy<float>(file("dw.npy")),
              conv2d_backward_filter(prob, x.view(), dy.view()).value, 1e-5);
}

TEST_F(CommandLine, SurvivesAReaderWhoLeaves) {
  const std::string program = SEVENLOOPS_PROGRAM;
  const Outcome outcome = run_program(
      "/bin/sh", {"-c", "{ '" + program + "' list --layers; echo $? > code; } | head -1"},
      folder_.path());
  EXPECT_EQ(read_text(file("code")), "0\n") << outcome.error;
}

TEST(CheckReport, SaysWhatIsWrongAndHowToRepeatIt) {
  Verdict verdict;
  verdict.failure = "y at n=0 k=1 p=2 q=3 is 7, expected 8";
  const CheckResult result = result_of("exact", verdict);
  EXPECT_FALSE(result.pass);
  EXPECT_EQ(result.detail, verdict.failure);
  Subject subject;
  subject.prob = parse_conv2d("n2c3h7w9_k4r3s3_p1");
  subject.layout = Layout::nhwc;
  subject.seed = 7;
  EXPECT_EQ(repeat_command(subject, "stage", "exact"),
            "sevenloops check conv2d --stage stage --problem n2c3h7w9_k4r3s3_p1 "
            "--layout nhwc --seed 7 --only exact");
}

TEST(Names, NearestByEditDistance) {
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("ABC", "abc"), 0);
  EXPECT_EQ(nearest("colaesced", {"direct", "coalesced"}), "coalesced");
  EXPECT_EQ(nearest("x", {}), "");
}

TEST(Quantities, HaveThreeDigitsAndAUnit) {
  EXPECT_EQ(quantity(0), "0");
  EXPECT_EQ(quantity(999), "999");
  EXPECT_EQ(quantity(1000), "1.00k");
  EXPECT_EQ(quantity(999999), "1.00M");
  EXPECT_EQ(quantity(45.6e6), "45.6M");
  EXPECT_EQ(bytes_text(1536), "1.5 KiB");
  EXPECT_EQ(percent(0.125), "12 %");
  EXPECT_EQ(percent(0.004), "0.4 %");
  EXPECT_EQ(times(5.14), "5.1x");
  EXPECT_EQ(times(123.4), "123x");
}

TEST(Figures, SayWhatMoved) {
  Figures before, after;
  before.load_requests = after.load_requests = 1000;
  before.load_sectors = 32000;
  after.load_sectors = 4000;
  before.load_useful_bytes = after.load_useful_bytes = 128000;
  EXPECT_EQ(what_moved(before, after), "load sectors 8.0x fewer, bytes used 12 % -> 100 %");
  EXPECT_EQ(what_moved(before, before), "nothing that is counted here");
}

TEST(Tables, AlignColumnsAndLetTheLastCellRunOn) {
  Table table({{"a", Align::left}, {"two\nlines"}, {"c"}});
  table.add({"x", "1", "22"});
  table.add({"long", "a sentence over all columns"});
  std::ostringstream out;
  table.print(out);
  EXPECT_EQ(out.str(),
            "        two\n"
            "a     lines   c\n"
            "---------------\n"
            "x         1  22\n"
            "long  a sentence over all columns\n");
}

TEST(Layers, RejectMalformedTables) {
  EXPECT_EQ(layer_named("L5").prob, parse_conv2d("n128c384h13w13_k384r3s3"));
  EXPECT_EQ(yardstick_layers().size(), 13u);
  EXPECT_THROW(yardstick_layers({"L55"}), Error);
  EXPECT_THROW(parse_layers("set,name\na,b,c\n"), Error);
  EXPECT_THROW(parse_layers("set,name,pad_h,pad_w,N\na,b,1,x,1\n"), Error);
}

}  // namespace
}  // namespace sevenloops::testing
