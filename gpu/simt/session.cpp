#include "gpu/simt/session.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "gpu/simt/source_lines.hpp"

namespace sevenloops::simt {
namespace {

/// A launch before its instructions were looked up in the source.
struct RawLaunch {
  LaunchReport report;
  std::map<std::pair<std::uint32_t, std::string>, Counters> counters;  // by pc and array
  std::vector<RawFault> faults;
};

Fault told(const RawFault& raw, const std::string& kernel) {
  Fault fault;
  fault.kind = raw.kind;
  fault.kernel = kernel;
  fault.block = {raw.block.x, raw.block.y, raw.block.z};
  for (const Index& i : raw.threads) fault.threads.push_back({i.x, i.y, i.z});
  fault.array = raw.array;
  fault.count = raw.count;
  std::string story = raw.story;
  const std::vector<std::string> places = source_lines(raw.pcs);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::string mark = "{" + std::to_string(i) + "}";
    if (const auto at = story.find(mark); at != std::string::npos) {
      story.replace(at, mark.size(), places[i]);
    }
    if (std::find(fault.lines.begin(), fault.lines.end(), places[i]) == fault.lines.end()) {
      fault.lines.push_back(places[i]);
    }
  }
  std::sort(fault.lines.begin(), fault.lines.end());
  fault.message = std::string(name_of(raw.kind)) + " in " + kernel +
                  (raw.pcs.empty() ? ": " : ", block " + text(raw.block) + ": ") + story;
  return fault;
}

// "direct.cu:42" in the order of the source.
std::pair<std::string, unsigned long> line_order(const std::string& place) {
  const auto colon = place.rfind(':');
  if (colon == std::string::npos) return {place, 0};
  return {place.substr(0, colon), std::strtoul(place.c_str() + colon + 1, nullptr, 10)};
}

LaunchReport told(const RawLaunch& raw) {
  LaunchReport report = raw.report;
  std::vector<std::uint32_t> pcs;
  for (const auto& [key, counters] : raw.counters) pcs.push_back(key.first);
  const std::vector<std::string> places = source_lines(pcs);
  std::map<std::pair<std::string, unsigned long>, CountersOf> by_line;
  std::map<std::string, CountersOf> by_array;
  std::size_t i = 0;
  for (const auto& [key, counters] : raw.counters) {
    const std::string& place = places[i++];
    CountersOf& line = by_line[line_order(place)];
    line.what = place;
    line.counters += counters;
    if (key.second.empty()) continue;
    CountersOf& array = by_array[key.second];
    array.what = key.second;
    array.counters += counters;
  }
  for (auto& [order, line] : by_line) report.by_line.push_back(std::move(line));
  for (auto& [name, array] : by_array) report.by_array.push_back(std::move(array));
  return report;
}

}  // namespace

struct Session::State {
  Options options;
  State* outer = nullptr;
  std::vector<RawLaunch> launches;
  std::size_t told_launches = 0;
  Report report;

  void tell();
};

/// Reaches the innermost session.
struct SessionAccess {
  static thread_local Session::State* innermost;
};
thread_local Session::State* SessionAccess::innermost = nullptr;

// Completes the report; the source is searched only when somebody wants to know.
void Session::State::tell() {
  std::vector<std::uint32_t> pcs;  // all at once: each search costs the start of a program
  for (std::size_t i = told_launches; i < launches.size(); ++i) {
    for (const auto& [key, counters] : launches[i].counters) pcs.push_back(key.first);
    for (const RawFault& raw : launches[i].faults) {
      pcs.insert(pcs.end(), raw.pcs.begin(), raw.pcs.end());
    }
  }
  source_lines(pcs);
  for (; told_launches < launches.size(); ++told_launches) {
    const RawLaunch& raw = launches[told_launches];
    if (raw.report.blocks_total > 0) report.launches.push_back(told(raw));
    for (const RawFault& raw_fault : raw.faults) {
      Fault fault = told(raw_fault, raw.report.kernel);
      if (raw_fault.only_if_lines_differ && fault.lines.size() < 2) continue;
      const auto same =
          std::find_if(report.faults.begin(), report.faults.end(), [&](const Fault& known) {
            return std::tie(known.kind, known.kernel, known.lines) ==
                   std::tie(fault.kind, fault.kernel, fault.lines);
          });
      if (same == report.faults.end()) {
        report.faults.push_back(std::move(fault));
      } else {
        same->count += fault.count;
      }
    }
  }
}

Session::Session(const Options& options) : state_(new State) {
  state_->options = options;
  state_->outer = SessionAccess::innermost;
  SessionAccess::innermost = state_.get();
}

Session::~Session() { SessionAccess::innermost = state_->outer; }

const Report& Session::report() const {
  state_->tell();
  return state_->report;
}

Options current_options() {
  const auto* session = SessionAccess::innermost;
  return session == nullptr ? Options() : session->options;
}

void record_launch(LaunchState& launch, std::uint64_t static_shared_bytes) {
  auto* session = SessionAccess::innermost;
  if (session == nullptr) return;
  RawLaunch raw;
  raw.report.number = launch.number;
  raw.report.kernel = launch.kernel;
  raw.report.grid = launch.launch->grid;
  raw.report.block = launch.launch->block;
  raw.report.dynamic_shared_bytes = launch.launch->dynamic_shared_bytes;
  raw.report.static_shared_bytes = static_shared_bytes;
  raw.report.blocks_total = launch.blocks_total;
  raw.report.blocks_traced = launch.blocks_to_run();
  for (const auto& [key, counters] : launch.counters) raw.report.counters += counters;
  raw.counters = std::move(launch.counters);
  raw.faults = launch.faults.take();
  session->launches.push_back(std::move(raw));
}

void record_impossible_launch(LaunchState& launch, const std::string& why) {
  auto* session = SessionAccess::innermost;
  if (session == nullptr) return;
  RawFault fault;
  fault.kind = FaultKind::impossible_launch;
  fault.story = why;
  RawLaunch raw;
  raw.report.kernel = launch.kernel;
  raw.faults.push_back(std::move(fault));
  session->launches.push_back(std::move(raw));
}

}  // namespace sevenloops::simt
