#pragma once
// What the emulator says about a launch: counters and faults. Names follow Nsight Compute.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace sevenloops::simt {

/// Three extents or indices in the order x, y, z.
using Triple = std::array<std::uint32_t, 3>;

/// Requests of one kind to memory by whole warps.
struct GlobalTraffic {
  std::uint64_t requests = 0;      ///< warp-level accesses
  std::uint64_t sectors = 0;       ///< distinct 32-byte sectors, summed over requests
  std::uint64_t useful_bytes = 0;  ///< bytes asked for by lanes, a byte of one request once
  bool operator==(const GlobalTraffic&) const = default;
};

struct SharedTraffic {
  std::uint64_t requests = 0;         ///< warp-level accesses as the source writes them
  std::uint64_t wavefronts = 0;       ///< passes through the banks
  std::uint64_t bank_conflicts = 0;   ///< wavefronts beyond the ideal
  std::uint64_t merged_requests = 0;  ///< the same after ptxas' merging into 64/128-bit accesses
  std::uint64_t merged_wavefronts = 0;
  std::uint64_t merged_bank_conflicts = 0;
  bool operator==(const SharedTraffic&) const = default;
};

/// Counters of one launch, or of one source line or array of it. Deterministic: the same for any
/// number of workers, any thread order of a deterministic kernel, and g++ or clang.
struct Counters {
  GlobalTraffic global_load, global_store;
  SharedTraffic shared_load, shared_store;
  std::uint64_t atomics = 0;      ///< warp-level atomic requests (global and shared)
  std::uint64_t barriers = 0;     ///< block-wide barriers passed, per block
  std::uint64_t collectives = 0;  ///< warp-level shuffles, votes, warp barriers
  std::uint64_t flops = 0;        ///< 2 per counted fma, per lane
  std::uint64_t warp_blocks = 0;  ///< steps of warps: their requests to memory
  std::uint64_t lane_blocks = 0;  ///< the same counted by lane; / (32 * warp_blocks) = converged
  bool operator==(const Counters&) const = default;
};

/// Counters of one source line, or of one array ("x", "w", "y", "workspace", or a __shared__ name).
struct CountersOf {
  std::string what;  ///< "direct.cu:42" or the array's name
  Counters counters;
};

struct LaunchReport {
  std::uint32_t number = 0;  ///< counts the launches of the process, plain ones too
  std::string kernel;        ///< demangled, without namespaces
  Triple grid{}, block{};
  std::uint64_t dynamic_shared_bytes = 0, static_shared_bytes = 0;
  std::uint64_t blocks_total = 0, blocks_traced = 0;  ///< differ when blocks were sampled
  Counters counters;
  std::vector<CountersOf> by_line, by_array;
};

enum class FaultKind {
  shared_race,
  barrier_not_reached_by_all,
  shared_uninitialized_read,
  shared_overrun,
  global_out_of_bounds,
  misaligned_access,
  global_uninitialized_read,
  absent_lanes,
  async_copy_not_awaited,
  write_to_const,
  global_race_between_blocks,
  impossible_launch,
  index_out_of_range,
};

/// One fault, told once per (kind, kernel, source lines) with how often it was seen.
struct Fault {
  FaultKind kind{};
  std::string kernel;
  std::vector<std::string> lines;  ///< "broken.cu:17", the accesses involved
  Triple block{};
  std::vector<Triple> threads;  ///< those involved, in the block
  std::string array;            ///< the shared array or allocation, where there is one
  std::string message;          ///< the whole story in one sentence
  std::uint64_t count = 1;
};

struct Report {
  std::vector<LaunchReport> launches;
  std::vector<Fault> faults;
};

/// Counters added up.
Counters& operator+=(Counters& to, const Counters& from);
/// Counters added up over launches.
Counters total(const Report& report);

/// The name of a kind as printed: "shared-memory race", ...
const char* name_of(FaultKind kind);

}  // namespace sevenloops::simt
