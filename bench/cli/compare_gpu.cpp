#include <algorithm>
#include <iostream>

#include "bench/cli/compare.hpp"
#include "bench/cli/quantity.hpp"
#include "bench/cli/table.hpp"
#include "bench/measure.hpp"
#include "bench/work.hpp"
#include "reference/core/error.hpp"

namespace sevenloops {
namespace {

// The times against which all others are held.
struct Floor {
  double ms = 0;  // no implementation of direct sums on this GPU is faster
  double peak_tflops = 0, copy_tb_per_s = 0;
};

Floor floor_of(const Subject& subject, bool reads_y) {
  const Ceilings& ceilings = measured_ceilings();
  Floor floor;
  floor.peak_tflops =
      subject.prob.dtype == Dtype::f64 ? ceilings.fp64_tflops : ceilings.fp32_tflops;
  floor.copy_tb_per_s = ceilings.copy_tb_per_s;
  floor.ms = floor_ms(subject.prob, floor.peak_tflops, floor.copy_tb_per_s, reads_y);
  return floor;
}

bool is_wrong(const Measured& row) { return row.refused.starts_with("wrong"); }

std::string milliseconds(double ms) { return fixed(ms, ms < 0.9995 ? 4 : ms < 99.95 ? 3 : 1); }

std::vector<Cell> cells_of(const Measured& row, const Measured* before, const Measured* best_peer,
                           const Subject& subject, const Floor& floor) {
  if (!row.refused.empty()) {
    return {row.name, Cell(row.refused, is_wrong(row) ? Ink::bad : Ink::faint)};
  }
  const double ms = row.timing.median_ms;
  const auto speedup = [ms](const Measured* other) {
    return other == nullptr ? "" : times(other->timing.median_ms / ms);
  };
  return {row.name,
          row.exact ? Cell("exact", Ink::good) : Cell("rounded"),
          fraction_of_bound(row.worst_bound_fraction),
          bytes_text(static_cast<double>(row.workspace_bytes)),
          row.prepare_ms > 0 ? milliseconds(row.prepare_ms) : "",
          Cell(milliseconds(ms), Ink::strong),
          percent(row.timing.spread()),
          fixed(row.tflops(subject.prob), 2),
          percent(floor.ms / ms),
          speedup(before),
          speedup(best_peer)};
}

Json row_json(const Measured& row, const Subject& subject) {
  Json json{{"name", row.name}, {"library", row.library}};
  if (!row.refused.empty()) {
    json["refused"] = row.refused;
    return json;
  }
  json["exact_on_integers"] = row.exact;
  json["worst_bound_fraction"] = row.worst_bound_fraction;
  json["rms_error"] = row.rms_error;
  json["is_convolution"] = row.is_convolution;
  json["workspace_bytes"] = row.workspace_bytes;
  json["prepare_ms"] = row.prepare_ms;
  json["median_ms"] = row.timing.median_ms;
  json["p10_ms"] = row.timing.p10_ms;
  json["p90_ms"] = row.timing.p90_ms;
  json["runs"] = row.timing.runs;
  json["tflops"] = row.tflops(subject.prob);
  return json;
}

void print_table(const std::vector<Measured>& rows, const Measured* peer, const Subject& subject,
                 const Floor& floor) {
  std::vector<Column> columns{{"", Align::left},        {"on\nintegers"}, {"error\n/ bound"},
                              {"work-\nspace"},         {"prepare\nms"},  {"time\nms"},
                              {"spread\n10-90 %"},      {"TFLOP/s"},      {"of the\nceiling"},
                              {"speed-up\non previous"}};
  if (peer != nullptr) columns.push_back({"speed-up\non " + peer->library});
  constexpr std::ptrdiff_t kPrepare = 4;  // a column that few stages need
  const bool prepares =
      std::any_of(rows.begin(), rows.end(), [](const Measured& row) { return row.prepare_ms > 0; });
  const std::size_t count = columns.size();
  if (!prepares) columns.erase(columns.begin() + kPrepare);
  Table table(columns);
  const Measured* before = nullptr;
  const auto add = [&](const Measured& row) {
    std::vector<Cell> cells =
        cells_of(row, row.library.empty() ? before : nullptr, peer, subject, floor);
    if (row.refused.empty()) {
      cells.resize(count, "");
      if (!prepares) cells.erase(cells.begin() + kPrepare);
      before = &row;
    }
    table.add(cells);
  };
  for (const Measured& row : rows) add(row);
  if (peer != nullptr) add(*peer);
  table.print(std::cout, terminal_width());
}

}  // namespace

template <typename T>
int compare_on_gpu(const CompareOptions& options, const Subject& subject,
                   const Conv2dOperands<T>* own, Json& results) {
  if (!options.by.empty() || !options.sample.empty()) {
    throw Error("--by and --sample belong to the emulator's counters; a GPU measures times");
  }
  const auto facts = gpu_facts();
  const std::string gpu = facts.empty() ? "the GPU" : facts.front().second;
  LayerBench bench = own != nullptr ? LayerBench(*own, subject.layout, subject.seed)
                                    : LayerBench(subject.prob, subject.layout, subject.seed);
  std::cout << "On " << gpu << ": " << subject.description() << "\n" << std::endl;
  std::vector<Measured> rows, peers;
  {
    Progress progress(static_cast<int>(subject.stages.size()) + 1);
    for (const int index : subject.stages) {
      progress.begin(conv2d_stages(Build::plain)[index]->name);
      rows.push_back(bench.stage(index));
    }
    progress.begin("libraries");
    peers = bench.peers();
  }
  const Floor floor = floor_of(subject, own != nullptr && own->beta != 0);
  const Measured* const peer = fastest(peers);
  print_table(rows, peer, subject, floor);
  std::cout << "\nThe ceiling, " << milliseconds(floor.ms) << " ms, is from rates measured in this "
            << "run: " << fixed(floor.peak_tflops, 1) << " TFLOP/s, "
            << fixed(floor.copy_tb_per_s, 2) << " TB/s. Times are medians, L2 cold.\n";
  if (peer == nullptr) {
    std::cout << "No library's rows: this build has no cuDNN, or it offers nothing for this.\n";
  } else {
    std::cout << peer->name << " is the fastest of " << peers.size() << " algorithms found.\n";
  }

  for (const auto& [name, value] : facts) results["machine"][name] = value;
  results["ceiling"] = {{"floor_ms", floor.ms},
                        {"peak_tflops", floor.peak_tflops},
                        {"copy_tb_per_s", floor.copy_tb_per_s}};
  int wrong = 0, ran = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Json json = stage_json(subject.stages[i]);
    json.update(row_json(rows[i], subject));
    results["stages"].push_back(json);
    wrong += is_wrong(rows[i]);
    ran += rows[i].refused.empty();
  }
  results["libraries"] = Json::array();
  for (const Measured& row : peers) results["libraries"].push_back(row_json(row, subject));
  if (wrong == 0 && ran == 0) throw Error("no stage could be run: " + rows.front().refused);
  return wrong > 0 ? 1 : 0;
}

template int compare_on_gpu(const CompareOptions&, const Subject&, const Conv2dOperands<float>*,
                            Json&);
template int compare_on_gpu(const CompareOptions&, const Subject&, const Conv2dOperands<double>*,
                            Json&);

}  // namespace sevenloops
