#include "bench/cli/figures.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/cli/quantity.hpp"

namespace sevenloops {
namespace {

constexpr double kSectorBytes = 32, kWarpLanes = 32;

void add(Figures& figures, const simt::Counters& c, double scale) {
  const auto scaled = [scale](std::uint64_t count) { return scale * static_cast<double>(count); };
  figures.load_requests += scaled(c.global_load.requests);
  figures.load_sectors += scaled(c.global_load.sectors);
  figures.load_useful_bytes += scaled(c.global_load.useful_bytes);
  figures.store_sectors += scaled(c.global_store.sectors);
  figures.shared_wavefronts +=
      scaled(c.shared_load.merged_wavefronts + c.shared_store.merged_wavefronts);
  figures.bank_conflicts +=
      scaled(c.shared_load.merged_bank_conflicts + c.shared_store.merged_bank_conflicts);
  figures.barriers += scaled(c.barriers);
  figures.flops += scaled(c.flops);
}

double ratio(double a, double b) { return b == 0 ? std::nan("") : a / b; }

double active_lanes(double lane_blocks, double warp_blocks) {
  return ratio(lane_blocks, kWarpLanes * warp_blocks);
}

// One figure in the sentence.
struct Moved {
  double strength = 0;  // |log2| of the ratio, or a fixed one where one side is zero
  std::string text;
};

// "<name> 5.1x fewer"
Moved count_moved(const std::string& name, double before, double after, const char* fewer,
                  const char* more) {
  constexpr double kFromNothing = 3;  // as strong as a factor of eight
  if (before == after) return {};
  if (before == 0 || after == 0) {
    return {kFromNothing, name + " " + quantity(before) + " -> " + quantity(after)};
  }
  const double factor = after / before;
  return {std::abs(std::log2(factor)),
          name + " " + (factor < 1 ? times(1 / factor) + " " + fewer : times(factor) + " " + more)};
}

Moved fraction_moved(const std::string& name, double before, double after) {
  if (std::isnan(before) || std::isnan(after) || before == 0 || after == 0) return {};
  return {std::abs(std::log2(after / before)),
          name + " " + percent(before) + " -> " + percent(after)};
}

}  // namespace

double Figures::sectors_per_request() const { return ratio(load_sectors, load_requests); }

double Figures::useful_fraction() const {
  return ratio(load_useful_bytes, kSectorBytes * load_sectors);
}

double Figures::flops_per_byte() const {
  return ratio(flops, kSectorBytes * (load_sectors + store_sectors));
}

double Figures::store_share() const { return ratio(store_sectors, load_sectors + store_sectors); }

Figures figures_of(const simt::Report& report, std::size_t workspace_bytes) {
  Figures figures;
  figures.workspace_bytes = static_cast<double>(workspace_bytes);
  double lane_blocks = 0, warp_blocks = 0;
  for (const simt::LaunchReport& launch : report.launches) {
    const bool sampled = launch.blocks_traced < launch.blocks_total;
    const double scale = sampled ? static_cast<double>(launch.blocks_total) /
                                       static_cast<double>(launch.blocks_traced)
                                 : 1;
    figures.estimated |= sampled;
    add(figures, launch.counters, scale);
    lane_blocks += scale * static_cast<double>(launch.counters.lane_blocks);
    warp_blocks += scale * static_cast<double>(launch.counters.warp_blocks);
  }
  figures.active_lanes = active_lanes(lane_blocks, warp_blocks);
  return figures;
}

Figures figures_of(const simt::Counters& counters) {
  Figures figures;
  add(figures, counters, 1);
  figures.active_lanes = active_lanes(static_cast<double>(counters.lane_blocks),
                                      static_cast<double>(counters.warp_blocks));
  return figures;
}

std::string what_moved(const Figures& before, const Figures& after) {
  constexpr double kWorthTelling = 0.1375;  // log2(1.1)
  constexpr double kWorthStores = 0.1;      // of all sectors, before or after
  const double store_share = std::max(before.store_share(), after.store_share());
  std::vector<Moved> moved{
      count_moved("load requests", before.load_requests, after.load_requests, "fewer", "more"),
      count_moved("load sectors", before.load_sectors, after.load_sectors, "fewer", "more"),
      store_share > kWorthStores
          ? count_moved("store sectors", before.store_sectors, after.store_sectors, "fewer", "more")
          : Moved{},
      fraction_moved("bytes used", before.useful_fraction(), after.useful_fraction()),
      count_moved("shared wavefronts", before.shared_wavefronts, after.shared_wavefronts, "fewer",
                  "more"),
      count_moved("bank conflicts", before.bank_conflicts, after.bank_conflicts, "fewer", "more"),
      count_moved("FLOP", before.flops, after.flops, "fewer", "more"),
      fraction_moved("lanes active", before.active_lanes, after.active_lanes),
  };
  std::erase_if(moved, [](const Moved& m) { return m.strength < kWorthTelling; });
  std::stable_sort(moved.begin(), moved.end(),
                   [](const Moved& a, const Moved& b) { return a.strength > b.strength; });
  if (before.workspace_bytes == 0 && after.workspace_bytes > 0) {
    moved.insert(
        moved.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(2, moved.size())),
        {1, "a workspace of " + bytes_text(after.workspace_bytes)});
  }
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(moved.size(), 3); ++i) {
    text += (i == 0 ? "" : ", ") + moved[i].text;
  }
  return text.empty() ? "nothing that is counted here" : text;
}

}  // namespace sevenloops
