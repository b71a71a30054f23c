#include "gpu/simt/allocation.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <mutex>

#include "gpu/simt/bits.hpp"
#include "gpu/simt/emulator.hpp"
#include "reference/core/error.hpp"

namespace sevenloops::simt {
namespace {

constexpr std::size_t kPage = 65536;  // a multiple of every page size
constexpr std::size_t kMaxGap = std::size_t{1} << 30;

struct Registry {
  std::mutex mutex;
  std::map<std::uintptr_t, std::unique_ptr<Allocation>> by_base;
};

Registry& registry() {
  static Registry registry;
  return registry;
}

// The allocation that holds `memory`, or null. The registry must be locked.
Allocation* find(const void* memory) {
  auto& by_base = registry().by_base;
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  auto next = by_base.upper_bound(address);
  if (next == by_base.begin()) return nullptr;
  Allocation* before = std::prev(next)->second.get();
  return before->contains(address, 0) ? before : nullptr;
}

std::size_t pages(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

// Address space; the system gives memory to those pages only that are touched.
void* reserve(std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

// Bytes this process may still fill: the machine's, or fewer where its control group says so.
std::size_t available_bytes() {
  std::size_t available = std::numeric_limits<std::size_t>::max();
  std::ifstream machine("/proc/meminfo");
  for (std::string key, unit; machine >> key;) {
    std::size_t kilobytes = 0;
    if (key == "MemAvailable:" && machine >> kilobytes) available = kilobytes * 1024;
    std::getline(machine, unit);
  }
  std::size_t limit = 0, used = 0;
  std::ifstream max("/sys/fs/cgroup/memory.max"), current("/sys/fs/cgroup/memory.current");
  if (max >> limit && current >> used) {
    available = std::min(available, limit > used ? limit - used : 0);
  }
  return available;
}

void release(const Allocation& allocation) {
  const auto unmap = [](void* memory, std::size_t bytes) {
    if (memory != nullptr) munmap(memory, bytes);
  };
  unmap(allocation.region, allocation.region_bytes);
  unmap(allocation.initialized, allocation.initialized_bytes);
  unmap(allocation.writers, allocation.writers_bytes);
}

void mark(const void* memory, std::size_t bytes, bool initialized) {
  const std::lock_guard lock(registry().mutex);
  Allocation* allocation = find(memory);
  if (allocation == nullptr) return;
  const std::size_t first = reinterpret_cast<std::uintptr_t>(memory) - allocation->base;
  const std::size_t count = std::min(bytes, allocation->bytes - first);
  (initialized ? set_bits : clear_bits)(allocation->initialized, first, count);
}

}  // namespace

void* allocate(std::size_t bytes, const char* name) {
  const auto refuse = [&](std::size_t available) {
    throw Error(std::string(name) + " needs " + std::to_string(bytes) +
                " bytes of memory, but only " + std::to_string(available) + " are available");
  };
  const std::size_t available = available_bytes();
  if (bytes > available) refuse(available);
  auto allocation = std::make_unique<Allocation>();
  const std::size_t gap = std::min(pages(bytes) + kPage, kMaxGap);
  allocation->region_bytes = gap + pages(bytes) + gap;
  allocation->initialized_bytes = pages(bytes / 8 + 8);
  allocation->writers_bytes = pages((bytes / 4 + 1) * sizeof(GlobalWriter));
  allocation->region = reserve(allocation->region_bytes);
  allocation->initialized = static_cast<std::uint64_t*>(reserve(allocation->initialized_bytes));
  allocation->writers = static_cast<GlobalWriter*>(reserve(allocation->writers_bytes));
  if (allocation->region == nullptr || allocation->initialized == nullptr ||
      allocation->writers == nullptr) {
    release(*allocation);
    refuse(available);
  }
  allocation->base = reinterpret_cast<std::uintptr_t>(allocation->region) + gap;
  allocation->bytes = bytes;
  allocation->name = name;
  void* memory = reinterpret_cast<void*>(allocation->base);
  std::memset(memory, 0xFF, bytes);
  const std::lock_guard lock(registry().mutex);
  registry().by_base.emplace(allocation->base, std::move(allocation));
  return memory;
}

void deallocate(void* memory) {
  const std::lock_guard lock(registry().mutex);
  auto found = registry().by_base.find(reinterpret_cast<std::uintptr_t>(memory));
  if (found == registry().by_base.end()) return;
  release(*found->second);
  registry().by_base.erase(found);
}

void mark_initialized(const void* memory, std::size_t bytes) { mark(memory, bytes, true); }

void mark_uninitialized(const void* memory, std::size_t bytes) { mark(memory, bytes, false); }

void set_read_only(const void* memory, bool read_only) {
  const std::lock_guard lock(registry().mutex);
  if (Allocation* allocation = find(memory)) allocation->read_only = read_only;
}

void set_name(const void* memory, const char* name) {
  const std::lock_guard lock(registry().mutex);
  if (Allocation* allocation = find(memory)) allocation->name = name;
}

std::vector<Allocation*> all_allocations() {
  const std::lock_guard lock(registry().mutex);
  std::vector<Allocation*> all;
  for (const auto& [base, allocation] : registry().by_base) all.push_back(allocation.get());
  return all;
}

}  // namespace sevenloops::simt
