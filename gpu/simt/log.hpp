#pragma once
// What a traced thread writes down while it runs, to be read warp by warp afterwards.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sevenloops::simt {

class Tracer;
struct Lane;

enum class AccessKind : std::uint8_t {
  read,
  write,
  atomic,
  async_begin,    ///< an asynchronous copy will write here
  async_arrival,  ///< and now has
  jump,           ///< no access: where the thread stood before it jumped backwards
};

/// Arrays by number: 0 is none, then the program's `__shared__` arrays, the dynamic shared memory,
/// and from kFirstGlobal on the allocations.
using ArrayNumber = std::uint16_t;
inline constexpr ArrayNumber kNoArray = 0;
inline constexpr ArrayNumber kFirstGlobal = 0x4000;

/// One access of one thread, or one jump.
struct Record {
  std::uint64_t address;
  std::uint32_t pc;  ///< after the call of the hook, in the file
  ArrayNumber array;
  std::uint8_t bytes;
  AccessKind kind;
};

/// An array index that its compiler found out of range; the address follows with the access.
struct PendingIndex {
  std::int64_t index = 0;
  std::string_view type;
  std::size_t array_bytes = 0, stride_bytes = 0;
  std::uint32_t pc = 0;
  int accesses_left = 0;  ///< 0: nothing pending
};

/// Where one thread writes. Only the threads of the warp that is running have records.
struct LaneLog {
  Record* next = nullptr;   ///< where the next record goes
  Record* alarm = nullptr;  ///< reaching this needs attention: the end, or something pending
  Record* read = nullptr;   ///< the next to be read
  std::uintptr_t stack_low = 0;
  std::size_t stack_bytes = 0;
  std::uint32_t last_block = 0;  ///< the basic block entered last
  std::uint32_t last_pc = 0;     ///< the furthest that was met since the last jump backwards
  Record* first = nullptr;
  Record* end = nullptr;
  Tracer* tracer = nullptr;
  Lane* lane = nullptr;
  PendingIndex pending;
};

/// The log of the lane that runs on this OS thread; null outside of traced lanes.
extern __thread LaneLog* traced_lane;

/// While it lives the emulator's own work on a lane's fiber is not traced: it uses library
/// functions whose copies in the program may be traced ones.
class Untraced {
 public:
  Untraced() : log_(traced_lane) { traced_lane = nullptr; }
  ~Untraced() { traced_lane = log_; }
  Untraced(const Untraced&) = delete;
  Untraced& operator=(const Untraced&) = delete;

 private:
  LaneLog* log_;
};

}  // namespace sevenloops::simt
