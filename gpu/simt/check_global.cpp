// Requests to global memory against what the host and other blocks did.

#include <thread>

#include "gpu/simt/tracer.hpp"
#include "gpu/simt/worker.hpp"

namespace sevenloops::simt {
namespace {

// A GlobalWriter's tag: launch number, block number (from 1), whether the write was atomic, and
// which of the 4 bytes it wrote.
constexpr std::uint64_t kAtomic = 16, kBytes = 15;
constexpr int kBlockBit = 5, kLaunchBit = 36;

std::uint64_t block_of(std::uint64_t tag) { return tag >> kBlockBit; }  // and launch

// Beside the thread stand the lowest bits of the block, to tell whose entry it is.
constexpr int kThreadBits = 10;
std::uint32_t thread_entry(unsigned thread, std::uint64_t block) {
  return static_cast<std::uint32_t>(block << kThreadBits | thread);
}

// The array of lane i: lanes of one request may use different ones.
Allocation* allocation_of(const LaunchState& launch, std::uint64_t address, ArrayNumber& number) {
  Allocation* allocation = launch.allocations[number - kFirstGlobal];
  if (allocation->contains(address, 1)) return allocation;
  for (std::size_t i = 0; i < launch.allocations.size(); ++i) {
    if (!launch.allocations[i]->contains(address, 1)) continue;
    number = static_cast<ArrayNumber>(kFirstGlobal + i);
    return launch.allocations[i];
  }
  return allocation;
}

}  // namespace

void Tracer::check_global(const Request& request) {
  const Allocation& allocation = *launch_->allocations[request.array - kFirstGlobal];
  const bool one_array = request.is_uniform || request.is_dense;
  const std::size_t together =
      request.is_uniform ? request.bytes : std::size_t{request.bytes} * request.count;
  const bool is_inside = one_array && allocation.contains(request.address[0], together);
  if (request.kind != AccessKind::write && launch_->options.sample_blocks == 0) {
    const bool known = is_inside && all_set(allocation.initialized,
                                            request.address[0] - allocation.base, together);
    for (int i = 0; i < request.count && !known; ++i) check_initialized(request, i);
  }
  if (request.kind == AccessKind::read) return;
  for (int i = 0; i < request.count; ++i) note_writer(request, i);
  if (is_inside) {
    set_bits(allocation.initialized, request.address[0] - allocation.base, together);
  }
}

void Tracer::check_initialized(const Request& request, int i) {
  ArrayNumber array = request.array;
  const Allocation& allocation = *allocation_of(*launch_, request.address[i], array);
  const std::size_t offset = request.address[i] - allocation.base;
  if (block_has_stopped_lanes_ || all_set(allocation.initialized, offset, request.bytes)) return;
  RawFault raw = fault(FaultKind::global_uninitialized_read, request.pc, request.thread(i), array);
  raw.story = "thread " + thread_text(request.thread(i)) + " reads " +
              extent_text(array, request.address[i], request.bytes) +
              ", which nobody has written, at {0}";
  faults_.add(std::move(raw));
}

void Tracer::note_writer(const Request& request, int i) {
  ArrayNumber array = request.array;
  const Allocation& allocation = *allocation_of(*launch_, request.address[i], array);
  const std::size_t offset = request.address[i] - allocation.base;
  if (!request.is_dense && !request.is_uniform) {
    set_bits(allocation.initialized, offset, request.bytes);
  }
  const std::uint64_t block = block_number_ + 1;
  const std::uint64_t self = std::uint64_t{launch_->number} << kLaunchBit |
                             (block & 0x7fffffff) << kBlockBit |
                             (request.kind == AccessKind::atomic ? kAtomic : 0);
  for (std::size_t word = offset / 4; word * 4 < offset + request.bytes; ++word) {
    std::uint64_t bytes = 0;
    for (std::size_t byte = 0; byte < 4; ++byte) {
      const std::size_t at = word * 4 + byte;
      if (at >= offset && at < offset + request.bytes) bytes |= 1u << byte;
    }
    GlobalWriter& writer = allocation.writers[word];
    std::atomic_ref tag(writer.tag), pc_and_thread(writer.pc_and_thread);
    std::uint64_t before = tag.load(std::memory_order_relaxed);
    std::uint64_t entry = pc_and_thread.load(std::memory_order_relaxed);
    std::uint64_t next = self | bytes;
    if (block_of(before) == block_of(self)) {
      // Atomic only if all of the block's writes are.
      next = (next | (before & kBytes)) & ~(kAtomic & ~before);
      if (next == before) continue;
    }
    before = tag.exchange(next);
    const bool same_launch = before >> kLaunchBit == self >> kLaunchBit;
    const bool both_atomic = (before & self & kAtomic) != 0;
    if (same_launch && block_of(before) != block_of(self) && (before & bytes) != 0 &&
        !both_atomic) {
      // The other worker may still be about to say who it is.
      const std::uint64_t other = block_of(before) & 0x7fffffff;
      const auto is_others = [&] {
        return (entry >> kThreadBits & 0x3fffff) == (other & 0x3fffff);
      };
      for (int turn = 0; turn < 1000 && !is_others(); ++turn) {
        std::this_thread::yield();
        entry = pc_and_thread.load(std::memory_order_relaxed);
      }
      report_block_race(request, i, array, other - 1, static_cast<std::uint32_t>(entry >> 32));
    }
    pc_and_thread.store(std::uint64_t{request.pc} << 32 | thread_entry(request.thread(i), block),
                        std::memory_order_relaxed);
  }
}

void Tracer::report_block_race(const Request& request, int i, ArrayNumber array,
                               std::uint64_t other_block, std::uint32_t other_pc) {
  RawFault raw = fault(FaultKind::global_race_between_blocks, request.pc, request.thread(i), array);
  raw.pcs = {other_pc, request.pc};
  const Triple& grid = launch_->launch->grid;
  const Index other{static_cast<unsigned>(other_block % grid[0]),
                    static_cast<unsigned>(other_block / grid[0] % grid[1]),
                    static_cast<unsigned>(other_block / grid[0] / grid[1])};
  if (block_number_ < other_block) std::swap(raw.pcs[0], raw.pcs[1]);
  const Index& low = block_number_ < other_block ? raw.block : other;
  const Index& high = block_number_ < other_block ? other : raw.block;
  raw.story = "blocks " + text(low) + " and " + text(high) + " both write " +
              extent_text(array, request.address[i], request.bytes) +
              ", at {0} and {1}, and not both atomically";
  faults_.add(std::move(raw));
}

std::optional<Writer> last_writer(const void* memory) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  for (const Allocation* allocation : all_allocations()) {
    if (!allocation->contains(address, 1) || allocation->writers == nullptr) continue;
    const GlobalWriter& writer = allocation->writers[(address - allocation->base) / 4];
    if (writer.tag == 0) return std::nullopt;
    return Writer{static_cast<std::uint32_t>(writer.tag >> kLaunchBit),
                  (block_of(writer.tag) & 0x7fffffff) - 1,
                  static_cast<std::uint32_t>(writer.pc_and_thread & ((1u << kThreadBits) - 1))};
  }
  return std::nullopt;
}

}  // namespace sevenloops::simt
