// Launches a stage exactly once a problem, for tools that look at launches from outside (ncu,
// compute-sanitizer), and says what the emulator counts for the same launches. Prints JSON.
//
//     launch_once <stage>|all gpu|emulator <problem>...

#include <iostream>
#include <string>

#include "bench/cli/report_json.hpp"
#include "gpu/conv2d/execute.hpp"
#include "gpu/conv2d/verify.hpp"
#include "reference/core/error.hpp"
#include "reference/core/numerics.hpp"

namespace sevenloops {
namespace {

template <typename T>
Json run(int index, const Conv2dProblem& prob, Place place) {
  const auto operands = make_operands<T>(prob, Layout::nchw, DataKind::real, 1);
  ExecuteOptions options;
  options.place = place;
  options.trace = place == Place::emulator;
  Json result{{"stage", conv2d_stages(Build::plain)[index]->name}, {"problem", print(prob)}};
  if (const Support support = supports(index, operands, place); !support) {
    result["refused"] = support.reason;
    return result;
  }
  const Execution<T> execution = execute(index, operands, options);
  result["violations"] = execution.violations;
  result.update(to_json(execution.report));
  return result;
}

int main_of(int argc, char** argv) {
  const std::string stage = argc > 3 ? argv[1] : "", where = argc > 3 ? argv[2] : "";
  if (where != "gpu" && where != "emulator") {
    throw Error("usage: launch_once <stage>|all gpu|emulator <problem>...");
  }
  const auto stages = conv2d_stages(Build::plain);
  Json results = Json::array();
  for (int i = 0; i < static_cast<int>(stages.size()); ++i) {
    if (stage != "all" && stage != stages[i]->name) continue;
    for (int a = 3; a < argc; ++a) {
      const Conv2dProblem prob = parse_conv2d(argv[a]);
      results.push_back(dispatch(prob.dtype, [&](auto zero) -> Json {
        using T = decltype(zero);
        if constexpr (sizeof(T) == 2) {
          throw Error("dtype", std::string(name_of(prob.dtype)), "be f32 or f64");
        } else {
          return run<T>(i, prob, where == "gpu" ? Place::gpu : Place::emulator);
        }
      }));
    }
  }
  if (results.empty()) throw Error("there is no stage named '" + stage + "'");
  std::cout << results.dump(1) << "\n";
  return 0;
}

}  // namespace
}  // namespace sevenloops

int main(int argc, char** argv) {
  try {
    return sevenloops::main_of(argc, argv);
  } catch (const sevenloops::Error& error) {
    std::cerr << "launch_once: " << error.what() << "\n";
    return 2;
  }
}
