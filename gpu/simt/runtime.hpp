#pragma once
// What the kernel side (device.hpp, launch.hpp, async_copy.hpp) asks of the emulator. These
// functions lie in the emulator's library, so that calling them is not itself traced. Users see
// emulator.hpp.

#include <cstddef>
#include <cstdint>

#include "gpu/simt/report.hpp"

namespace sevenloops::simt {

/// Three indices or extents as kernels see them.
struct Index {
  unsigned x, y, z;
};

// What a thread knows about itself. `const`: within a thread the answer never changes.
[[gnu::const]] Index thread_index() noexcept;
[[gnu::const]] Index block_index() noexcept;
[[gnu::const]] Index block_extent() noexcept;
[[gnu::const]] Index grid_extent() noexcept;
[[gnu::const]] void* dynamic_shared_memory() noexcept;

/// Waits for all threads of the block.
struct BarrierVotes {
  int count, all, any;  ///< of the predicates of all threads
};
BarrierVotes barrier(int predicate);

/// Waits for the lanes of the warp that `mask` names.
enum class Collective : std::uint8_t { sync, shuffle, ballot };
/// shuffle: the value that lane `source` brought, one's own when it is not in `mask`.
/// ballot: the lanes of `mask` that brought a value other than 0. sync: 0.
std::uint64_t collective(Collective kind, unsigned mask, std::uint64_t value, unsigned source);
/// The lanes of the warp that have not ended.
unsigned active_lanes();

/// The memory operation itself, indivisible.
template <typename T>
T atomic_add(T* memory, T value);
template <typename T>
T atomic_max(T* memory, T value);
template <typename T>
T atomic_min(T* memory, T value);
template <typename T>
T atomic_exchange(T* memory, T value);
template <typename T>
T atomic_compare_exchange(T* memory, T expected, T value);

// Traced builds only: tell the checks and counters.
void note_atomic(const void* memory, std::size_t bytes);
void note_fma();

// Asynchronous copies: bytes arrive at the wait; zeros where `global` is null.
void async_copy(void* shared, const void* global, std::size_t bytes);
void async_commit();
void async_wait(int groups_in_flight);

/// A launch, its kernel's type forgotten.
struct Launch {
  Triple grid, block;
  std::size_t dynamic_shared_bytes;
  const void* kernel;         ///< address of the kernel, for its name
  void (*body)(const void*);  ///< calls the kernel with the arguments at `arguments`
  const void* arguments;
  std::size_t arguments_bytes;
  bool traced;
};

/// Runs every thread of every block. Throws Error when the shape is impossible, and in plain builds
/// when a thread fails. Returns when all threads have ended.
void launch(const Launch& launch);

/// The limits of CUDA devices since compute capability 7.5; throws Error when one is exceeded.
/// `static_bytes` + `dynamic_bytes` is the shared memory of a block.
void require_possible(const Triple& grid, const Triple& block, std::size_t static_bytes,
                      std::size_t dynamic_bytes);

}  // namespace sevenloops::simt
