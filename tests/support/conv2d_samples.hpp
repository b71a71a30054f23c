#pragma once
// Problems and data for the tests of the definition. Deliberately apart from the data generators
// that the stages are checked with.

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <sstream>
#include <vector>

#include "reference/conv2d/conv2d.hpp"

namespace sevenloops::testing {

/// Hand-picked problems, one for each way in which an index can go wrong, and `random_count` random
/// ones that are the same on every run and every machine.
std::vector<Conv2dProblem> sample_problems(int random_count);

/// A small random problem: all extents, pads, strides, dilations, groups and the mode vary.
Conv2dProblem random_problem(std::mt19937& generator);

/// Uniform integers in [-limit, limit].
Tensor<double> integers(const Extents& extents, unsigned seed, int limit = 5);

/// Every element mapped by f.
template <typename F>
Tensor<double> mapped(Tensor<double> tensor, F&& f) {
  for (double& element : tensor.buffer()) element = f(element);
  return tensor;
}

/// a u + b v, element by element.
Tensor<double> combined(double a, const Tensor<double>& u, double b, const Tensor<double>& v);

/// The part of `view` that starts at `begin`. An empty tensor has no memory to point into.
inline TensorView<const double> part(TensorView<const double> view, const Extents& begin,
                                     const Extents& extents) {
  const std::int64_t offset = view.offset(begin[0], begin[1], begin[2], begin[3]);
  return {view.data == nullptr ? nullptr : view.data + offset, extents, view.strides};
}

inline TensorView<const double> const_view(const Tensor<double>& tensor) { return tensor.view(); }

/// The same elements in other strides; the gaps hold NaN.
Tensor<double> restrided(TensorView<const double> view, const Strides& strides);

/// Are two tensors equal, element by element? NaN equals NaN; +0 and -0 are told apart.
template <typename T>
::testing::AssertionResult equal(TensorView<const T> got, TensorView<const T> expected) {
  if (got.extents != expected.extents) {
    return ::testing::AssertionFailure() << "the shapes differ";
  }
  ::testing::AssertionResult result = ::testing::AssertionSuccess();
  for_each_index(got.extents, [&](auto n, auto c, auto h, auto w) {
    const auto a = got(n, c, h, w), b = expected(n, c, h, w);
    bool same = a == b;
    if constexpr (std::is_floating_point_v<T>) {
      same = (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
    }
    if (!same && result) {
      result = ::testing::AssertionFailure() << "element " << n << ", " << c << ", " << h << ", "
                                             << w << " is " << a << ", expected " << b;
    }
  });
  return result;
}

template <typename T>
::testing::AssertionResult equal(const Tensor<T>& got, const Tensor<T>& expected) {
  return equal(got.view(), expected.view());
}

/// sum of a * b over all elements.
inline double inner_product(const Tensor<double>& a, const Tensor<double>& b) {
  double sum = 0;
  for_each_index(a.extents(),
                 [&](auto n, auto c, auto h, auto w) { sum += a(n, c, h, w) * b(n, c, h, w); });
  return sum;
}

}  // namespace sevenloops::testing
