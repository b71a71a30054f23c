// What a problem is: output sizes, what is refused, and the text form.

#include "reference/conv2d/problem.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "reference/core/error.hpp"
#include "tests/support/conv2d_samples.hpp"

namespace sevenloops {
namespace {

using testing::sample_problems;

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

// The message of the Error that `action` throws.
template <typename Action>
std::string message_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "(nothing was thrown)";
}

TEST(OutputSize, ByHand) {
  const struct {
    const char* text;
    std::int64_t P, Q;
  } cases[] = {
      {"n1c1h1w1_k1r1s1", 1, 1},
      {"n1c1h5w7_k1r3s2", 3, 6},
      {"n1c1h5w7_k1r3s2_p1", 5, 8},
      {"n1c1h5w7_k1r3s2_p2x0", 7, 6},
      {"n1c1h5w7_k1r3s2_p1x2x3x4", 7, 12},      // 5+1+3-2, 7+2+4-1
      {"n1c1h224w224_k1r7s7_p3_u2", 112, 112},  // (224+6-7)/2 = 111.5 is cut to 111
      {"n1c1h13w4_k1r1s1_p0x1_u3x1", 5, 6},
      {"n1c1h6w14_k1r2s3_p1x2x0x3_u1x2_d1x4", 6, 6},
      {"n1c1h7w7_k1r3s3_d3", 1, 1},     // the dilated filter is exactly the input
      {"n1c1h7w8_k1r3s3_u2_d3", 1, 1},  // one column is left over
      {"n1c1h1w1_k1r3s3_p2_u2", 2, 2},
      {"n1c1h3w5_k1r7s1_p5", 7, 15},
      {"n1c1h2w2_k1r2s2_u100", 1, 1},
      {"n1c1h9w9_k1r1s1_u4", 3, 3},  // 0, 4, 8
      {"n1c1h8w8_k1r1s1_u4", 2, 2},  // 0, 4
      {"n1c1h4294967297w1_k1r2s1", 4294967296, 1},
  };
  for (const auto& hand : cases) {
    SCOPED_TRACE(hand.text);
    const Conv2dProblem prob = parse_conv2d(hand.text);
    EXPECT_EQ(prob.P(), hand.P);
    EXPECT_EQ(prob.Q(), hand.Q);
  }
}

TEST(Validate, NamesFieldValueAndRule) {
  const struct {
    Conv2dProblem prob;
    const char* message;
  } cases[] = {
      {{.N = -1}, "N is -1, but must be at least 0"},
      {{.C = 0}, "C is 0, but must be at least 1"},
      {{.H = 0, .pad_top = 1}, "H is 0, but must be at least 1"},
      {{.W = -3}, "W is -3, but must be at least 1"},
      {{.K = 0}, "K is 0, but must be at least 1"},
      {{.R = 0}, "R is 0, but must be at least 1"},
      {{.S = -1}, "S is -1, but must be at least 1"},
      {{.pad_top = -1}, "pad_top is -1, but must be at least 0"},
      {{.pad_left = -1}, "pad_left is -1, but must be at least 0"},
      {{.pad_bottom = -1}, "pad_bottom is -1, but must be at least 0"},
      {{.pad_right = -1}, "pad_right is -1, but must be at least 0"},
      {{.stride_h = 0}, "stride_h is 0, but must be at least 1"},
      {{.stride_w = -2}, "stride_w is -2, but must be at least 1"},
      {{.dilation_h = 0}, "dilation_h is 0, but must be at least 1"},
      {{.dilation_w = 0}, "dilation_w is 0, but must be at least 1"},
      {{.groups = 0}, "groups is 0, but must be at least 1"},
      {{.C = 3, .K = 2, .groups = 2}, "groups is 2, but must divide C = 3"},
      {{.C = 4, .K = 3, .groups = 2}, "groups is 2, but must divide K = 3"},
      // (1 - 3) / 3 + 1 would be 1 if it were cut towards zero.
      {{.H = 1, .R = 3, .stride_h = 3},
       "P would be zero or negative: the dilated filter covers 3, but the padded H is only 1"},
      {{.W = 5, .S = 3, .dilation_w = 3},
       "Q would be zero or negative: the dilated filter covers 7, but the padded W is only 5"},
      {{.dtype = Dtype::f64, .accumulate = Dtype::f32},
       "the accumulation type is f32, but must be at least as wide as the storage type f64"},
      {{.dtype = Dtype::f16, .accumulate = Dtype::bf16},
       "the accumulation type is bf16, but must be at least as wide as the storage type f16"},
      {{.N = kHuge, .C = 2},
       "the size of x, 9223372036854775807 x 2 x 1 x 1 elements of 4 bytes, does not fit into 64 "
       "bits"},
      {{.N = kHuge / 4 + 1},  // as many elements fit, but not as many bytes
       "the size of x, 2305843009213693952 x 1 x 1 x 1 elements of 4 bytes, does not fit into 64 "
       "bits"},
      {{.C = std::int64_t{1} << 31, .K = std::int64_t{1} << 31, .groups = 1},
       "the size of w, 2147483648 x 2147483648 x 1 x 1 elements of 4 bytes, does not fit into 64 "
       "bits"},
      {{.N = std::int64_t{1} << 40, .K = std::int64_t{1} << 22},
       "the size of y, 1099511627776 x 4194304 x 1 x 1 elements of 4 bytes, does not fit into 64 "
       "bits"},
      {{.H = kHuge, .pad_top = kHuge},
       "the padded extent or the dilated filter along H does not fit into 64 bits"},
      {{.S = kHuge, .dilation_w = kHuge},
       "the padded extent or the dilated filter along W does not fit into 64 bits"},
  };
  for (const auto& bad : cases) {
    EXPECT_EQ(message_of([&] { validate(bad.prob); }), bad.message);
  }
}

TEST(Validate, AcceptsWhatIsComputable) {
  for (const Conv2dProblem& prob : sample_problems(100)) EXPECT_NO_THROW(validate(prob));
  EXPECT_NO_THROW(validate({.N = 0}));  // an empty batch has an empty result
  EXPECT_NO_THROW(validate({.dtype = Dtype::f16, .accumulate = Dtype::f16}));
  EXPECT_NO_THROW(validate({.dtype = Dtype::bf16, .accumulate = Dtype::f64}));
}

TEST(Text, IsCanonical) {
  const struct {
    const char *text, *printed;
  } cases[] = {
      {"n2c3h7w9_k4r3s3_p1_u2_d1x2_g1_f32", "n2c3h7w9_k4r3s3_p1_u2_d1x2"},
      {"n2c3h7w9_k4r3s3", "n2c3h7w9_k4r3s3"},
      {"n02c3h7w9_k4r3s3_xcorr_p0x0x0x0", "n2c3h7w9_k4r3s3"},
      {"n2c4h7w9_k6r3s3_conv_g2_d2x1_u1x3_p1x2", "n2c4h7w9_k6r3s3_p1x2_u1x3_d2x1_g2_conv"},
      {"n2c3h7w9_k4r3s3_p1x2x1x2", "n2c3h7w9_k4r3s3_p1x2"},
      {"n2c3h7w9_k4r3s3_p1x1x1x2", "n2c3h7w9_k4r3s3_p1x1x1x2"},
      {"n1c1h1w1_k1r1s1_f64", "n1c1h1w1_k1r1s1_f64"},
      {"n1c1h1w1_k1r1s1_f64_af64", "n1c1h1w1_k1r1s1_f64"},
      {"n1c1h1w1_k1r1s1_af32_f16", "n1c1h1w1_k1r1s1_f16"},
      {"n1c1h1w1_k1r1s1_af16_f16", "n1c1h1w1_k1r1s1_f16_af16"},
      {"n1c1h1w1_k1r1s1_bf16_abf16", "n1c1h1w1_k1r1s1_bf16_abf16"},
      {"n1c1h1w1_k1r1s1_af64", "n1c1h1w1_k1r1s1_af64"},
      {"n0c1h1w1_k1r1s1", "n0c1h1w1_k1r1s1"},
  };
  for (const auto& text : cases) EXPECT_EQ(print(parse_conv2d(text.text)), text.printed);
}

TEST(Text, SaysWhatTheFieldsSay) {
  const Conv2dProblem expected{.N = 2,
                               .C = 4,
                               .H = 17,
                               .W = 19,
                               .K = 6,
                               .R = 3,
                               .S = 5,
                               .pad_top = 1,
                               .pad_left = 2,
                               .pad_bottom = 3,
                               .pad_right = 4,
                               .stride_h = 5,
                               .stride_w = 6,
                               .dilation_h = 7,
                               .dilation_w = 3,
                               .groups = 2,
                               .mode = ConvMode::convolution,
                               .dtype = Dtype::bf16,
                               .accumulate = Dtype::f64};
  EXPECT_EQ(parse_conv2d("n2c4h17w19_k6r3s5_p1x2x3x4_u5x6_d7x3_g2_conv_bf16_af64"), expected);
}

TEST(Text, ParseInvertsPrint) {
  for (Conv2dProblem prob : sample_problems(300)) {
    for (const auto& [dtype, accumulate] : {std::pair{Dtype::f32, Dtype::f32},
                                            {Dtype::f32, Dtype::f64},
                                            {Dtype::f64, Dtype::f64},
                                            {Dtype::f16, Dtype::f32},
                                            {Dtype::f16, Dtype::f16},
                                            {Dtype::bf16, Dtype::f32}}) {
      prob.dtype = dtype;
      prob.accumulate = accumulate;
      EXPECT_EQ(parse_conv2d(print(prob)), prob) << print(prob);
    }
  }
}

// The caret stands under the character that cannot be read.
TEST(Text, MarksThePosition) {
  const struct {
    const char* text;
    std::size_t position;
    const char* complaint;
  } cases[] = {
      {"", 0, "expected \"n\""},
      {"x", 0, "expected \"n\""},
      {"n", 1, "expected a number"},
      {"n-1c1h1w1_k1r1s1", 1, "expected a number"},
      {"n+1c1h1w1_k1r1s1", 1, "expected a number"},
      {"n 1c1h1w1_k1r1s1", 1, "expected a number"},
      {"n1h1c1w1_k1r1s1", 2, "expected \"c\""},
      {"n1c1h1w1", 8, "expected \"_\""},
      {"n1c1h1w1_", 9, "expected \"k\""},
      {"n1c1h1w1_k1r1s", 14, "expected a number"},
      {"n1c1h1w1_k1r1s1x", 15, "expected \"_\""},
      {"n1c1h1w1_k1r1s1_", 16, "expected p (padding)"},
      {"n1c1h1w1_k1r1s1__p1", 16, "expected p (padding)"},
      {"n1c1h1w1_k1r1s1_q1", 16, "expected p (padding)"},
      {"n1c1h1w1_k1r1s1_N1", 16, "expected p (padding)"},
      {"n1c1h1w1_k1r1s1_f33", 16, "expected p (padding)"},
      {"n1c1h1w1_k1r1s1_af", 16, "expected p (padding)"},
      {"n1c1h1w1_k1r1s1_p", 17, "expected a number"},
      {"n1c1h1w1_k1r1s1_p1x", 19, "expected a number"},
      {"n1c1h1w1_k1r1s1_p1x2x3", 17, "expected 1, 2 or 4 numbers"},
      {"n1c1h1w1_k1r1s1_p1x2x3x4x5", 17, "expected at most 4 numbers"},
      {"n1c1h1w1_k1r1s1_u1x2x3", 17, "expected 1 or 2 numbers"},
      {"n1c1h1w1_k1r1s1_d1x2x3x4", 17, "expected 1 or 2 numbers"},
      {"n1c1h1w1_k1r1s1_g1x2", 18, "expected \"_\""},
      {"n1c1h1w1_k1r1s1_p1_p1", 19, "the padding is given twice"},
      {"n1c1h1w1_k1r1s1_u1_u1", 19, "the stride is given twice"},
      {"n1c1h1w1_k1r1s1_d1_d1", 19, "the dilation is given twice"},
      {"n1c1h1w1_k1r1s1_g1_g1", 19, "the number of groups is given twice"},
      {"n1c1h1w1_k1r1s1_conv_xcorr", 21, "the mode is given twice"},
      {"n1c1h1w1_k1r1s1_f32_f64", 20, "the storage type is given twice"},
      {"n1c1h1w1_k1r1s1_af32_af32", 21, "the accumulation type is given twice"},
      {"n1c1h9223372036854775808w1_k1r1s1", 5, "the number does not fit into 64 bits"},
      {"n1c1h1w1_k1r1s1_\x01\xFF", 16, "expected p (padding)"},
  };
  for (const auto& bad : cases) {
    SCOPED_TRACE(bad.text);
    const std::string message = message_of([&] { parse_conv2d(bad.text); });
    EXPECT_NE(message.find(bad.complaint), std::string::npos) << message;
    EXPECT_NE(message.find("position " + std::to_string(bad.position + 1) + ":"), std::string::npos)
        << message;
    EXPECT_TRUE(message.ends_with("\n  " + std::string(bad.position, ' ') + "^")) << message;
  }
}

TEST(Text, ShowsAWindowOfALongText) {
  const std::string text = "n1c1h1w1_k1r1s1_" + std::string(100000, 'z');
  EXPECT_LT(message_of([&] { parse_conv2d(text); }).size(), 500u);
  const std::string zeros = "n" + std::string(100000, '0') + "1c1h1w1_k1r1s1_z";
  EXPECT_LT(message_of([&] { parse_conv2d(zeros); }).size(), 500u);
}

TEST(Text, IsValidated) {
  EXPECT_EQ(message_of([] { parse_conv2d("n1c0h1w1_k1r1s1"); }), "C is 0, but must be at least 1");
  EXPECT_EQ(message_of([] { parse_conv2d("n1c1h1w1_k1r1s1_u0"); }),
            "stride_h is 0, but must be at least 1");
}

// Whatever is typed is either a valid problem or an Error, never anything else.
TEST(Text, NothingElseEscapes) {
  const std::string text = "n2c4h17w19_k6r3s5_p1x2x3x4_u5x6_d7x3_g2_conv_bf16_af64";
  const std::string alphabet = "nchwkrspudgfabx_0123456789-. \n";
  std::mt19937 generator(1);
  for (int i = 0; i < 20000; ++i) {
    std::string mutated = text.substr(0, 1 + generator() % text.size());
    for (unsigned edits = generator() % 4; edits > 0; --edits) {
      mutated[generator() % mutated.size()] = alphabet[generator() % alphabet.size()];
    }
    try {
      const Conv2dProblem prob = parse_conv2d(mutated);
      EXPECT_EQ(parse_conv2d(print(prob)), prob) << mutated;
    } catch (const Error&) {
    }
  }
}

TEST(DirectFlops, CountsTwoForEachTap) {
  EXPECT_EQ(direct_flops(parse_conv2d("n2c6h5w7_k4r3s2_g2")), 2.0 * 2 * 4 * 3 * 6 * 3 * 3 * 2);
  EXPECT_EQ(direct_flops(parse_conv2d("n0c6h5w7_k4r3s2_g2")), 0);
  // L5 of convnet-benchmarks: 41.1 GFLOP.
  EXPECT_NEAR(direct_flops(parse_conv2d("n128c384h13w13_k384r3s3")) * 1e-9, 41.1, 0.05);
}

}  // namespace
}  // namespace sevenloops
