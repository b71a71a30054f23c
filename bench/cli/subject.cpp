#include "bench/cli/subject.hpp"

#include <algorithm>

#include "bench/cli/layers.hpp"
#include "bench/cli/memory.hpp"
#include "bench/cli/nearest.hpp"
#include "gpu/conv2d/stages.hpp"
#include "reference/conv2d/conv2d.hpp"
#include "reference/core/error.hpp"

namespace sevenloops {
namespace {

// What each stage may take in the emulator before the batch is reduced.
constexpr double kEmulatorFlops = 4e8;

Subject with_choices(const SubjectOptions& options) {
  Subject subject;
  require_primitive(options.primitive);
  subject.stages = stages_named(options.stages);
  subject.layout = layout_of(options.layout);
  subject.seed = static_cast<std::uint64_t>(integer_of("--seed", options.seed, 0));
  subject.place = place_of(options.on);
  return subject;
}

// Stages compute in fp32 and fp64; other types have the reference only.
void require_stage_dtype(const Conv2dProblem& prob) {
  if (prob.dtype != Dtype::f32 && prob.dtype != Dtype::f64) {
    throw Error("the storage type", std::string(name_of(prob.dtype)),
                "be f32 or f64, the types in which stages compute");
  }
}

void require_memory_for(const Subject& subject) {
  require_stage_dtype(subject.prob);
  require_memory(
      verification_bytes(shapes_of(subject.prob, subject.layout), subject.stages, subject.place),
      "verifying " + print(subject.prob));
}

}  // namespace

void SubjectOptions::add_to(CLI::App& app, const std::string& stages_option) {
  app.add_option("primitive", primitive, "what is computed: conv2d")->required();
  CLI::Option* const by_layer =
      app.add_option("--layer", layer, "a layer by name (see: sevenloops list --layers)");
  app.add_option("--problem", problem, "a problem by its text, like n2c3h7w9_k4r3s3_p1_u2")
      ->excludes(by_layer);
  app.add_option("--on", on, "where stages run: emulator or gpu")->capture_default_str();
  app.add_option(stages_option, stages, "stages by name, separated by commas; all if left out")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--batch", batch,
                 "images instead of the problem's N; in the emulator else as many as take seconds");
  app.add_option("--layout", layout, "memory order: nchw, nhwc or chwn")->capture_default_str();
  app.add_option("--seed", seed, "of the random data")->capture_default_str();
}

std::int64_t affordable_batch(const Conv2dProblem& prob) {
  if (prob.N == 0) return 0;
  const double image_flops = direct_flops(prob) / static_cast<double>(prob.N);
  const double images = std::max(1.0, kEmulatorFlops / image_flops);
  return images < static_cast<double>(prob.N) ? static_cast<std::int64_t>(images) : prob.N;
}

std::string Subject::description() const {
  std::string text = title + (title.empty() ? "" : ", ") + print(prob);
  if (layout != Layout::nchw) text += " in " + std::string(name_of(layout));
  if (prob.N != asked.N) {
    text += " (only the batch was " + std::string(prob.N < asked.N ? "reduced" : "changed") +
            ", from " + std::to_string(asked.N) + " to " + std::to_string(prob.N) + ")";
  }
  return text;
}

Subject subject_of(const SubjectOptions& options, const std::string& standard_layer,
                   const std::string& standard_problem) {
  Subject subject = with_choices(options);
  const bool standard = options.layer.empty() && options.problem.empty();
  const std::string layer = standard ? standard_layer : options.layer;
  if (!layer.empty()) {
    const Layer& found = layer_named(layer);
    subject.title = "layer " + layer;
    subject.asked = found.prob;
  } else {
    subject.asked = parse_conv2d(standard ? standard_problem : options.problem);
  }
  subject.prob = subject.asked;
  if (!options.batch.empty()) {
    subject.prob.N = integer_of("--batch", options.batch, 0);
  } else if (subject.place == Place::emulator) {
    subject.prob.N = affordable_batch(subject.asked);
  }
  validate(subject.prob);
  require_memory_for(subject);
  return subject;
}

Subject subject_of(const SubjectOptions& options, const Conv2dProblem& prob) {
  Subject subject = with_choices(options);
  subject.asked = subject.prob = prob;
  subject.own_tensors = true;
  require_memory_for(subject);
  return subject;
}

void require_primitive(const std::string& name) {
  const std::vector<std::string> known{Conv2dForward::name};
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    throw Error(unknown("primitive", name, known));
  }
}

std::vector<int> stages_named(const std::vector<std::string>& names) {
  const auto all = conv2d_stages(Build::plain);
  std::vector<std::string> known;
  for (const Conv2dStage* stage : all) known.emplace_back(stage->name);
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw Error(unknown("stage", name, known, " (\"sevenloops list\" shows all)"));
    }
  }
  std::vector<int> indices;
  for (int i = 0; i < static_cast<int>(known.size()); ++i) {
    if (names.empty() || std::find(names.begin(), names.end(), known[i]) != names.end()) {
      indices.push_back(i);
    }
  }
  return indices;
}

Conv2dForward::Args shapes_of(const Conv2dProblem& prob, Layout layout) {
  const auto view = [layout](const Extents& e) {
    return AnyView{nullptr, e, strides_of(layout, e)};
  };
  Conv2dForward::Args args;
  args.prob = prob;
  args.x = view(x_extents(prob));
  args.w = view(w_extents(prob));
  args.y = view(y_extents(prob));
  return args;
}

}  // namespace sevenloops
