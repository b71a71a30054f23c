#include "bench/cli/parameters.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "gpu/device_buffer.hpp"
#include "reference/core/error.hpp"

namespace sevenloops {
namespace {

// "1, 2 or 4"
std::string alternatives(std::initializer_list<int> counts) {
  std::string text;
  for (auto count = counts.begin(); count != counts.end(); ++count) {
    text += (text.empty()                ? ""
             : count + 1 == counts.end() ? " or "
                                         : ", ") +
            std::to_string(*count);
  }
  return text;
}

}  // namespace

std::vector<CLI::Option*> Parameters::add_to(CLI::App& app) {
  return {
      app.add_option("--pad", pad, "border of nothing: all, or h,w, or top,left,bottom,right"),
      app.add_option("--stride", stride, "step of the window: both, or h,w"),
      app.add_option("--dilation", dilation, "distance of taps, 1 = dense: both, or h,w"),
      app.add_option("--groups", groups, "parts into which C and K are split"),
      app.add_option("--mode", mode, "xcorr (cross-correlation) or conv (filter rotated)"),
      app.add_option("--alpha", alpha, "factor of the sum"),
      app.add_option("--beta", beta, "factor of what the result held before"),
  };
}

Conv2dProblem Parameters::problem() const {
  Conv2dProblem prob;
  auto values = integers_of("--pad", pad, {1, 2, 4});
  if (values.size() == 1) values.push_back(values[0]);
  if (values.size() == 2) values.insert(values.end(), {values[0], values[1]});
  prob.pad_top = values[0];
  prob.pad_left = values[1];
  prob.pad_bottom = values[2];
  prob.pad_right = values[3];
  values = integers_of("--stride", stride, {1, 2});
  prob.stride_h = values.front();
  prob.stride_w = values.back();
  values = integers_of("--dilation", dilation, {1, 2});
  prob.dilation_h = values.front();
  prob.dilation_w = values.back();
  prob.groups = integers_of("--groups", groups, {1})[0];
  prob.mode = word_of("--mode", mode, {"xcorr", "conv"}) == 0 ? ConvMode::cross_correlation
                                                              : ConvMode::convolution;
  return prob;
}

std::vector<std::int64_t> integers_of(const std::string& option, const std::string& text,
                                      std::initializer_list<int> counts) {
  std::vector<std::int64_t> values;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (bool more = true; more; ++at) {
    std::int64_t value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    more = next != end && *next == ',';
    if (error != std::errc() || (next != end && !more)) {
      const bool one = counts.size() == 1 && *counts.begin() == 1;
      throw Error(option, "\"" + text + "\"",
                  one ? "be an integer" : "be integers separated by commas");
    }
    values.push_back(value);
    at = next;
  }
  const int count = static_cast<int>(values.size());
  if (std::find(counts.begin(), counts.end(), count) == counts.end()) {
    throw Error(option, "\"" + text + "\"",
                "have " + alternatives(counts) + (*(counts.end() - 1) == 1 ? " value" : " values"));
  }
  return values;
}

double number_of(const std::string& option, const std::string& text) {
  double value = 0;
  const auto [next, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || next != text.data() + text.size()) {
    throw Error(option, "\"" + text + "\"", "be a number");
  }
  return value;
}

std::int64_t integer_of(const std::string& option, const std::string& text, std::int64_t least) {
  const std::int64_t value = integers_of(option, text, {1})[0];
  if (value < least) throw Error(option, value, "be at least " + std::to_string(least));
  return value;
}

std::size_t word_of(const std::string& option, const std::string& text,
                    const std::vector<std::string>& words) {
  const auto found = std::find(words.begin(), words.end(), text);
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  std::string choices;
  for (const std::string& word : words) {
    choices += (choices.empty() ? "" : &word == &words.back() ? " or " : ", ") + word;
  }
  throw Error(option, "\"" + text + "\"", "be " + choices);
}

Layout layout_of(const std::string& text) {
  constexpr Layout kLayouts[] = {Layout::nchw, Layout::nhwc, Layout::chwn};
  return kLayouts[word_of("--layout", text, {"nchw", "nhwc", "chwn"})];
}

Place place_of(const std::string& text) {
  if (word_of("--on", text, {"emulator", "gpu"}) == 0) return Place::emulator;
  const char* why = "";
  if (!gpu_available(&why)) throw Error(std::string("--on gpu cannot be: ") + why);
  return Place::gpu;
}

}  // namespace sevenloops
