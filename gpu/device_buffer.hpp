#pragma once
// Memory on the place where stages run.

#include <cstddef>
#include <utility>

#include "gpu/place.hpp"

namespace sevenloops {

/// Owns `bytes` bytes of device memory at `place` (cudaMalloc, or the emulator's). Throws Error
/// with sizes when there is not enough, and when `place` is the GPU and there is none.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  DeviceBuffer(Place place, std::size_t bytes, const char* name = "unnamed");
  ~DeviceBuffer();
  DeviceBuffer(DeviceBuffer&& other) noexcept { swap(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    swap(other);
    return *this;
  }

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  Place place() const { return place_; }

  /// Copies host memory to [offset, offset + bytes); these bytes count as initialized.
  void upload(const void* host, std::size_t bytes, std::size_t offset = 0);
  /// Copies to the host, after all work submitted before has ended.
  void download(void* host, std::size_t bytes, std::size_t offset = 0) const;
  /// Fills everything with `byte`; to the emulator's checks the memory is uninitialized again.
  void poison(unsigned char byte);
  /// Emulator: writes by kernels become faults. GPU: no effect.
  void set_read_only(bool read_only);

 private:
  void swap(DeviceBuffer& other) noexcept {
    std::swap(place_, other.place_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }

  Place place_ = Place::emulator;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Is there a GPU that this binary was built for? If not, `why` (when given) says what is missing.
bool gpu_available(const char** why = nullptr);

}  // namespace sevenloops
