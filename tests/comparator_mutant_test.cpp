// Who checks the comparison: results that are wrong in one way each must fail.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <iomanip>
#include <iostream>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/judged_sample.hpp"

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

}  // namespace
}  // namespace sevenloops
