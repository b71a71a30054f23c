#include "reference/conv2d/problem.hpp"

#include <initializer_list>
#include <limits>

#include "reference/core/error.hpp"

namespace sevenloops {
namespace {

constexpr auto kLargest = std::numeric_limits<std::int64_t>::max();

struct Field {
  const char* name;
  std::int64_t value;
};

void require_at_least(std::int64_t least, std::initializer_list<Field> fields) {
  for (const Field& field : fields) {
    if (field.value < least) {
      throw Error(field.name, field.value, "be at least " + std::to_string(least));
    }
  }
}

// The output must have at least one row (column). A sum of 64-bit numbers can leave 64 bits.
void require_output(const char* output, const char* input, std::int64_t extent,
                    std::int64_t pad_begin, std::int64_t pad_end, std::int64_t filter,
                    std::int64_t dilation) {
  const __int128 padded = static_cast<__int128>(extent) + pad_begin + pad_end;
  const __int128 window = static_cast<__int128>(dilation) * (filter - 1) + 1;
  if (padded > kLargest || window > kLargest) {
    throw Error("the padded extent or the dilated filter along " + std::string(input) +
                " does not fit into 64 bits");
  }
  if (padded < window) {
    throw Error(std::string(output) + " would be zero or negative: the dilated filter covers " +
                std::to_string(static_cast<std::int64_t>(window)) + ", but the padded " + input +
                " is only " + std::to_string(static_cast<std::int64_t>(padded)));
  }
}

void require_divides(std::int64_t groups, const char* name, std::int64_t extent) {
  if (extent % groups != 0) {
    throw Error("groups", groups, "divide " + std::string(name) + " = " + std::to_string(extent));
  }
}

// `element_bytes` times all `extents` must stay a 64-bit number. A zero-size tensor is checked as
// if its zero were a one, so that a problem does not become legal by emptying its batch.
void require_addressable(const char* name, std::size_t element_bytes,
                         std::initializer_list<std::int64_t> extents) {
  std::int64_t bytes = static_cast<std::int64_t>(element_bytes);
  for (const std::int64_t extent : extents) {
    if (__builtin_mul_overflow(bytes, extent == 0 ? 1 : extent, &bytes)) {
      std::string shape;
      for (const std::int64_t e : extents) {
        shape += (shape.empty() ? "" : " x ") + std::to_string(e);
      }
      throw Error("the size of " + std::string(name) + ", " + shape + " elements of " +
                  std::to_string(element_bytes) + " bytes, does not fit into 64 bits");
    }
  }
}

}  // namespace

void validate(const Conv2dProblem& prob) {
  require_at_least(0, {{"N", prob.N}});
  require_at_least(1, {{"C", prob.C}, {"H", prob.H}, {"W", prob.W}});
  require_at_least(1, {{"K", prob.K}, {"R", prob.R}, {"S", prob.S}});
  require_at_least(0, {{"pad_top", prob.pad_top},
                       {"pad_left", prob.pad_left},
                       {"pad_bottom", prob.pad_bottom},
                       {"pad_right", prob.pad_right}});
  require_at_least(1, {{"stride_h", prob.stride_h},
                       {"stride_w", prob.stride_w},
                       {"dilation_h", prob.dilation_h},
                       {"dilation_w", prob.dilation_w},
                       {"groups", prob.groups}});
  require_divides(prob.groups, "C", prob.C);
  require_divides(prob.groups, "K", prob.K);
  require_output("P", "H", prob.H, prob.pad_top, prob.pad_bottom, prob.R, prob.dilation_h);
  require_output("Q", "W", prob.W, prob.pad_left, prob.pad_right, prob.S, prob.dilation_w);
  if (prob.accumulate != prob.dtype &&
      size_in_bytes(prob.accumulate) <= size_in_bytes(prob.dtype)) {
    throw Error("the accumulation type", std::string(name_of(prob.accumulate)),
                "be at least as wide as the storage type " + std::string(name_of(prob.dtype)));
  }
  const std::size_t element_bytes = size_in_bytes(prob.dtype);
  require_addressable("x", element_bytes, {prob.N, prob.C, prob.H, prob.W});
  require_addressable("w", element_bytes, {prob.K, prob.channels_per_group(), prob.R, prob.S});
  require_addressable("y", element_bytes, {prob.N, prob.K, prob.P(), prob.Q()});
}

double direct_flops(const Conv2dProblem& prob) {
  const double outputs = static_cast<double>(prob.N) * static_cast<double>(prob.K) *
                         static_cast<double>(prob.P()) * static_cast<double>(prob.Q());
  return 2 * outputs * static_cast<double>(prob.channels_per_group()) *
         static_cast<double>(prob.R) * static_cast<double>(prob.S);
}

}  // namespace sevenloops
