#include <iostream>

#include "bench/cli/commands.hpp"
#include "bench/cli/layers.hpp"
#include "bench/cli/quantity.hpp"
#include "bench/cli/report_json.hpp"
#include "bench/cli/table.hpp"
#include "reference/core/error.hpp"

namespace sevenloops {
namespace {

constexpr const char* kExamples = R"(Examples:
  sevenloops list
  sevenloops list --json
  sevenloops list --layers
  sevenloops list --layers --set ResNet50)";

struct ListOptions {
  bool layers = false, json = false;
  std::string set;
};

void print_stages() {
  std::cout << inked("Stages of conv2d, in teaching order", Ink::strong) << "\n\n";
  Table table({{"stage", Align::left},
               {"family", Align::left},
               {"order of sums", Align::left},
               {"padding", Align::left},
               {"same bits\nevery run", Align::left},
               {"idea", Align::left}});
  for (const Conv2dStage* stage : conv2d_stages(Build::plain)) {
    table.add({stage->name, stage->family,
               stage->order == Order::reference ? "the definition's" : "its own",
               stage->padding == Padding::skipped ? "skipped" : "multiplied",
               stage->deterministic ? "yes" : "no", stage->idea});
  }
  table.print(std::cout);
}

Json stages_json() {
  Json array = Json::array();
  for (int i = 0; i < static_cast<int>(conv2d_stages(Build::plain).size()); ++i) {
    array.push_back(stage_json(i));
  }
  return {{"conv2d", array}};
}

std::vector<Layer> chosen_layers(const std::string& set) {
  std::vector<Layer> chosen;
  for (const Layer& layer : layers()) {
    if (set.empty() || layer.set == set) chosen.push_back(layer);
  }
  if (chosen.empty()) throw Error("--set", "\"" + set + "\"", "be a set of \"list --layers\"");
  return chosen;
}

std::string name_of(const Layer& layer) {
  return layer.set == "yardstick" ? layer.name : layer.set + "/" + layer.name;
}

void print_layers(const std::vector<Layer>& chosen) {
  Table table(
      {{"layer", Align::left}, {"problem", Align::left}, {"GFLOP"}, {"source", Align::left}});
  for (const Layer& layer : chosen) {
    table.add({name_of(layer), print(layer.prob), fixed(direct_flops(layer.prob) / 1e9, 3),
               layer.source});
  }
  table.print(std::cout);
}

Json layers_json(const std::vector<Layer>& chosen) {
  Json array = Json::array();
  for (const Layer& layer : chosen) {
    array.push_back({{"name", name_of(layer)},
                     {"set", layer.set},
                     {"problem", print(layer.prob)},
                     {"flops", direct_flops(layer.prob)},
                     {"source", layer.source}});
  }
  return {{"layers", array}};
}

int list(const ListOptions& options) {
  if (options.layers || !options.set.empty()) {
    const std::vector<Layer> chosen = chosen_layers(options.set);
    options.json ? void(std::cout << layers_json(chosen).dump(1) << '\n') : print_layers(chosen);
  } else {
    options.json ? void(std::cout << stages_json().dump(1) << '\n') : print_stages();
  }
  return 0;
}

}  // namespace

void add_list(CLI::App& app, Action& action) {
  auto options = std::make_shared<ListOptions>();
  CLI::App* const command = app.add_subcommand("list", "Show the stages, or the layers by name");
  command->footer(kExamples);
  command->add_flag("--layers", options->layers, "the layers instead of the stages");
  command->add_option("--set", options->set, "only the layers of this set");
  command->add_flag("--json", options->json, "as JSON");
  command->callback([options, &action] { action = [options] { return list(*options); }; });
}

}  // namespace sevenloops
