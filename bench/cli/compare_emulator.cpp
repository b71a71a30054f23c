#include <cmath>
#include <cstring>
#include <iostream>

#include "bench/cli/compare.hpp"
#include "bench/cli/figures.hpp"
#include "bench/cli/quantity.hpp"
#include "bench/cli/table.hpp"
#include "reference/core/error.hpp"

namespace sevenloops {
namespace {

// Above this, launches are traced in sampled blocks only.
constexpr double kTraceFlops = 1e8;
constexpr std::uint64_t kSampledBlocks = 64;

// What is known about one stage afterwards.
struct Row {
  int index;
  std::string refused;  // why the stage was not run
  Verdict exact, real;
  Figures figures;

  const char* name() const { return conv2d_stages(Build::plain)[index]->name; }
  bool failed() const { return refused.empty() && (!exact.pass || !real.pass); }
};

std::uint64_t sample_blocks(const CompareOptions& options, const Subject& subject) {
  if (!options.sample.empty()) {
    return static_cast<std::uint64_t>(integer_of("--sample", options.sample, 0));
  }
  return direct_flops(subject.prob) > kTraceFlops ? kSampledBlocks : 0;
}

// Runs every stage on the judge's operands and leaves the verdicts in the rows.
template <typename T>
void verify_all(std::vector<Row>& rows, const Judge<T>& judge, const ExecuteOptions& options,
                Verdict Row::*verdict, const std::string& what, Progress& progress) {
  for (Row& row : rows) {
    if (!row.refused.empty()) continue;
    progress.begin(std::string(row.name()) + ": " + what);
    row.*verdict = verify(row.index, judge, options);
  }
}

template <typename T>
std::vector<Row> examined(const Subject& subject, const Conv2dOperands<T>* own,
                          std::uint64_t sampled) {
  std::vector<Row> rows;
  for (const int index : subject.stages) {
    Row& row = rows.emplace_back(Row{index, "", {}, {}, {}});
    const Conv2dStage& stage = *conv2d_stages(Build::plain)[index];
    const Support support =
        supports(stage, shapes_of(subject.prob, subject.layout), Place::emulator);
    if (!support) row.refused = "does not support this problem: " + support.reason;
    row.exact.pass = own != nullptr;  // not asked for
  }
  Progress progress((static_cast<int>(rows.size()) + 1) * (own != nullptr ? 1 : 2));
  ExecuteOptions options;
  const auto operands = [&](DataKind kind) {
    return make_operands<T>(subject.prob, subject.layout, kind, subject.seed);
  };
  if (own == nullptr) {
    progress.begin("the definition, on integers");
    const Conv2dOperands<T> integers = operands(DataKind::exact);
    const Judge<T> judge(integers, DataKind::exact);
    verify_all(rows, judge, options, &Row::exact, "integers, bit for bit", progress);
  }
  options.trace = true;
  options.emulator.sample_blocks = sampled;
  progress.begin("the definition, on real data");
  const Conv2dOperands<T> reals = own == nullptr ? operands(DataKind::real) : *own;
  // The user's data need not have random signs, which the alarm for real data takes for granted.
  const Judge<T> judge(reals, own == nullptr ? DataKind::real : DataKind::adversarial);
  verify_all(rows, judge, options, &Row::real, "checks and counters", progress);
  for (Row& row : rows) row.figures = figures_of(row.real.report, row.real.workspace_bytes);
  return rows;
}

Cell exact_cell(const Row& row) {
  if (!row.exact.pass) return Cell("WRONG", Ink::bad);
  return Cell(row.exact.agreement.bitwise ? "exact" : "bound", Ink::good);
}

Cell real_cell(const Row& row) {
  const Agreement& a = row.real.agreement;
  if (!row.real.pass) return Cell(a.wrong > 0 ? "WRONG" : "FAULT", Ink::bad);
  return Cell(fraction_of_bound(a.worst_bound_fraction), Ink::good);
}

void print_table(const std::vector<Row>& rows, bool own) {
  std::vector<Column> columns({{"stage", Align::left},
                               {"on\nintegers"},
                               {"error\n/ bound"},
                               {"work-\nspace"},
                               {"load\nrequests"},
                               {"sectors\n/request"},
                               {"bytes\nused"},
                               {"shared\nwavefronts"},
                               {"bank\nconflicts"},
                               {"barriers"},
                               {"lanes\nactive"},
                               {"FLOP"},
                               {"FLOP\n/byte"}});
  constexpr std::ptrdiff_t kExact = 1;  // not on the user's own data
  if (own) columns.erase(columns.begin() + kExact);
  Table table(columns);
  for (const Row& row : rows) {
    if (!row.refused.empty()) {
      table.add({row.name(), Cell(row.refused, Ink::faint)});
      continue;
    }
    const Figures& f = row.figures;
    const std::string about = f.estimated ? "~" : "";
    std::vector<Cell> cells(
        {row.name(), exact_cell(row), real_cell(row), bytes_text(f.workspace_bytes),
         about + quantity(f.load_requests),
         std::isnan(f.sectors_per_request()) ? "-" : fixed(f.sectors_per_request(), 1),
         percent(f.useful_fraction()), about + quantity(f.shared_wavefronts),
         about + quantity(f.bank_conflicts), about + quantity(f.barriers), percent(f.active_lanes),
         about + quantity(f.flops),
         std::isnan(f.flops_per_byte()) ? "-" : fixed(f.flops_per_byte(), 1)});
    if (own) cells.erase(cells.begin() + kExact);
    table.add(cells);
  }
  table.print(std::cout, terminal_width());
}

// How each stage differs from the one before that was run too.
void print_what_moved(const std::vector<Row>& rows) {
  const Row* before = nullptr;
  for (const Row& row : rows) {
    if (!row.refused.empty()) continue;
    if (before != nullptr) {
      if (before == &rows.front()) std::cout << "\nWhat moved\n";
      const std::string pair = std::string(row.name()) + " against " + before->name() + ": ";
      std::cout << "  " << inked(pair, Ink::strong) << what_moved(before->figures, row.figures)
                << '\n';
    }
    before = &row;
  }
}

void print_faults(const std::vector<Row>& rows) {
  std::size_t launches = 0, faults = 0;
  for (const Row& row : rows) {
    launches += row.real.report.launches.size();
    faults += row.real.report.faults.size();
  }
  std::cout << '\n'
            << (faults == 0 ? "No fault" : inked(std::to_string(faults) + " faults", Ink::bad))
            << " in " << launches << " traced launches: races, barriers, wild or early accesses.\n";
}

void print_parts(const Row& row, const std::string& by) {
  for (const simt::LaunchReport& launch : row.real.report.launches) {
    const auto& parts = by == "line" ? launch.by_line : launch.by_array;
    std::cout << '\n' << inked(launch.kernel, Ink::strong) << " by " << by << '\n';
    Table table({{by, Align::left},
                 {"load\nrequests"},
                 {"sectors\n/request"},
                 {"bytes\nused"},
                 {"store\nsectors"},
                 {"shared\nwavefronts"},
                 {"bank\nconflicts"},
                 {"FLOP"}});
    for (const simt::CountersOf& part : parts) {
      const Figures f = figures_of(part.counters);
      table.add({part.what, quantity(f.load_requests),
                 std::isnan(f.sectors_per_request()) ? "-" : fixed(f.sectors_per_request(), 1),
                 percent(f.useful_fraction()), quantity(f.store_sectors),
                 quantity(f.shared_wavefronts), quantity(f.bank_conflicts), quantity(f.flops)});
    }
    table.print(std::cout);
  }
}

constexpr const char* kLegend =
    R"(on integers      exact: equal to the seven loops, bit for bit; bound: within its rounding errors
error / bound    worst rounding error on real data; 1 is the most that theory allows
load requests    reads of global memory, each by the 32 threads of a warp together
sectors/request  32-byte pieces it touches: 4 if 32 floats lie side by side, 32 if none do
bytes used       the part of those sectors that some thread asked for
wavefronts       passes through shared memory; conflicts are those a better layout saves
lanes active     threads of a warp that take part, on average
FLOP/byte        arithmetic for each byte that crosses to or from global memory
)";

int verdict_of(const std::vector<Row>& rows) {
  int failed = 0, ran = 0;
  for (const Row& row : rows) {
    ran += row.refused.empty();
    if (!row.failed()) continue;
    ++failed;
    const Verdict& worst = row.exact.pass ? row.real : row.exact;
    std::cout << inked(worst.failure, Ink::bad) << '\n';
  }
  if (ran == 0) throw Error("no stage supports this problem, so nothing was compared");
  return failed > 0 ? 1 : 0;
}

Json row_json(const Row& row, bool own) {
  Json json = stage_json(row.index);
  if (!row.refused.empty()) {
    json["refused"] = row.refused;
    return json;
  }
  if (!own) json["integers"] = to_json(row.exact);
  json[own ? "own_data" : "real_data"] = to_json(row.real);
  json["workspace_bytes"] = row.real.workspace_bytes;
  json["counters"] = to_json(simt::total(row.real.report));
  const Json report = to_json(row.real.report);
  json["launches"] = report["launches"];
  json["faults"] = report["faults"];
  return json;
}

}  // namespace

template <typename T>
int compare_in_emulator(const CompareOptions& options, const Subject& subject,
                        const Conv2dOperands<T>* own, Json& results) {
  const std::uint64_t sampled = sample_blocks(options, subject);
  std::cout << "In the emulator: " << subject.description() << '\n';
  if (sampled > 0) {
    std::cout << "Results come from all blocks; counters (~) from about " << sampled
              << " blocks of each launch: corners, edges, inside\n";
  }
  std::cout << std::endl;
  const std::vector<Row> rows = examined(subject, own, sampled);
  print_table(rows, own != nullptr);
  print_faults(rows);
  print_what_moved(rows);
  if (!options.by.empty()) {
    for (const Row& row : rows) print_parts(row, options.by);
  }
  std::cout << '\n'
            << inked(kLegend + (own != nullptr ? std::strchr(kLegend, '\n') + 1 - kLegend : 0),
                     Ink::faint);
  results["sample_blocks"] = sampled;
  for (const Row& row : rows) results["stages"].push_back(row_json(row, own != nullptr));
  return verdict_of(rows);
}

template int compare_in_emulator(const CompareOptions&, const Subject&,
                                 const Conv2dOperands<float>*, Json&);
template int compare_in_emulator(const CompareOptions&, const Subject&,
                                 const Conv2dOperands<double>*, Json&);

}  // namespace sevenloops
