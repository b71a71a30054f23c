#include "reference/core/agreement.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "reference/core/numerics.hpp"

namespace sevenloops {
namespace {

// Digits that bring every value of T back.
template <typename T>
std::string text_of(double value) {
  if (std::isnan(value)) return "nan";
  char text[40];
  std::snprintf(text, sizeof text, "%.*g", sizeof(T) == 8 ? 17 : sizeof(T) == 4 ? 9 : 5, value);
  return text;
}

std::string text_of(const std::array<std::int64_t, 4>& index) {
  return "(" + std::to_string(index[0]) + ", " + std::to_string(index[1]) + ", " +
         std::to_string(index[2]) + ", " + std::to_string(index[3]) + ")";
}

// The same number or both NaN, whose payloads do not matter.
template <typename T>
bool same(T a, T b, Zeros zeros) {
  const double x = static_cast<double>(a), y = static_cast<double>(b);
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
  return x == y && (zeros == Zeros::alike || std::signbit(x) == std::signbit(y));
}

// Looks at elements one by one and remembers what the sentences need.
template <typename T>
class Comparison {
 public:
  explicit Comparison(const TensorView<const T>& got) : empty_batch_(got.extent(0) == 0) {}

  void look(const std::array<std::int64_t, 4>& index, T got, T expected, bool agrees) {
    const double got_value = static_cast<double>(got);
    const double expected_value = static_cast<double>(expected);
    ++result_.compared;
    if (!has_first_) {
      has_first_ = true;
      first_got_ = got;
      first_expected_ = expected;
    }
    got_varies_ |= !same(got, first_got_, Zeros::alike);
    expected_varies_ |= !same(expected, first_expected_, Zeros::alike);
    if (agrees) return;
    if (result_.wrong++ == 0) {
      result_.first_wrong = index;
      result_.got = got_value;
      result_.expected = expected_value;
    }
  }

  // An element that is right as far as can be said; what others are has nothing to do with it.
  void excuse() { ++result_.compared; }

  Agreement& result() { return result_; }

  // The verdict; `rule` completes "..., but must be <expected> <rule>". A result of one value for
  // different expected ones is suspect although all are right, unless `may_be_alike`.
  Agreement finish(const std::string& rule, bool may_be_alike = false) {
    Agreement& r = result_;
    if (r.wrong > 0) {
      r.failure = "element " + text_of(r.first_wrong) + " is " + text_of<T>(r.got) +
                  ", but must be " + text_of<T>(r.expected) + " " + rule + "; " +
                  std::to_string(r.wrong) + " of " + std::to_string(r.compared) +
                  " elements are wrong";
    } else if (r.compared == 0 && !empty_batch_) {
      r.failure = "nothing was compared";
    } else if (expected_varies_ && !got_varies_ && !may_be_alike) {
      r.failure = "all " + std::to_string(r.compared) + " elements are " +
                  text_of<T>(static_cast<double>(first_got_)) + ", but the expected ones differ";
    }
    r.pass = r.failure.empty();
    r.bitwise = r.bitwise && r.pass;
    return r;
  }

 private:
  bool empty_batch_;
  bool has_first_ = false, got_varies_ = false, expected_varies_ = false;
  T first_got_{}, first_expected_{};
  Agreement result_;
};

Agreement shapes_differ() {
  Agreement agreement;
  agreement.failure = "the result and its reference have different shapes";
  return agreement;
}

double gamma(double m, double u) {
  return m * u < 1 ? m * u / (1 - m * u) : std::numeric_limits<double>::infinity();
}

// How far a result may be from its reference.
struct Allowance {
  double bound, alarm;
};

Allowance allowance(double reference, double magnitude, double taps, double initial,
                    const BoundTerms& terms) {
  const double u = terms.unit_roundoff, u64 = std::ldexp(1.0, -53);
  const double alpha = std::abs(terms.alpha), delta = terms.product_error;
  const double reference_gamma = gamma(std::max(taps, terms.reference_steps) + 1, u64);
  const double S = magnitude * (1 + reference_gamma);
  const double sum = alpha * (gamma(taps + terms.extra_steps, u) * (1 + delta) + delta) * S;
  const double scaled = std::abs(reference - terms.beta * initial);
  double roundings = alpha * (reference_gamma * S + taps * terms.eta);
  if (terms.alpha != 1 || terms.beta != 0) {
    const double terms_size = scaled + sum + std::abs(terms.beta * initial);
    roundings += 2 * (u + u64) * (1 + 4 * u) * terms_size + 2 * terms.eta;
  }
  // The result is rounded once more where storage is narrower, whatever it is by then.
  const auto stored = [&](double error) {
    return error + terms.output_roundoff * (std::abs(reference) + error) + terms.output_eta;
  };
  // Sums of randomly signed terms are about as small as S / sqrt(taps); others raise no alarm.
  const bool cancels = scaled * std::sqrt(taps) <= 8 * alpha * S;
  const double statistical = alpha * (4 * std::sqrt(taps) * u + delta) * S;
  return {stored(sum + roundings),
          cancels ? stored(statistical + roundings) : std::numeric_limits<double>::infinity()};
}

}  // namespace

template <typename T>
Agreement agree_bitwise(TensorView<const T> got, TensorView<const double> reference,
                        TensorView<const std::int64_t> taps) {
  if (got.extents != reference.extents) return shapes_differ();
  if (taps.data != nullptr && taps.extents != got.extents) return shapes_differ();
  Comparison<T> comparison(got);
  comparison.result().bitwise = true;
  std::int64_t with_taps = 0, zeros = 0;
  for_each_index(got.extents, [&](auto n, auto c, auto h, auto w) {
    const T expected = round_to<T>(reference(n, c, h, w));
    const T value = got(n, c, h, w);
    comparison.look({n, c, h, w}, value, expected, same(value, expected, Zeros::alike));
    if (taps.data != nullptr && taps(n, c, h, w) > 0) {
      ++with_taps;
      zeros += static_cast<double>(expected) == 0;
    }
  });
  Agreement result = comparison.finish("bit for bit");
  if (result.pass && with_taps >= 16 && 2 * zeros > with_taps) {
    result.pass = result.bitwise = false;
    result.failure = std::to_string(zeros) + " of " + std::to_string(with_taps) +
                     " expected elements are zero, too many to notice errors";
  }
  return result;
}

template <typename T>
Agreement agree_with_twin(TensorView<const T> got, TensorView<const T> twin, Zeros zeros) {
  if (got.extents != twin.extents) return shapes_differ();
  Comparison<T> comparison(got);
  comparison.result().bitwise = true;
  for_each_index(got.extents, [&](auto n, auto c, auto h, auto w) {
    const T value = got(n, c, h, w), expected = twin(n, c, h, w);
    comparison.look({n, c, h, w}, value, expected, same(value, expected, zeros));
  });
  return comparison.finish("bit for bit, as the same sum in the same order gives");
}

BoundTerms bound_terms(Dtype storage, Dtype accumulate, double alpha, double beta) {
  BoundTerms terms;
  terms.unit_roundoff = unit_roundoff(accumulate);
  terms.eta = smallest_subnormal(accumulate);
  if (storage != accumulate) {
    terms.output_roundoff = unit_roundoff(storage);
    terms.output_eta = smallest_subnormal(storage);
  }
  terms.alpha = alpha;
  terms.beta = beta;
  return terms;
}

template <typename T>
Agreement agree_within_bound(TensorView<const T> got, TensorView<const double> reference,
                             TensorView<const double> magnitude,
                             TensorView<const std::int64_t> taps, const BoundTerms& terms,
                             TensorView<const double> initial, Alarm alarm,
                             TensorView<const unsigned char> spread) {
  const bool mixes = spread.data != nullptr;
  if (got.extents != reference.extents || got.extents != magnitude.extents ||
      got.extents != taps.extents || (terms.beta != 0 && got.extents != initial.extents) ||
      (mixes && got.extents != spread.extents)) {
    return shapes_differ();
  }
  Comparison<T> comparison(got);
  Agreement& result = comparison.result();
  result.bitwise = true;
  double squares = 0;
  bool unbounded = false, alarmed = false;
  std::int64_t measured = 0;
  for_each_index(got.extents, [&](auto n, auto c, auto h, auto w) {
    const double ref = reference(n, c, h, w), S = magnitude(n, c, h, w);
    const T value = got(n, c, h, w), expected = round_to<T>(ref);
    const double y = static_cast<double>(value);
    const bool equal = same(value, expected, Zeros::alike);
    result.bitwise = result.bitwise && equal;
    if (mixes && !std::isfinite(y) && (!std::isfinite(ref) || spread(n, c, h, w) != 0)) {
      comparison.excuse();
      return;
    }
    if (!std::isfinite(ref)) {
      comparison.look({n, c, h, w}, value, expected, equal);
      return;
    }
    const double y0 = terms.beta != 0 ? initial(n, c, h, w) : 0;
    const double count = static_cast<double>(taps(n, c, h, w));
    const auto [bound, alarm_level] = allowance(ref, S, count, y0, terms);
    if (mixes && spread(n, c, h, w) != 0 && !std::isfinite(bound)) {
      comparison.excuse();  // its own magnitude leaves fp64
      return;
    }
    unbounded |= !(bound < std::numeric_limits<double>::infinity());
    bool agrees = std::abs(y - ref) <= bound;
    if (std::isinf(y)) {  // right where a result at the bound would be stored as infinity
      agrees = same(value, round_to<T>(std::copysign(std::abs(ref) + bound, ref)), Zeros::alike);
    } else if (std::isfinite(y)) {
      const double error = std::abs(y - ref), unit = terms.unit_roundoff * S;
      if (error > 0) {
        const double fraction = error / bound;
        result.worst_bound_fraction = std::max(result.worst_bound_fraction, fraction);
      }
      if (unit > 0) {
        result.worst_us = std::max(result.worst_us, error / unit);
        squares += error / unit * (error / unit);
        ++measured;
      }
      if (alarm == Alarm::statistical && agrees && !(error <= alarm_level)) {
        agrees = false;
        alarmed = true;
      }
    }
    comparison.look({n, c, h, w}, value, expected, agrees);
  });
  if (measured > 0) result.rms_us = std::sqrt(squares / static_cast<double>(measured));
  // What transforms leave of tiny numbers beside large ones may be nothing at all.
  const bool may_be_alike = mixes && alarm == Alarm::bound_only;
  Agreement verdict =
      comparison.finish(alarmed ? "within 4 sqrt(taps) u S, far more than random signs lose"
                                : "within the derived bound",
                        may_be_alike);
  if (verdict.pass && unbounded) {
    verdict.pass = verdict.bitwise = false;
    verdict.failure = "the sums are too long for any bound in the accumulation type";
  }
  return verdict;
}

#define SEVENLOOPS_AGREEMENT(T)                                                                   \
  template Agreement agree_bitwise(TensorView<const T>, TensorView<const double>,                 \
                                   TensorView<const std::int64_t>);                               \
  template Agreement agree_with_twin(TensorView<const T>, TensorView<const T>, Zeros);            \
  template Agreement agree_within_bound(TensorView<const T>, TensorView<const double>,            \
                                        TensorView<const double>, TensorView<const std::int64_t>, \
                                        const BoundTerms&, TensorView<const double>, Alarm,       \
                                        TensorView<const unsigned char>);
SEVENLOOPS_AGREEMENT(double)
SEVENLOOPS_AGREEMENT(float)
SEVENLOOPS_AGREEMENT(Half)
SEVENLOOPS_AGREEMENT(Bfloat16)
#undef SEVENLOOPS_AGREEMENT

}  // namespace sevenloops
