#pragma once
// The emulator's counters as the figures of a comparison, and what moved from one stage to the
// next.

#include <string>

#include "gpu/simt/report.hpp"

namespace sevenloops {

/// What the table shows of one stage. Sums over its launches.
struct Figures {
  double load_requests = 0, load_sectors = 0, load_useful_bytes = 0;
  double store_sectors = 0;
  double shared_wavefronts = 0, bank_conflicts = 0;  ///< as merged, what a GPU would do
  double barriers = 0;
  double active_lanes = 0;  ///< fraction of 32, averaged over basic blocks entered by warps
  double flops = 0;
  double workspace_bytes = 0;
  bool estimated = false;  ///< some launch was sampled and scaled up to all its blocks

  double sectors_per_request() const;  ///< 4 at best for 32 neighboring floats
  double useful_fraction() const;      ///< of the bytes of loaded sectors
  double store_share() const;          ///< stored among all sectors
  double flops_per_byte() const;       ///< of all global sectors
};

/// Launches of which only some blocks were traced count as if all had been.
Figures figures_of(const simt::Report& report, std::size_t workspace_bytes);

/// The figures of one line or array: as they were counted.
Figures figures_of(const simt::Counters& counters);

/// The (at most three) figures that changed most from `before`, most important first:
/// "load sectors 5.1x fewer, bank conflicts 0 -> 1.2k". "nothing that is counted here" when
/// none moved by more than a tenth.
std::string what_moved(const Figures& before, const Figures& after);

}  // namespace sevenloops
