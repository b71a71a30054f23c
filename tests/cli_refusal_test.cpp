// Bad input: the command line says one sentence, exits with 2, writes nothing, and never crashes.

#include <gtest/gtest.h>

#include <ostream>

#include "gpu/conv2d/stages.hpp"
#include "gpu/device_buffer.hpp"
#include "reference/core/npy.hpp"
#include "tests/support/program.hpp"

namespace sevenloops::testing {
namespace {

struct Case {
  std::string name;
  std::string arguments;               // separated by blanks
  std::vector<std::string> fragments;  // what the sentence must contain
  std::size_t lines = 1;               // 3 where a position is marked
};

std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.arguments; }

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// The first stage with its last letter lost, and with it whole.
std::string first_stage() { return conv2d_stages(Build::plain)[0]->name; }
std::string mistyped_stage() { return first_stage().substr(0, first_stage().size() - 1); }

Tensor<float> ones(const Extents& extents) {
  Tensor<float> tensor(extents);
  for (float& element : tensor.buffer()) element = 1;
  return tensor;
}

// Good and bad files of every kind.
void write_files(const std::filesystem::path& folder) {
  const auto good = [&](const char* name, const Extents& extents, int rank = 4) {
    const Tensor<float> tensor = ones(extents);
    write_npy(folder / name, tensor.view(), rank);
  };
  good("x.npy", {2, 4, 7, 6});
  good("w.npy", {6, 4, 3, 2});
  good("w_grouped.npy", {6, 2, 3, 2});
  good("w_five.npy", {5, 2, 3, 2});
  good("w_tall.npy", {6, 4, 9, 2});
  good("w_other.npy", {6, 3, 3, 2});
  good("dy.npy", {2, 6, 5, 5});
  good("b.npy", {1, 1, 1, 6}, 1);
  good("b_short.npy", {1, 1, 1, 5}, 1);
  good("y.npy", {2, 6, 5, 5});
  good("y_short.npy", {2, 6, 5, 4});
  good("rank3.npy", {1, 4, 7, 6}, 3);
  Tensor<double> wide({2, 4, 7, 6});
  write_npy(folder / "f8.npy", std::as_const(wide).view());
  const auto bad = [&](const char* name, const char* dictionary, std::size_t bytes) {
    write_text(folder / name, npy_bytes(dictionary, bytes));
  };
  bad("truncated.npy", "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4, 7, 6), }", 1000);
  bad("fortran.npy", "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 4, 7, 6), }", 1344);
  bad("big.npy", "{'descr': '>f4', 'fortran_order': False, 'shape': (2, 4, 7, 6), }", 1344);
  bad("integers.npy", "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 4, 7, 6), }", 1344);
  bad("pickled.npy", "{'descr': '|O', 'fortran_order': False, 'shape': (2, 4, 7, 6), }", 1344);
  bad("half_x.npy", "{'descr': '<f2', 'fortran_order': False, 'shape': (2, 4, 7, 6), }", 672);
  bad("half_w.npy", "{'descr': '<f2', 'fortran_order': False, 'shape': (6, 4, 3, 2), }", 288);
  bad("no_channels.npy", "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 0, 7, 6), }", 0);
  bad("negative.npy", "{'descr': '<f4', 'fortran_order': False, 'shape': (2, -4, 7, 6), }", 1344);
  bad("overflow.npy",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 7, 6), }", 64);
  bad("huge.npy", "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4, 700000, 600000), }",
      64);
  write_text(folder / "text.npy", "not numbers\n");
  std::filesystem::create_directory(folder / "folder");
}

std::vector<Case> cases() {
  const std::string run = "run conv2d --out out.npy ";
  const std::string data = "run conv2d-backward-data --out out.npy ";
  const std::string filter = "run conv2d-backward-filter --out out.npy ";
  const std::string problem = "compare conv2d --json out.json --problem ";
  const std::string check = "check conv2d --problem ";
  return {
      // Names.
      {"compare_stage", "compare conv2d --stages " + mistyped_stage(), {"stage", first_stage()}},
      {"check_stage", "check conv2d --stage " + mistyped_stage(), {"stage", first_stage()}},
      {"run_stage", run + "--x x.npy --w w.npy --stage " + mistyped_stage(), {first_stage()}},
      {"layer", "compare conv2d --layer L55", {"L55", "nearest", "L5"}},
      {"layer_in_set", "compare conv2d --layer resnet50/conv4x3x3", {"ResNet50/conv4_x_3x3"}},
      {"layer_ambiguous", "compare conv2d --layer conv1", {"several sets", "ResNet50/conv1"}},
      {"layer_set", "list --set ResNet", {"--set", "ResNet"}},
      {"primitive", "compare conv3d", {"conv3d", "conv2d"}},
      {"command", "comprae conv2d", {"comprae", "compare"}},
      {"run_command", "run conv2d-backwards-data", {"conv2d-backward-data"}},
      {"no_command", "", {"compare", "check", "run", "list"}},
      {"no_direction", "run", {"conv2d-backward-filter"}},
      {"option", "compare conv2d --stages-of a", {"--stages-of", "nearest", "--stages"}},
      {"no_value", "compare conv2d --layer", {"--layer", "with a value"}},
      {"twice", "compare conv2d --layer L5 --layer L1", {"--layer", "once"}},
      {"no_primitive", "compare", {"primitive", "required"}},
      {"layer_and_problem", "compare conv2d --layer L5 --problem n1c1h1w1_k1r1s1", {"--problem"}},
      {"by", problem + "n1c1h3w3_k1r1s1 --by column", {"--by", "column"}},
      {"check_only", check + "n1c1h3w3_k1r1s1 --only integrs", {"integrs", "exact", "orders"}},
      {"layout", problem + "n1c1h3w3_k1r1s1 --layout nhcw", {"nhcw", "nhwc"}},
      {"place", problem + "n1c1h3w3_k1r1s1 --on cuda", {"cuda"}},
      {"seed", problem + "n1c1h3w3_k1r1s1 --seed x", {"--seed", "x"}},
      {"seed_negative", problem + "n1c1h3w3_k1r1s1 --seed -1", {"--seed", "-1"}},
      {"batch", problem + "n1c1h3w3_k1r1s1 --batch -3", {"--batch", "-3"}},
      {"sample", problem + "n1c1h3w3_k1r1s1 --sample many", {"--sample", "many"}},
      // Problems.
      {"text", problem + "n1c2h3q4_k1r1s1", {"position 7", "expected \"w\"", "^"}, 3},
      {"text_end", problem + "n1c2", {"position 5", "^"}, 3},
      {"text_empty_option", problem + "n1c2h3w4_k1r1s1_", {"position", "^"}, 3},
      {"output_zero", problem + "n1c2h3w9_k1r4s1", {"P would be zero or negative"}},
      {"output_negative", check + "n1c2h9w3_k1r1s3_d1x9", {"Q would be zero or negative"}},
      {"groups", problem + "n1c4h5w5_k6r3s3_g4", {"groups", "4", "divide K"}},
      {"zero_extent", problem + "n1c0h5w5_k6r3s3", {"C is 0", "at least 1"}},
      {"zero_filter", problem + "n1c1h5w5_k6r0s3", {"R is 0", "at least 1"}},
      {"zero_stride", problem + "n1c1h5w5_k6r3s3_u0", {"stride_h is 0"}},
      {"negative", problem + "n-1c1h5w5_k6r3s3", {"expected a number", "^"}, 3},
      {"overflow", problem + "n1c4294967296h4294967296w4294967296_k1r1s1", {"64 bits"}},
      {"overflow_number", problem + "n1c99999999999999999999h1w1_k1r1s1", {"64 bits", "^"}, 3},
      {"memory",
       problem + "n1c1000h100000w100000_k1000r3s3",
       {"memory", "available", "iB of memory"}},
      {"memory_check", check + "n1c1000h100000w100000_k1000r3s3", {"memory", "available"}},
      {"dtype", problem + "n1c2h3w4_k1r1s1_f16", {"f16", "f32 or f64"}},
      // Files.
      {"missing", run + "--x none.npy --w w.npy", {"none.npy", "does not exist"}},
      {"folder", run + "--x folder --w w.npy", {"folder", "is not a file"}},
      {"text_file", run + "--x text.npy --w w.npy", {"text.npy is not an .npy file"}},
      {"truncated", run + "--x truncated.npy --w w.npy", {"truncated", "1344", "1000"}},
      {"rank", run + "--x rank3.npy --w w.npy", {"rank3.npy", "3 axes", "4"}},
      {"rank_bias", run + "--x x.npy --w w.npy --b w.npy", {"w.npy", "4 axes", "1"}},
      {"integers", run + "--x integers.npy --w w.npy", {"<i4", "<f4"}},
      {"mixed", run + "--x x.npy --w f8.npy", {"f8.npy", "f64", "f32"}},
      {"fortran", run + "--x fortran.npy --w w.npy", {"Fortran", "C order"}},
      {"big_endian", run + "--x big.npy --w w.npy", {"big-endian", "little-endian"}},
      {"pickled", run + "--x pickled.npy --w w.npy", {"pickled"}},
      {"no_channels", run + "--x no_channels.npy --w w.npy", {"C is 0"}},
      {"negative_shape", run + "--x negative.npy --w w.npy", {"negative"}},
      {"overflow_shape", run + "--x overflow.npy --w w.npy", {"64 bits"}},
      {"huge_shape", run + "--x huge.npy --w w.npy", {"truncated"}},
      {"compare_missing", "compare conv2d --x none.npy --w w.npy", {"none.npy"}},
      {"compare_half", "compare conv2d --x half_x.npy --w half_w.npy", {"f16", "reference"}},
      {"run_half", run + "--x half_x.npy --w half_w.npy --stage " + first_stage(), {"f16"}},
      {"lone_x", "compare conv2d --x x.npy", {"--w"}},
      {"lone_pad", "compare conv2d --pad 1", {"--pad", "--x"}},
      // Shapes and parameters.
      {"shapes", run + "--x x.npy --w w_other.npy", {"shape of w", "6 x 3 x 3 x 2", "6 x 4"}},
      {"shapes_groups", run + "--x x.npy --w w_five.npy --groups 2", {"groups", "divide K = 5"}},
      {"filter_too_tall", run + "--x x.npy --w w_tall.npy", {"P would be zero or negative"}},
      {"bias", run + "--x x.npy --w w.npy --b b_short.npy", {"--b", "5", "K = 6"}},
      {"beta_alone", run + "--x x.npy --w w.npy --beta 1", {"--beta", "--y"}},
      {"old_shape", run + "--x x.npy --w w.npy --beta 1 --y y_short.npy", {"--y", "2 x 6 x 5 x 5"}},
      {"pad", run + "--x x.npy --w w.npy --pad 1,2,3", {"--pad", "1, 2 or 4 values"}},
      {"pad_text", run + "--x x.npy --w w.npy --pad one", {"--pad", "one", "integers"}},
      {"pad_end", run + "--x x.npy --w w.npy --pad 1,", {"--pad", "1,"}},
      {"pad_negative", run + "--x x.npy --w w.npy --pad -1", {"pad_top is -1"}},
      {"stride", run + "--x x.npy --w w.npy --stride 0", {"stride_h is 0"}},
      {"groups_zero", run + "--x x.npy --w w.npy --groups 0", {"groups is 0"}},
      {"mode", run + "--x x.npy --w w.npy --mode corr", {"corr", "xcorr"}},
      {"alpha", run + "--x x.npy --w w.npy --alpha 1,5", {"--alpha", "1,5", "number"}},
      {"input_size", data + "--dy dy.npy --w w.npy --input-size 9,9", {"--dy", "2 x 6 x 7 x 8"}},
      {"input_sizes", data + "--dy dy.npy --w w.npy --input-size 7", {"--input-size", "2 values"}},
      {"input_zero", data + "--dy dy.npy --w w.npy --input-size 0,6", {"H is 0"}},
      {"filter_size", filter + "--x x.npy --dy dy.npy --filter-size 2,2", {"--dy"}},
      {"filter_groups", filter + "--x x.npy --dy dy.npy --filter-size 3,2 --groups 3", {"groups"}},
      {"filter_groups_zero",
       filter + "--x x.npy --dy dy.npy --filter-size 3,2 --groups 0",
       {"--groups is 0"}},
      {"gradient_stage",
       data + "--dy dy.npy --w w.npy --input-size 7,6 --stage " + first_stage(),
       {"reference"}},
      // Outputs.
      {"out_missing", "run conv2d --x x.npy --w w.npy", {"--out", "required"}},
      {"out_folder", "run conv2d --x x.npy --w w.npy --out folder", {"folder", "not a file"}},
      {"out_nowhere", "run conv2d --x x.npy --w w.npy --out no/y.npy", {"no/y.npy", "written"}},
      {"out_device", "run conv2d --x x.npy --w w.npy --out /dev/null", {"/dev/null", "not a file"}},
      {"json_nowhere", "compare conv2d --json no/out.json", {"no/out.json", "written"}},
  };
}

class Refusal : public ::testing::TestWithParam<Case> {};

TEST_P(Refusal, IsOneSentence) {
  const TemporaryFolder folder;
  write_files(folder.path());
  const std::vector<std::string> before = folder.files();
  const Outcome outcome =
      run_program(SEVENLOOPS_PROGRAM, words_of(GetParam().arguments), folder.path());
  EXPECT_EQ(outcome.code, 2) << outcome.out << outcome.error;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(lines_of(outcome.error).size(), GetParam().lines) << outcome.error;
  EXPECT_EQ(outcome.error.rfind("sevenloops: ", 0), 0u) << outcome.error;
  EXPECT_EQ(outcome.error.find("Usage"), std::string::npos) << outcome.error;
  for (const std::string& fragment : GetParam().fragments) {
    EXPECT_NE(outcome.error.find(fragment), std::string::npos)
        << "\"" << fragment << "\" is not in: " << outcome.error;
  }
  EXPECT_EQ(folder.files(), before) << "something was written";
}

INSTANTIATE_TEST_SUITE_P(All, Refusal, ::testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.name; });

TEST(RefusalOfPlaces, AGpuThatIsNotThere) {
  const char* why = "";
  if (gpu_available(&why)) GTEST_SKIP() << "there is a GPU here";
  const TemporaryFolder folder;
  write_files(folder.path());
  for (const char* arguments : {"compare conv2d --on gpu", "check conv2d --on gpu",
                                "compare conv2d --x x.npy --w w.npy --on gpu",
                                "run conv2d --x x.npy --w w.npy --on gpu --out out.npy"}) {
    const Outcome outcome = run_program(SEVENLOOPS_PROGRAM, words_of(arguments), folder.path());
    EXPECT_EQ(outcome.code, 2) << arguments;
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.error.find(why), std::string::npos) << outcome.error;
    EXPECT_EQ(lines_of(outcome.error).size(), 1u) << outcome.error;
  }
}

TEST(RefusalOfPlaces, AGpuWithTooLittleMemory) {
  if (!gpu_available()) GTEST_SKIP() << "there is no GPU here";
  const TemporaryFolder folder;
  const Outcome outcome = run_program(
      SEVENLOOPS_PROGRAM,
      words_of("compare conv2d --on gpu --problem n1c1000h100000w100000_k1000r3s3"), folder.path());
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.error.find("memory"), std::string::npos) << outcome.error;
}

}  // namespace
}  // namespace sevenloops::testing
