// "run": the user's tensors in, a tensor out.

#include <iostream>

#include "bench/cli/commands.hpp"
#include "bench/cli/memory.hpp"
#include "bench/cli/output_file.hpp"
#include "bench/cli/subject.hpp"
#include "bench/cli/tensors.hpp"
#include "reference/conv2d/conv2d.hpp"
#include "reference/core/error.hpp"
#include "reference/core/npy.hpp"
#include "reference/core/numerics.hpp"

namespace sevenloops {
namespace {

constexpr const char* kForwardExamples = R"(Examples:
  sevenloops run conv2d --x x.npy --w w.npy --out y.npy
  sevenloops run conv2d --x x.npy --w w.npy --b b.npy --pad 1 --stride 2,1 --out y.npy
  sevenloops run conv2d --x x.npy --w w.npy --beta 1 --y y0.npy --stage direct --out y.npy
The result is alpha * conv(x, w) + beta * y, and then + b.)";

constexpr const char* kBackwardDataExamples = R"(Example:
  sevenloops run conv2d-backward-data --dy dy.npy --w w.npy --input-size 28,28 --pad 1 --out dx.npy)";

constexpr const char* kBackwardFilterExamples = R"(Example:
  sevenloops run conv2d-backward-filter --x x.npy --dy dy.npy --filter-size 3,3 --pad 1 --out dw.npy)";

enum class Direction { forward, backward_data, backward_filter };

struct RunOptions {
  Direction direction = Direction::forward;
  Parameters parameters;
  std::string x, w, b, y, dy, dx, dw, input_size, filter_size;
  std::string stage = "reference", on = "emulator", out;
};

template <typename T>
Tensor<double> read_fp64(const std::string& path) {
  return converted<double>(TensorView<const T>(read_npy<T>(path, 4, Empty::allowed).view()));
}

double bytes_of(const Extents& e, double per_element) {
  for (const std::int64_t extent : e) per_element *= static_cast<double>(extent);
  return per_element;
}

// The definition's results take this much for each element: value, magnitude, taps, fp64 copies.
constexpr double kReferenceBytes = 5 * 8;

void require_reference_memory(const Extents& result) {
  require_memory(bytes_of(result, kReferenceBytes), "the definition's result");
}

// What the result held before: from a file, or nothing when beta is 0.
template <typename T>
Tensor<double> old_values(const NamedFile& file, double beta, const Extents& extents) {
  if (file.path.empty()) {
    if (beta == 0) return {};
    throw Error("--beta is not 0, but " + file.option + " gives no tensor to be multiplied by it");
  }
  Tensor<double> old = read_fp64<T>(file.path);
  require_extents(file.option, old.extents(), extents, "the result's");
  return old;
}

// Adds b[k] to y[n,k,p,q]; the type of y decides how the sum is rounded.
template <typename T>
void add_bias(Tensor<T>& y, const Tensor<T>& b) {
  for_each_index(y.extents(), [&](auto n, auto k, auto p, auto q) {
    y(n, k, p, q) = static_cast<T>(y(n, k, p, q) + b(0, 0, 0, k));
  });
}

template <typename T>
Tensor<T> forward(const RunOptions& options) {
  const Conv2dOperands<T> operands = read_operands<T>({"--x", options.x}, {"--w", options.w},
                                                      {"--y", options.y}, options.parameters);
  const Conv2dProblem& prob = operands.prob;
  Tensor<T> b;
  if (!options.b.empty()) {
    b = read_npy<T>(options.b, 1, Empty::allowed);
    if (b.size() != prob.K) {
      throw Error("the length of --b", b.size(), "be K = " + std::to_string(prob.K));
    }
  }
  if (options.stage == "reference") {
    const auto fp64 = [](const Tensor<T>& t) {
      return converted<double>(TensorView<const T>(t.view()));
    };
    require_reference_memory(y_extents(prob));
    const Tensor<double> x = fp64(operands.x), w = fp64(operands.w), y0 = fp64(operands.y0);
    ReferenceResult result =
        conv2d_forward(prob, x.view(), w.view(), operands.alpha, operands.beta, y0.view());
    if (!options.b.empty()) add_bias(result.value, fp64(b));
    return converted<T>(TensorView<const double>(result.value.view()));
  }
  if constexpr (sizeof(T) == 2) {
    throw Error(options.x +
                " holds f16, but stages compute in fp32 and fp64: "
                "use --stage reference");
  } else {
    const std::vector<int> stages = stages_named({options.stage});
    ExecuteOptions execute_options;
    execute_options.place = place_of(options.on);
    require_memory(verification_bytes(shapes_of(prob, Layout::nchw), stages, execute_options.place),
                   "this run");
    Execution<T> execution = execute(stages[0], operands, execute_options);
    if (!execution.violations.empty()) {
      throw std::runtime_error("the stage broke a rule: " + execution.violations[0]);
    }
    if (!options.b.empty()) add_bias(execution.y, b);
    return std::move(execution.y);
  }
}

template <typename T>
Tensor<T> backward_data(const RunOptions& options) {
  const Tensor<double> dy = read_fp64<T>(options.dy), w = read_fp64<T>(options.w);
  const auto size = integers_of("--input-size", options.input_size, {2});
  const std::int64_t groups = integer_of("--groups", options.parameters.groups, 1);
  std::int64_t channels = 0;
  if (__builtin_mul_overflow(w.extents()[1], groups, &channels)) {
    throw Error("--groups", groups, "give a number of channels within 64 bits");
  }
  const Extents extents{dy.extents()[0], channels, size[0], size[1]};
  const Conv2dProblem prob = problem_of(options.parameters, dtype_v<T>, extents, w.extents());
  require_extents("--dy", dy.extents(), y_extents(prob), "N x K x P x Q");
  require_reference_memory(extents);
  const double alpha = number_of("--alpha", options.parameters.alpha);
  const double beta = number_of("--beta", options.parameters.beta);
  const Tensor<double> dx0 = old_values<T>({"--dx", options.dx}, beta, extents);
  const ReferenceResult result =
      conv2d_backward_data(prob, dy.view(), w.view(), alpha, beta, dx0.view());
  return converted<T>(TensorView<const double>(result.value.view()));
}

template <typename T>
Tensor<T> backward_filter(const RunOptions& options) {
  const Tensor<double> x = read_fp64<T>(options.x), dy = read_fp64<T>(options.dy);
  const auto size = integers_of("--filter-size", options.filter_size, {2});
  const std::int64_t groups = integer_of("--groups", options.parameters.groups, 1);
  if (x.extents()[1] % groups != 0) {
    throw Error("groups", groups, "divide C = " + std::to_string(x.extents()[1]));
  }
  const Extents extents{dy.extents()[1], x.extents()[1] / groups, size[0], size[1]};
  const Conv2dProblem prob = problem_of(options.parameters, dtype_v<T>, x.extents(), extents);
  require_extents("--dy", dy.extents(), y_extents(prob), "N x K x P x Q");
  require_reference_memory(extents);
  const double alpha = number_of("--alpha", options.parameters.alpha);
  const double beta = number_of("--beta", options.parameters.beta);
  const Tensor<double> dw0 = old_values<T>({"--dw", options.dw}, beta, extents);
  const ReferenceResult result =
      conv2d_backward_filter(prob, x.view(), dy.view(), alpha, beta, dw0.view());
  return converted<T>(TensorView<const double>(result.value.view()));
}

template <typename T>
void run_and_write(const RunOptions& options) {
  const Tensor<T> result = options.direction == Direction::forward ? forward<T>(options)
                           : options.direction == Direction::backward_data
                               ? backward_data<T>(options)
                               : backward_filter<T>(options);
  write_npy(options.out, TensorView<const T>(result.view()));
  const Extents& e = result.extents();
  std::cout << options.out << ": " << e[0] << " x " << e[1] << " x " << e[2] << " x " << e[3]
            << ", " << name_of(dtype_v<T>) << ", by "
            << (options.stage == "reference"
                    ? "the definition in fp64"
                    : "stage " + options.stage + " " +
                          (options.on == "gpu" ? "on the GPU" : "in the emulator"))
            << '\n';
}

int run(const RunOptions& options) {
  require_writable(options.out);
  layout_of(options.parameters.layout);
  place_of(options.on);
  if (options.stage != "reference") {
    if (options.direction == Direction::forward) {
      stages_named({options.stage});
    } else {
      throw Error("--stage", "\"" + options.stage + "\"",
                  "be reference: the gradients have no stages yet");
    }
  } else if (options.on == "gpu") {
    throw Error("--on gpu needs a --stage: the definition runs on the CPU");
  }
  std::vector<NamedFile> files;
  for (const NamedFile& file : {NamedFile{"--x", options.x},
                                {"--w", options.w},
                                {"--dy", options.dy},
                                {"--b", options.b},
                                {"--y", options.y},
                                {"--dx", options.dx},
                                {"--dw", options.dw}}) {
    if (!file.path.empty()) files.push_back(file);
  }
  dispatch(common_dtype(files), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!std::is_same_v<T, Bfloat16>) run_and_write<T>(options);
  });
  return 0;
}

std::shared_ptr<RunOptions> add_direction(CLI::App& run_app, const char* name, const char* what,
                                          Direction direction, const char* examples, Action& action,
                                          CLI::App*& command) {
  auto options = std::make_shared<RunOptions>();
  options->direction = direction;
  command = run_app.add_subcommand(name, what);
  command->footer(examples);
  options->parameters.add_to(*command);
  command->add_option("--stage", options->stage, "a stage by name, or reference: the definition")
      ->capture_default_str();
  command->add_option("--out", options->out, "the .npy file for the result")->required();
  command->callback([options, &action] { action = [options] { return run(*options); }; });
  return options;
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  CLI::App* const run_app =
      app.add_subcommand("run", "Compute on your own tensors: .npy files in logical N,C,H,W order");
  run_app->require_subcommand(1);
  run_app->footer(std::string(kForwardExamples));
  CLI::App* command = nullptr;
  auto options = add_direction(*run_app, "conv2d", "y = alpha * conv(x, w) + beta * y + b",
                               Direction::forward, kForwardExamples, action, command);
  command->add_option("--x", options->x, "input, N,C,H,W")->required();
  command->add_option("--w", options->w, "filter, K,C/groups,R,S")->required();
  command->add_option("--b", options->b, "bias, K");
  command->add_option("--y", options->y, "what the result held before, N,K,P,Q");
  command->add_option("--layout", options->parameters.layout,
                      "memory order for the stage: nchw, nhwc or chwn");
  command->add_option("--on", options->on, "where the stage runs: emulator or gpu");

  options = add_direction(*run_app, "conv2d-backward-data", "dx: the gradient by the input",
                          Direction::backward_data, kBackwardDataExamples, action, command);
  command->add_option("--dy", options->dy, "gradient of the output, N,K,P,Q")->required();
  command->add_option("--w", options->w, "filter, K,C/groups,R,S")->required();
  command->add_option("--input-size", options->input_size, "H,W of the input")->required();
  command->add_option("--dx", options->dx, "what the result held before, N,C,H,W");

  options = add_direction(*run_app, "conv2d-backward-filter", "dw: the gradient by the filter",
                          Direction::backward_filter, kBackwardFilterExamples, action, command);
  command->add_option("--x", options->x, "input, N,C,H,W")->required();
  command->add_option("--dy", options->dy, "gradient of the output, N,K,P,Q")->required();
  command->add_option("--filter-size", options->filter_size, "R,S of the filter")->required();
  command->add_option("--dw", options->dw, "what the result held before, K,C/groups,R,S");
}

}  // namespace sevenloops
