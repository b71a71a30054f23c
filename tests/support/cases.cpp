#include "tests/support/cases.hpp"

#include <cmath>
#include <fstream>
#include <limits>
#include <random>

#include "reference/core/error.hpp"
#include "reference/core/numerics.hpp"

namespace sevenloops::testing {
namespace {

using Json = nlohmann::json;

// JSON has no NaN and no infinities: they are written as words.
double number_of(const Json& json) {
  if (json.is_number()) return json.get<double>();
  const std::string word = json.get<std::string>();
  if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (word == "inf") return std::numeric_limits<double>::infinity();
  if (word == "-inf") return -std::numeric_limits<double>::infinity();
  throw Error("the number of a case", word, "be nan, inf or -inf");
}

// Every element becomes value(i, index), i counting in row-major order.
template <typename F>
void fill(Tensor<double>& tensor, F&& value) {
  std::int64_t i = 0;
  for_each_index(tensor.extents(), [&](auto n, auto c, auto h, auto w) {
    tensor(n, c, h, w) = value(i++, Extents{n, c, h, w});
  });
}

bool at_least(const Extents& index, const Json& from) {
  for (int axis = 0; axis < 4; ++axis) {
    if (index[axis] < from[axis].get<std::int64_t>()) return false;
  }
  return true;
}

// Does `index` match `pattern`, in which -1 stands for every index?
bool matches(const Extents& index, const Json& pattern) {
  for (int axis = 0; axis < 4; ++axis) {
    const auto wanted = pattern[axis].get<std::int64_t>();
    if (wanted != -1 && wanted != index[axis]) return false;
  }
  return true;
}

// The generators are those of the file: imod is ((a i + b) mod m) - o.
Tensor<double> generate(const Json& recipe, const Extents& extents) {
  Tensor<double> tensor(extents);
  const std::string gen = recipe.at("gen");
  const auto integer = [&](const char* name, std::int64_t otherwise) {
    return recipe.value(name, otherwise);
  };
  std::mt19937 random(static_cast<unsigned>(integer("seed", 0)));
  if (gen == "imod") {
    const auto a = integer("a", 0), b = integer("b", 0), m = integer("m", 1), o = integer("o", 0);
    fill(tensor, [&](auto i, const auto&) { return static_cast<double>((a * i + b) % m - o); });
  } else if (gen == "iota") {
    const auto start = integer("start", 0), step = integer("step", 1);
    fill(tensor, [&](auto i, const auto&) { return static_cast<double>(start + step * i); });
  } else if (gen == "const") {
    fill(tensor, [&](auto, const auto&) { return number_of(recipe.at("v")); });
  } else if (gen == "values") {
    if (static_cast<std::int64_t>(recipe.at("v").size()) != tensor.size()) {
      throw Error("the number of values", static_cast<long long>(recipe.at("v").size()),
                  "be " + std::to_string(tensor.size()));
    }
    fill(tensor, [&](auto i, const auto&) { return number_of(recipe.at("v")[i]); });
  } else if (gen == "block") {  // `inside` from the index `from` on, `outside` before
    fill(tensor, [&](auto, const auto& index) {
      return number_of(recipe.at(at_least(index, recipe.at("from")) ? "inside" : "outside"));
    });
  } else if (gen == "identity") {  // a 1x1 filter that copies
    fill(tensor, [&](auto, const auto& index) { return index[0] == index[1] ? 1.0 : 0.0; });
  } else if (gen == "uniform") {  // [-1, 1)
    fill(tensor, [&](auto, const auto&) { return random() * 0x1p-31 - 1; });
  } else if (gen == "sparse") {  // one in `one_in` is an integer from 1 to `most`, the others 0
    const auto one_in = integer("one_in", 1), most = integer("most", 1);
    fill(tensor, [&](auto, const auto&) {
      return random() % one_in == 0 ? static_cast<double>(1 + random() % most) : 0.0;
    });
  } else {
    throw Error("the generator of a case", gen, "be one that is known");
  }
  for (const Json& set : recipe.value("set", Json::array())) {
    for_each_index(extents, [&](auto n, auto c, auto h, auto w) {
      if (matches({n, c, h, w}, set.at("at"))) tensor(n, c, h, w) = number_of(set.at("v"));
    });
  }
  return tensor;
}

void read_data(const Json& json, Conv2dCase& a_case) {
  const Conv2dProblem& prob = a_case.prob;
  const auto data = [&](const char* name, const Extents& extents) {
    if (!json.contains(name)) return Tensor<double>();
    Tensor<double> tensor = generate(json.at(name), extents);
    for (double& element : tensor.buffer()) element = round_to(prob.dtype, element);
    return tensor;
  };
  const Extents x = x_extents(prob), w = w_extents(prob), y = y_extents(prob);
  a_case.x = data("x", x);
  a_case.w = data("w", w);
  a_case.dy = data("dy", y);
  a_case.y0 = data("y0", y);
  a_case.dx0 = data("dx0", x);
  a_case.dw0 = data("dw0", w);
  const Layout layout = json.value("layout", "nchw") == "nhwc" ? Layout::nhwc : Layout::nchw;
  a_case.x_strides = json.value("x_strides", strides_of(layout, x));
  a_case.w_strides = json.value("w_strides", strides_of(layout, w));
  a_case.y_strides = json.value("y_strides", strides_of(layout, y));
  a_case.dy_strides = json.value("dy_strides", strides_of(layout, y));
}

Conv2dCase read_case(const Json& json) {
  Conv2dCase a_case;
  a_case.id = json.at("id");
  a_case.note = json.at("note");
  a_case.property = json.value("property", "");
  a_case.policy = json.value("policy", "");
  a_case.seen_in = json.at("seen_in");
  a_case.skip = json.value("skip", "");
  a_case.error = json.value("error", "");
  for (const std::string direction : json.at("directions")) {
    a_case.forward |= direction == "forward";
    a_case.backward_data |= direction == "backward_data";
    a_case.backward_filter |= direction == "backward_filter";
  }
  a_case.alpha = json.value("alpha", 1.0);
  a_case.beta = json.value("beta", 0.0);
  a_case.repeat = json.value("repeat", 1);
  a_case.base_offset = json.value("base_offset", std::int64_t{0});
  if (!a_case.skip.empty()) return a_case;
  try {
    a_case.prob = parse_conv2d(json.at("problem").get<std::string>());
  } catch (const Error& error) {
    if (a_case.error != error.what()) throw;
    return a_case;
  }
  if (!a_case.error.empty()) throw Error(a_case.id + " must be refused, but is not");
  read_data(json, a_case);
  if (json.contains("expect_y")) a_case.y = Expectation{json.at("expect_y")};
  if (json.contains("expect_dx")) a_case.dx = Expectation{json.at("expect_dx")};
  if (json.contains("expect_dw")) a_case.dw = Expectation{json.at("expect_dw")};
  return a_case;
}

bool same(double got, double expected) {
  return got == expected || (std::isnan(got) && std::isnan(expected));
}

}  // namespace

std::string Expectation::mismatch(TensorView<const double> result) const {
  std::vector<double> elements;
  double sum = 0, abs_sum = 0, wsum = 0;
  for_each_index(result.extents, [&](auto n, auto c, auto h, auto w) {
    const double element = result(n, c, h, w);
    elements.push_back(element);
    sum += element;
    abs_sum += std::abs(element);
    wsum += static_cast<double>(elements.size()) * element;
  });
  std::string failure;
  const auto compare = [&](const std::string& what, double got, const Json& expected) {
    if (!failure.empty() || same(got, number_of(expected))) return;
    failure = what + " is " + std::to_string(got) + ", but must be " + expected.dump();
  };
  for (const auto& [name, expected] : parts.items()) {
    if (name == "shape") {
      if (result.extents != expected.get<Extents>()) return "the shape must be " + expected.dump();
    } else if (name == "sum") {
      compare(name, sum, expected);
    } else if (name == "abs_sum") {
      compare(name, abs_sum, expected);
    } else if (name == "wsum") {
      compare(name, wsum, expected);
    } else if (name == "head" || name == "tail" || name == "values") {
      if (expected.size() > elements.size() ||
          (name == "values" && expected.size() != elements.size())) {
        return name + " speaks of " + std::to_string(expected.size()) +
               " elements, but there are " + std::to_string(elements.size());
      }
      const std::size_t first = name == "tail" ? elements.size() - expected.size() : 0;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        compare("element " + std::to_string(first + i), elements[first + i], expected[i]);
      }
    } else {
      return "the expectation has the unknown part " + name;
    }
  }
  return failure;
}

const std::vector<Conv2dCase>& conv2d_cases() {
  static const std::vector<Conv2dCase> cases = [] {
    std::ifstream stream(SEVENLOOPS_SOURCE_DIR "/tests/cases/conv2d.json");
    std::vector<Conv2dCase> read;
    for (const Json& json : Json::parse(stream)) read.push_back(read_case(json));
    return read;
  }();
  return cases;
}

const Conv2dCase& conv2d_case(const std::string& id) {
  for (const Conv2dCase& a_case : conv2d_cases()) {
    if (a_case.id == id) return a_case;
  }
  throw Error("there is no case " + id);
}

}  // namespace sevenloops::testing
