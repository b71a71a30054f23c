// Who checks the comparison: results that are wrong in one way each must fail.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <iomanip>
#include <iostream>
#include <limits>
#include <list>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/judged_sample.hpp"
#include "tests/support/transform_convolutions.hpp"

namespace sevenloops {
namespace {

using Sample = testing::JudgedSample;

// A wrong result made from a right one.
struct Mutant {
  const char* name;
  std::function<Tensor<float>(const Sample&)> wrong;
  bool seen_bitwise = true, seen_by_twin = true, seen_by_bound = true;
};

// The result with element (1, 2, 3, 4) changed.
Tensor<float> with_element(const Sample& sample, const std::function<float(float)>& change) {
  Tensor<float> y = sample.y;
  y(1, 2, 3, 4) = change(y(1, 2, 3, 4));
  return y;
}

std::vector<Mutant> mutants() {
  const auto element = [](std::function<float(float)> change) {
    return [=](const Sample& sample) { return with_element(sample, change); };
  };
  const auto bytes = [](unsigned char byte) {
    return [=](float) {
      float value;
      std::memset(&value, byte, sizeof value);
      return value;
    };
  };
  return {
      {"nan", element([](float) { return std::nanf(""); })},
      {"infinity", element([](float) { return std::numeric_limits<float>::infinity(); })},
      {"one unit up", element([](float v) { return std::nextafter(v, 1e9f); }), true, true, false},
      {"one unit down", element([](float v) { return std::nextafter(v, -1e9f); }), true, true,
       false},
      {"negated", element([](float v) { return -v; })},
      {"unwritten after 0xff", element(bytes(0xFF))},
      {"unwritten after 0x00", element(bytes(0x00))},
      {"tap dropped",
       [](const Sample& sample) {
         Tensor<float> w = sample.w;
         w(2, 4, 2, 1) = 0;
         return sample.computed(sample.x, w);
       }},
      {"input channels swapped",
       [](const Sample& sample) {
         Tensor<float> x = sample.x;
         for (int h = 0; h < 7; ++h)
           for (int w = 0; w < 9; ++w) std::swap(x(0, 1, h, w), x(0, 3, h, w));
         return sample.computed(x, sample.w);
       }},
      {"output channels swapped",
       [](const Sample& sample) {
         Tensor<float> y = sample.y;
         for (int p = 0; p < 7; ++p)
           for (int q = 0; q < 8; ++q) std::swap(y(1, 0, p, q), y(1, 3, p, q));
         return y;
       }},
      {"columns shifted",
       [](const Sample& sample) {
         Tensor<float> y = sample.y;
         for (int q = 0; q < 7; ++q) y(0, 0, 6, q) = sample.y(0, 0, 6, q + 1);
         return y;
       }},
      {"constant",
       [](const Sample& sample) {
         Tensor<float> y = sample.y;
         y.buffer().assign(y.buffer().size(), y(0, 0, 0, 0));
         return y;
       }},
      {"all zero", [](const Sample& sample) { return Tensor<float>(y_extents(sample.prob)); }},
      {"everything doubled",
       [](const Sample& sample) {
         Tensor<float> y = sample.y;
         for (float& v : y.buffer()) v *= 2;
         return y;
       }},
      {"wrong shape",
       [](const Sample&) {
         return Tensor<float>(Extents{2, 4, 7, 7});
       }},
      {"batch missing",
       [](const Sample&) {
         return Tensor<float>(Extents{0, 4, 7, 8});
       }},
  };
}

const char* answer(const Agreement& agreement) { return agreement.pass ? "passes" : "caught"; }

TEST(ComparatorMutants, AreCaught) {
  const Sample exact(true), real(false);
  ASSERT_TRUE(exact.bitwise(exact.y).pass && exact.bitwise(exact.y).bitwise);
  ASSERT_TRUE(real.twin(real.y).pass && real.bound(real.y).pass);
  std::cout << std::left << std::setw(26) << "wrong result" << std::setw(14) << "exact data"
            << std::setw(14) << "twin"
            << "derived bound\n";
  for (const Mutant& mutant : mutants()) {
    SCOPED_TRACE(mutant.name);
    const Agreement bitwise = exact.bitwise(mutant.wrong(exact));
    const Agreement twin = real.twin(mutant.wrong(real));
    const Agreement bound = real.bound(mutant.wrong(real));
    std::cout << std::setw(26) << mutant.name << std::setw(14) << answer(bitwise) << std::setw(14)
              << answer(twin) << answer(bound) << '\n';
    EXPECT_EQ(bitwise.pass, !mutant.seen_bitwise);
    EXPECT_EQ(twin.pass, !mutant.seen_by_twin);
    EXPECT_EQ(bound.pass, !mutant.seen_by_bound) << bound.worst_bound_fraction;
    EXPECT_FALSE(bitwise.bitwise || twin.bitwise || bound.bitwise);
    for (const Agreement* agreement : {&bitwise, &twin, &bound}) {
      EXPECT_EQ(agreement->failure.empty(), agreement->pass);
    }
  }
}

// What a transform algorithm computes, and what is right there.
struct TransformSample {
  Algorithm algorithm;
  DataKind kind;
  Conv2dOperands<float> on;
  Judge<float> judge;
  Tensor<float> y;

  // Exact data are those on which the algorithm is exact, where there are any.
  TransformSample(Algorithm used, DataKind data)
      : algorithm(used),
        kind(data),
        on(used == Algorithm::winograd_4x4 && kind == DataKind::exact
               ? testing::operands_exact_for_4x4<float>(problem(), Layout::nchw, 5)
               : make_operands<float>(problem(), Layout::nchw, kind, 5)),
        judge(on, kind),
        y(testing::transform_convolution(on, used)) {}

  Agreement agreement(const Tensor<float>& got) const {
    return judge.judge(got, Promises{.algorithm = algorithm, .padding = Padding::multiplied});
  }

  static Conv2dProblem problem() { return parse_conv2d("n2c5h9w10_k4r3s3_p1x0"); }  // y: 9 x 8
};

struct TransformMutant {
  const char* name;
  std::function<Tensor<float>(const TransformSample&)> wrong;
  bool seen_by_bound = true;
};

// The result with what is computed from changed operands.
Tensor<float> recomputed(const TransformSample& sample,
                         const std::function<void(Conv2dOperands<float>&)>& change) {
  Conv2dOperands<float> on = sample.on;
  change(on);
  return testing::transform_convolution(on, sample.algorithm);
}

std::vector<TransformMutant> transform_mutants() {
  const auto changed = [](std::function<void(Tensor<float>&)> change) {
    return [=](const TransformSample& sample) {
      Tensor<float> y = sample.y;
      change(y);
      return y;
    };
  };
  // The last element of image 1, filter 2, in a tile that hangs over the border.
  const auto element = [=](std::function<float(float)> change) {
    return changed([=](Tensor<float>& y) { y(1, 2, 8, 7) = change(y(1, 2, 8, 7)); });
  };
  return {
      {"nan", element([](float) { return std::nanf(""); })},
      {"infinity", element([](float) { return std::numeric_limits<float>::infinity(); })},
      {"one unit up", element([](float v) { return std::nextafter(v, 1e9f); }), false},
      {"off by a thousandth", element([](float v) { return v * 1.001f; })},
      {"negated", element([](float v) { return -v; })},
      {"zero", element([](float) { return 0.0f; })},
      {"tap dropped",
       [](const TransformSample& sample) {
         return recomputed(sample, [](Conv2dOperands<float>& on) {
           for (int c = 0; c < 5; ++c) on.w(2, c, 2, 1) = 0;
         });
       }},
      {"channel dropped",
       [](const TransformSample& sample) {
         return recomputed(sample, [](Conv2dOperands<float>& on) {
           for (int h = 0; h < 9; ++h)
             for (int w = 0; w < 10; ++w) on.x(1, 4, h, w) = 0;
         });
       }},
      {"filter not rotated",
       [](const TransformSample& sample) {
         return recomputed(sample,
                           [](Conv2dOperands<float>& on) { on.prob.mode = ConvMode::convolution; });
       }},
      {"corner of a tile wrong",  // of 2 x 2 and of 4 x 4 alike
       changed([](Tensor<float>& y) { y(1, 2, 7, 7) = y(1, 2, 7, 6); })},
      {"tile unwritten", changed([](Tensor<float>& y) {
         for (int p = 4; p < 8; ++p)
           for (int q = 4; q < 8; ++q) y(0, 3, p, q) = std::nanf("");
       })},
      {"tiles swapped", changed([](Tensor<float>& y) {
         for (int p = 0; p < 4; ++p)
           for (int q = 0; q < 4; ++q) std::swap(y(0, 3, p, q), y(0, 3, p + 4, q));
       })},
      {"images swapped",
       changed([](Tensor<float>& y) { std::swap(y(0, 0, 3, 3), y(1, 0, 3, 3)); })},
      {"everything doubled", changed([](Tensor<float>& y) {
         for (float& v : y.buffer()) v *= 2;
       })},
      {"not divided by 576", changed([](Tensor<float>& y) {
         for (float& v : y.buffer()) v *= 576;
       })},
  };
}

TEST(ComparatorMutants, OfTransformsAreCaught) {
  const std::pair<const char*, Algorithm> algorithms[] = {{"F(2x2)", Algorithm::winograd_2x2},
                                                          {"F(4x4)", Algorithm::winograd_4x4},
                                                          {"Fourier", Algorithm::fourier}};
  std::cout << std::left << std::setw(26) << "wrong result";
  for (const auto& [name, algorithm] : algorithms) {
    std::cout << std::setw(20) << std::string(name) + " on integers" << std::setw(16)
              << "on real data";
  }
  std::cout << '\n';
  std::list<TransformSample> samples;  // in place: judges point into them
  for (const auto& [name, algorithm] : algorithms) {
    for (const DataKind kind : {DataKind::exact, DataKind::real}) {
      samples.emplace_back(algorithm, kind);
      const Agreement right = samples.back().agreement(samples.back().y);
      ASSERT_TRUE(right.pass) << name << ": " << right.failure;
    }
  }
  for (const TransformMutant& mutant : transform_mutants()) {
    SCOPED_TRACE(mutant.name);
    std::cout << std::setw(26) << mutant.name;
    for (const TransformSample& sample : samples) {
      const Agreement agreement = sample.agreement(mutant.wrong(sample));
      std::cout << std::setw(sample.kind == DataKind::exact ? 20 : 16) << answer(agreement);
      const bool exact = sample.judge.exact(sample.algorithm);
      EXPECT_EQ(exact, sample.kind == DataKind::exact && sample.algorithm != Algorithm::fourier);
      EXPECT_EQ(agreement.pass, !exact && !mutant.seen_by_bound);
      EXPECT_EQ(agreement.failure.empty(), agreement.pass);
    }
    std::cout << '\n';
  }
}

}  // namespace
}  // namespace sevenloops
