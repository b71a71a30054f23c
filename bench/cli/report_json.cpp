#include "bench/cli/report_json.hpp"

#include <cmath>

#include "bench/cli/version.hpp"

namespace sevenloops {
namespace {

struct Named {
  const char *name, *value;
};
constexpr Named kSourceHashes[] = {
#include "stage_hashes.inc"
};

Json to_json(const simt::GlobalTraffic& t) {
  return {{"requests", t.requests}, {"sectors", t.sectors}, {"useful_bytes", t.useful_bytes}};
}

Json to_json(const simt::SharedTraffic& t) {
  return {{"requests", t.requests},
          {"wavefronts", t.wavefronts},
          {"bank_conflicts", t.bank_conflicts},
          {"merged_requests", t.merged_requests},
          {"merged_wavefronts", t.merged_wavefronts},
          {"merged_bank_conflicts", t.merged_bank_conflicts}};
}

Json to_json(const std::vector<simt::CountersOf>& parts) {
  Json array = Json::array();
  for (const simt::CountersOf& part : parts) {
    array.push_back({{"what", part.what}, {"counters", sevenloops::to_json(part.counters)}});
  }
  return array;
}

// JSON has no NaN or infinity.
Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(std::to_string(value));
}

}  // namespace

Json to_json(const simt::Counters& c) {
  return {{"global_load", to_json(c.global_load)},
          {"global_store", to_json(c.global_store)},
          {"shared_load", to_json(c.shared_load)},
          {"shared_store", to_json(c.shared_store)},
          {"atomics", c.atomics},
          {"barriers", c.barriers},
          {"collectives", c.collectives},
          {"flops", c.flops},
          {"warp_blocks", c.warp_blocks},
          {"lane_blocks", c.lane_blocks}};
}

Json to_json(const simt::Report& report) {
  Json launches = Json::array(), faults = Json::array();
  for (const simt::LaunchReport& launch : report.launches) {
    launches.push_back({{"kernel", launch.kernel},
                        {"grid", launch.grid},
                        {"block", launch.block},
                        {"static_shared_bytes", launch.static_shared_bytes},
                        {"dynamic_shared_bytes", launch.dynamic_shared_bytes},
                        {"blocks_total", launch.blocks_total},
                        {"blocks_traced", launch.blocks_traced},
                        {"counters", to_json(launch.counters)},
                        {"by_line", to_json(launch.by_line)},
                        {"by_array", to_json(launch.by_array)}});
  }
  for (const simt::Fault& fault : report.faults) {
    faults.push_back({{"kind", simt::name_of(fault.kind)},
                      {"kernel", fault.kernel},
                      {"lines", fault.lines},
                      {"block", fault.block},
                      {"threads", fault.threads},
                      {"array", fault.array},
                      {"message", fault.message},
                      {"count", fault.count}});
  }
  return {{"launches", launches}, {"faults", faults}};
}

Json to_json(const Verdict& verdict) {
  const Agreement& a = verdict.agreement;
  Json json{{"pass", verdict.pass},
            {"bitwise", a.bitwise},
            {"compared", a.compared},
            {"wrong", a.wrong},
            {"worst_bound_fraction", number(a.worst_bound_fraction)},
            {"worst_us", number(a.worst_us)},
            {"rms_us", number(a.rms_us)}};
  if (!verdict.pass) json["failure"] = verdict.failure;
  if (a.wrong > 0) {
    json["first_wrong"] = {
        {"index", a.first_wrong}, {"got", number(a.got)}, {"expected", number(a.expected)}};
  }
  return json;
}

Json stage_json(int index) {
  const Conv2dStage& stage = *conv2d_stages(Build::plain)[index];
  Json json{{"name", stage.name},
            {"idea", stage.idea},
            {"family", stage.family},
            {"order", stage.order == Order::reference ? "reference" : "own"},
            {"padding", stage.padding == Padding::skipped ? "skipped" : "multiplied"},
            {"deterministic", stage.deterministic},
            {"prepares", stage.prepare != nullptr}};
  for (const Named& hash : kSourceHashes) {
    if (hash.name == std::string("conv2d/") + stage.name) json["source_hash"] = hash.value;
  }
  return json;
}

Json program_json() {
  return {{"program", "sevenloops"},
          {"version", version()},
          {"commit", commit()},
          {"compiler", __VERSION__}};
}

}  // namespace sevenloops
