#include "bench/cli/compare.hpp"

#include "bench/cli/commands.hpp"
#include "bench/cli/output_file.hpp"
#include "reference/core/error.hpp"
#include "reference/core/numerics.hpp"

namespace sevenloops {
namespace {

constexpr const char* kStandardLayer = "L5";

constexpr const char* kExamples = R"(Examples:
  sevenloops compare conv2d
  sevenloops compare conv2d --layer R56 --stages direct,coalesced
  sevenloops compare conv2d --problem n1c8h28w28_k16r3s3_p1 --by array
  sevenloops compare conv2d --layer VGG --on gpu --json vgg.json
  sevenloops compare conv2d --x photo.npy --w bank.npy --pad 1)";

Json header_json(const CompareOptions& options, const Subject& subject) {
  Json json = program_json();
  json["command"] = "compare";
  json["primitive"] = options.subject.primitive;
  json["place"] = subject.place == Place::gpu ? "gpu" : "emulator";
  json["subject"] = subject.title;
  json["problem"] = print(subject.prob);
  json["asked_problem"] = print(subject.asked);
  json["flops"] = direct_flops(subject.prob);
  json["layout"] = name_of(subject.layout);
  json["seed"] = subject.seed;
  if (subject.own_tensors) {
    json["x"] = options.x;
    json["w"] = options.w;
    json["alpha"] = options.parameters.alpha;
    json["beta"] = options.parameters.beta;
  }
  return json;
}

template <typename T>
int compare_with(const CompareOptions& options, const Subject& subject,
                 const Conv2dOperands<T>* own) {
  Json json = header_json(options, subject);
  const int code = subject.place == Place::gpu
                       ? compare_on_gpu<T>(options, subject, own, json)
                       : compare_in_emulator<T>(options, subject, own, json);
  json["exit_code"] = code;
  if (!options.json.empty()) write_file(options.json, json.dump(1) + "\n");
  return code;
}

template <typename T>
int compare_own(CompareOptions& options) {
  options.parameters.layout = options.subject.layout;
  const Conv2dOperands<T> own = read_operands<T>({"--x", options.x}, {"--w", options.w},
                                                 {"--y", options.y}, options.parameters);
  Subject subject = subject_of(options.subject, own.prob);
  subject.title = options.x + " and " + options.w;
  return compare_with<T>(options, subject, &own);
}

int compare(CompareOptions options) {
  if (!options.json.empty()) require_writable(options.json);
  if (!options.by.empty()) word_of("--by", options.by, {"line", "array"});
  if (options.x.empty()) {
    const Subject subject = subject_of(options.subject, kStandardLayer, "");
    return subject.prob.dtype == Dtype::f64 ? compare_with<double>(options, subject, nullptr)
                                            : compare_with<float>(options, subject, nullptr);
  }
  require_primitive(options.subject.primitive);
  stages_named(options.subject.stages);
  place_of(options.subject.on);
  std::vector<NamedFile> files{{"--x", options.x}, {"--w", options.w}};
  if (!options.y.empty()) files.push_back({"--y", options.y});
  switch (common_dtype(files)) {
    case Dtype::f64:
      return compare_own<double>(options);
    case Dtype::f32:
      return compare_own<float>(options);
    default:
      throw Error(options.x +
                  " holds f16, but stages compute in fp32 and fp64: convert it, or use "
                  "\"sevenloops run\" with --stage reference");
  }
}

}  // namespace

void add_compare(CLI::App& app, Action& action) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* const command = app.add_subcommand(
      "compare", "Prove all stages right on one problem and put them side by side");
  command->footer(kExamples);
  options->subject.add_to(*command, "--stages");
  command->add_option("--by", options->by, "emulator: also counters by source line or by array");
  command->add_option("--sample", options->sample,
                      "emulator: trace about so many blocks of each launch, 0 = all");
  command->add_option("--json", options->json, "write everything to this file");
  CLI::Option* const x =
      command->add_option("--x", options->x, "your own input, N,C,H,W in an .npy file");
  CLI::Option* const w =
      command->add_option("--w", options->w, "your own filter, K,C/groups,R,S in an .npy file");
  x->needs(w)->excludes("--layer")->excludes("--problem")->excludes("--batch");
  w->needs(x);
  command->add_option("--y", options->y, "what the result held before, for --beta")->needs(x);
  for (CLI::Option* parameter : options->parameters.add_to(*command)) parameter->needs(x);
  command->callback([options, &action] { action = [options] { return compare(*options); }; });
}

}  // namespace sevenloops
