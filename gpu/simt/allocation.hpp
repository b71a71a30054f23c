#pragma once
// Emulated device memory as the checks see it.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sevenloops::simt {

/// Who wrote 4 bytes of global memory last, and with what instruction.
struct GlobalWriter {
  std::uint64_t tag;            ///< launch, block, bytes written, atomic or not
  std::uint64_t pc_and_thread;  ///< both as in check_global.cpp
};

/// One allocation. It lies in the middle of a stretch of memory that belongs to nobody else, so
/// that accesses a little outside of it meet no other allocation.
struct Allocation {
  std::uintptr_t base = 0;
  std::size_t bytes = 0;
  std::string name;
  bool read_only = false;
  std::uint64_t* initialized = nullptr;  ///< one bit a byte
  GlobalWriter* writers = nullptr;       ///< one for each 4 bytes

  // What was reserved from the system.
  void* region = nullptr;
  std::size_t region_bytes = 0, initialized_bytes = 0, writers_bytes = 0;

  bool contains(std::uintptr_t address, std::size_t size) const {
    return address - base < bytes && size <= bytes - (address - base);
  }
};

/// Every allocation there is, by address. They must stay while a launch runs.
std::vector<Allocation*> all_allocations();

}  // namespace sevenloops::simt
