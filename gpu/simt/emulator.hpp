#pragma once
// The emulator as its users see it: sessions, memory, launches. Kernels see device.hpp instead.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "gpu/simt/report.hpp"

namespace sevenloops::simt {

/// The order in which the lanes of a warp and the warps of a block are run between barriers.
enum class ThreadOrder { forward, reverse, shuffle };

struct Options {
  ThreadOrder order = ThreadOrder::forward;
  std::uint64_t seed = 0;           ///< of ThreadOrder::shuffle
  int workers = 0;                  ///< OS threads; 0 = one per core
  std::uint64_t sample_blocks = 0;  ///< trace about so many blocks (corners, edges, inside); 0 =
                                    ///< all. The others are not run by traced launches.
  bool poison_shared = true;        ///< fill shared memory with NaN bytes before each block
};

/// Sets the options for launches made by this OS thread and collects their reports, until it ends.
/// Without a session plain launches run with default options and traced launches keep no report.
/// Sessions nest; the innermost counts.
class Session {
 public:
  explicit Session(const Options& options = {});
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// What traced launches reported so far.
  const Report& report() const;

 private:
  struct State;
  friend struct SessionAccess;
  std::unique_ptr<State> state_;
};

/// Emulated device memory: 256-byte aligned, known to the checks, contents uninitialized (0xFF).
/// Throws Error when there is no such memory.
void* allocate(std::size_t bytes, const char* name = "unnamed");
void deallocate(void* memory);

/// Where [memory, memory + bytes) lies inside an allocation, tells the checks what the host did.
void mark_initialized(const void* memory, std::size_t bytes);
void mark_uninitialized(const void* memory, std::size_t bytes);
/// Writes by kernels to a read-only allocation are faults.
void set_read_only(const void* memory, bool read_only);
/// Changes the name under which the allocation appears in reports.
void set_name(const void* memory, const char* name);

/// The block of a traced launch that wrote an element of global memory last, and the first of its
/// threads that did.
struct Writer {
  std::uint32_t launch = 0;  ///< LaunchReport::number
  std::uint64_t block = 0;   ///< counted through the grid, x fastest
  std::uint32_t thread = 0;  ///< counted through the block, x fastest
};

/// Who wrote the 4 bytes that hold `memory`, while their allocation lives. Empty when no traced
/// launch did.
std::optional<Writer> last_writer(const void* memory);

}  // namespace sevenloops::simt
