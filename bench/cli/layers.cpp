#include "bench/cli/layers.hpp"

#include <algorithm>
#include <charconv>
#include <map>

#include "bench/cli/nearest.hpp"
#include "reference/core/error.hpp"

namespace sevenloops {
namespace {

// The tables of bench/layers, put into the program by the build.
constexpr std::string_view kTables[] = {
#include "layer_tables.inc"
};

// The cells of the next line, which is taken off `csv`. Cells may stand in double quotes.
std::vector<std::string> take_row(std::string_view& csv) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  std::size_t i = 0;
  for (; i < csv.size() && csv[i] != '\n'; ++i) {
    if (csv[i] == '"') {
      quoted = !quoted;
    } else if (csv[i] == ',' && !quoted) {
      cells.emplace_back();
    } else if (csv[i] != '\r') {
      cells.back() += csv[i];
    }
  }
  csv.remove_prefix(std::min(i + 1, csv.size()));
  return cells;
}

// One line of a table, its cells by the names of their columns.
class Row {
 public:
  Row(const std::vector<std::string>& columns, std::vector<std::string> cells)
      : cells_(std::move(cells)) {
    if (cells_.size() != columns.size()) {
      throw Error("a layer table has a line of " + std::to_string(cells_.size()) + " cells under " +
                  std::to_string(columns.size()) + " columns: it starts with " + cells_[0]);
    }
    for (std::size_t i = 0; i < columns.size(); ++i) index_[columns[i]] = i;
  }

  const std::string& text(const std::string& column) const {
    const auto found = index_.find(column);
    if (found == index_.end()) throw Error("a layer table has no column " + column);
    return cells_[found->second];
  }

  std::int64_t number(const std::string& column) const {
    const std::string& cell = text(column);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error != std::errc() || end != cell.data() + cell.size()) {
      throw Error("column " + column + " of a layer table", "\"" + cell + "\"", "be a number");
    }
    return value;
  }

 private:
  std::map<std::string, std::size_t> index_;
  std::vector<std::string> cells_;
};

Layer layer_of(const Row& row) {
  const std::int64_t pad_h = row.number("pad_h"), pad_w = row.number("pad_w");
  Layer layer{row.text("set"),
              row.text("name"),
              {.N = row.number("N"),
               .C = row.number("C"),
               .H = row.number("H"),
               .W = row.number("W"),
               .K = row.number("K"),
               .R = row.number("R"),
               .S = row.number("S"),
               .pad_top = pad_h,
               .pad_left = pad_w,
               .pad_bottom = pad_h,
               .pad_right = pad_w,
               .stride_h = row.number("stride_h"),
               .stride_w = row.number("stride_w"),
               .dilation_h = row.number("dil_h"),
               .dilation_w = row.number("dil_w"),
               .groups = row.number("groups")},
              row.text("source")};
  validate(layer.prob);
  return layer;
}

constexpr const char* kYardstick = "yardstick";

std::vector<Layer> all_layers() {
  std::vector<Layer> all;
  for (const std::string_view table : kTables) {
    for (Layer& layer : parse_layers(table)) all.push_back(std::move(layer));
  }
  std::stable_partition(all.begin(), all.end(),
                        [](const Layer& layer) { return layer.set == kYardstick; });
  return all;
}

std::string full_name(const Layer& layer) { return layer.set + "/" + layer.name; }

}  // namespace

std::vector<Layer> parse_layers(std::string_view csv) {
  const std::vector<std::string> columns = take_row(csv);
  std::vector<Layer> found;
  while (!csv.empty()) found.push_back(layer_of(Row(columns, take_row(csv))));
  return found;
}

const std::vector<Layer>& layers() {
  static const std::vector<Layer> all = all_layers();
  return all;
}

const Layer& layer_named(std::string_view name) {
  std::vector<const Layer*> same_name;
  for (const Layer& layer : layers()) {
    if (full_name(layer) == name || (layer.set == kYardstick && layer.name == name)) return layer;
    if (layer.name == name) same_name.push_back(&layer);
  }
  if (same_name.size() == 1) return *same_name[0];
  if (same_name.size() > 1) {
    std::string choices;
    for (const Layer* layer : same_name)
      choices += (choices.empty() ? "" : ", ") + full_name(*layer);
    throw Error("layer " + std::string(name) + " is in several sets; say which: " + choices);
  }
  // A name without a set is compared with names, one with a set with full names.
  std::vector<std::string> candidates;
  const bool with_set = name.find('/') != std::string_view::npos;
  for (const Layer& layer : layers()) {
    candidates.push_back(layer.set == kYardstick && !with_set ? layer.name : full_name(layer));
    if (!with_set && layer.set != kYardstick) candidates.push_back(layer.name);
  }
  throw Error(unknown("layer", name, candidates, " (\"sevenloops list --layers\" shows all)"));
}

std::vector<Layer> yardstick_layers(const std::vector<std::string>& names) {
  std::vector<Layer> chosen;
  std::vector<std::string> known;
  for (const Layer& layer : layers()) {
    if (layer.set != kYardstick) continue;
    known.push_back(layer.name);
    if (names.empty()) chosen.push_back(layer);
  }
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw Error(unknown("yardstick layer", name, known));
    }
    chosen.push_back(layer_named(name));
  }
  return chosen;
}

}  // namespace sevenloops
