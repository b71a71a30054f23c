#pragma once
// Memory for one operand of a run that is to be watched.

#include <string>
#include <vector>

#include "gpu/device_buffer.hpp"

namespace sevenloops {

/// Do guards surround the operand, or does it fill its allocation to the last byte? Guards show
/// writes outside, on any place; the emulator's checks show reads too, but only past an allocation.
enum class Guards { around, none };

/// Owns device memory for `bytes` bytes of an operand called `name`, all set to `poison` and to the
/// emulator's checks uninitialized. The operand starts 256-byte aligned, then shifted by
/// `shift_bytes`. Guards hold a pattern in which every place differs from its neighbors. Throws
/// Error when there is not enough memory.
class GuardedBuffer {
 public:
  GuardedBuffer(Place place, const char* name, std::size_t bytes, std::size_t shift_bytes,
                Guards guards, unsigned char poison);

  /// Where the operand starts.
  void* data() const { return static_cast<unsigned char*>(buffer_.data()) + front_.size(); }
  std::size_t bytes() const { return bytes_; }

  /// Copies the operand from host memory; it counts as initialized.
  void upload(const void* host);
  /// Copies the operand to host memory after all work submitted before.
  void download(void* host) const;
  /// Emulator: writes by kernels become faults.
  void set_read_only() { buffer_.set_read_only(true); }

  /// Adds a sentence to `violations` for each guard that changed.
  void check_guards(std::vector<std::string>& violations) const;

 private:
  void check_guard(const char* side, std::size_t offset, const std::vector<unsigned char>& guard,
                   std::vector<std::string>& violations) const;

  std::string name_;
  std::size_t bytes_;
  std::vector<unsigned char> front_, back_;  // what the guards hold
  DeviceBuffer buffer_;
};

}  // namespace sevenloops
