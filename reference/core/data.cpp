#include "reference/core/data.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/core/numerics.hpp"

namespace sevenloops {
namespace {

constexpr std::uint64_t kGoldenGamma = 0x9E3779B97F4A7C15u;

std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

// tensor(...) = value(index), index counting in logical order.
template <typename T, typename Value>
void fill(TensorView<T> tensor, Value value) {
  std::int64_t index = 0;
  for_each_index(tensor.extents, [&](auto n, auto c, auto h, auto w) {
    tensor(n, c, h, w) = round_to<T>(value(index++));
  });
}

std::int64_t row_length(const Extents& e) { return e[1] * e[2] * e[3]; }

double nonzero_integer(std::uint64_t bits, std::int64_t largest) {
  const auto magnitude = static_cast<double>(1 + (bits >> 1) % static_cast<std::uint64_t>(largest));
  return bits & 1 ? -magnitude : magnitude;
}

double uniform(std::uint64_t bits, int significant_bits) {
  return std::ldexp(static_cast<double>(bits >> (64 - significant_bits)), 1 - significant_bits) - 1;
}

// Binary digits behind the point; 9 when there are more than 8.
int fraction_digits(double value) {
  int digits = 0;
  while (digits <= 8 && std::ldexp(value, digits) != std::floor(std::ldexp(value, digits))) {
    ++digits;
  }
  return digits;
}

// A chance of `chance` in 2^32, from the upper half of `bits`.
bool happens(std::uint64_t bits, double chance) {
  return static_cast<double>(bits >> 32) < std::ldexp(chance, 32);
}

double with_sign(std::uint64_t bits, double magnitude) { return bits & 1 ? -magnitude : magnitude; }

}  // namespace

std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
  return mixed(mixed(seed) + (index + 1) * kGoldenGamma);
}

std::uint64_t split_seed(std::uint64_t seed, std::uint64_t stream) {
  return random_bits(~seed, stream);
}

ExactRange exact_range(Dtype storage, Dtype accumulate, std::int64_t taps, double alpha,
                       double beta) {
  const int digits = std::max(fraction_digits(alpha), fraction_digits(beta));
  if (!std::isfinite(alpha) || !std::isfinite(beta) || digits > 8) return {};
  const int bits = significant_bits(accumulate);
  const auto limit = static_cast<double>(max_exact_integer(accumulate));
  // 16 for fp32 leaves room for 65,536 taps; 65,536 for fp64 shows sums formed in fp32.
  const std::int64_t range = bits >= 53 ? 1 << 16 : bits >= 24 ? 16 : bits >= 11 ? 4 : 2;
  const std::int64_t largest = std::min(range, max_exact_integer(storage));
  const auto m = static_cast<double>(largest);
  // The sum itself must be exact, and so must its scaled value.
  const double scale = std::max(1.0, std::abs(alpha));
  const double room = (std::ldexp(limit, -digits) - std::abs(beta) * m) / (scale * m * m);
  if (!(room >= 1)) return {};
  return {largest, std::min(taps, static_cast<std::int64_t>(room))};
}

template <typename T>
void fill_exact(TensorView<T> tensor, std::uint64_t seed, std::int64_t largest) {
  fill(tensor, [=](std::int64_t i) { return nonzero_integer(random_bits(seed, i), largest); });
}

template <typename T>
void fill_exact_sparse(TensorView<T> tensor, std::uint64_t seed, std::int64_t largest,
                       std::int64_t nonzero) {
  const std::int64_t length = row_length(tensor.extents);
  if (nonzero >= length) return fill_exact(tensor, seed, largest);
  const std::uint64_t place_seed = split_seed(seed, 0);
  // The row is cut into `nonzero` pieces of nearly equal length; one element of each is chosen.
  fill(tensor, [=](std::int64_t i) {
    const std::int64_t row = i / length, place = i % length;
    const auto piece_begin = [&](std::int64_t piece) {
      return static_cast<std::int64_t>(static_cast<__int128>(piece) * length / nonzero);
    };
    auto piece = static_cast<std::int64_t>(static_cast<__int128>(place) * nonzero / length);
    while (piece_begin(piece + 1) <= place) ++piece;
    const std::int64_t begin = piece_begin(piece), end = piece_begin(piece + 1);
    const std::uint64_t chosen = random_bits(place_seed, row * nonzero + piece);
    if (place - begin != static_cast<std::int64_t>(chosen % (end - begin))) return 0.0;
    return nonzero_integer(random_bits(seed, i), largest);
  });
}

template <typename T>
void fill_real(TensorView<T> tensor, std::uint64_t seed) {
  fill(tensor, [=](std::int64_t i) {
    return uniform(random_bits(seed, i), StorageType<T>::significant_bits);
  });
}

template <typename T>
void fill_adversarial(TensorView<T> tensor, std::uint64_t seed, const AdversarialRange& range) {
  using Limits = std::numeric_limits<T>;
  const std::int64_t length = std::max<std::int64_t>(1, row_length(tensor.extents));
  const int sum_exponent = range.accumulate == Dtype::f64   ? 1023
                           : range.accumulate == Dtype::f16 ? 15
                                                            : 127;
  const int taps_exponent = std::ilogb(static_cast<double>(std::max<std::int64_t>(1, range.taps)));
  // taps * 2^exponent * 2^exponent <= 2^(sum_exponent - 1), and T holds 2^exponent.
  const int storage_exponent = std::ilogb(static_cast<double>(Limits::max()));
  const int exponent = std::min((sum_exponent - 2 - taps_exponent) / 2, storage_exponent - 1);
  const double subnormal = std::ldexp(1.0, StorageType<T>::smallest_exponent);
  const auto normal = static_cast<double>(Limits::min());
  const double extremes[] = {0.0,    subnormal, 3 * subnormal, normal / 2,
                             normal, 1.0,       1.0,           std::ldexp(1.0, exponent)};

  const auto with_non_finite = [=](std::int64_t i) {
    const std::uint64_t bits = random_bits(seed, i);
    // Two operands: half a special value a sum together.
    const bool special =
        happens(bits, 0.25 / static_cast<double>(std::max<std::int64_t>(1, range.taps)));
    const double infinity = std::numeric_limits<double>::infinity();
    if (!special) return uniform(random_bits(~seed, i), StorageType<T>::significant_bits);
    return bits % 3 == 0   ? std::numeric_limits<double>::quiet_NaN()
           : bits % 3 == 1 ? infinity
                           : -infinity;
  };
  const auto extreme = [=](std::int64_t i) {
    const std::uint64_t bits = random_bits(seed, i);
    return with_sign(bits, extremes[(bits >> 1) % 8]);
  };
  const auto one_hot = [=](std::int64_t i) {
    const std::uint64_t row_bits = random_bits(split_seed(seed, 1), i / length);
    const bool hot = i % length == static_cast<std::int64_t>(row_bits % length);
    return hot ? 1.0 : with_sign(random_bits(seed, i), 0.0);
  };
  fill(tensor, [&](std::int64_t i) {
    switch ((static_cast<std::uint64_t>(i / length) + seed % 3) % 3) {
      case 0:
        return with_non_finite(i);
      case 1:
        return extreme(i);
      default:
        return one_hot(i);
    }
  });
}

#define SEVENLOOPS_DATA(T)                                                                   \
  template void fill_exact(TensorView<T>, std::uint64_t, std::int64_t);                      \
  template void fill_exact_sparse(TensorView<T>, std::uint64_t, std::int64_t, std::int64_t); \
  template void fill_real(TensorView<T>, std::uint64_t);                                     \
  template void fill_adversarial(TensorView<T>, std::uint64_t, const AdversarialRange&);
SEVENLOOPS_DATA(double)
SEVENLOOPS_DATA(float)
SEVENLOOPS_DATA(Half)
SEVENLOOPS_DATA(Bfloat16)
#undef SEVENLOOPS_DATA

}  // namespace sevenloops
