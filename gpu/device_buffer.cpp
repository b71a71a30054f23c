#include "gpu/device_buffer.hpp"

#include <cstring>
#include <string>

#include "gpu/simt/emulator.hpp"
#include "reference/core/error.hpp"

#ifdef SEVENLOOPS_HAS_CUDA
#include "gpu/check.hpp"
#endif

namespace sevenloops {

#ifdef SEVENLOOPS_HAS_CUDA
namespace {

void* allocate_on_gpu(std::size_t bytes, const char* name) {
  const char* why = "";
  if (!gpu_available(&why)) throw Error(std::string("there is no GPU to run on: ") + why);
  void* data = nullptr;
  if (cudaMalloc(&data, bytes) == cudaSuccess) return data;
  cudaGetLastError();  // the failure is not sticky: forget it
  std::size_t free_bytes = 0, total_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &total_bytes));
  throw Error(std::string(name) + " needs " + std::to_string(bytes) +
              " bytes of GPU memory, but only " + std::to_string(free_bytes) + " of " +
              std::to_string(total_bytes) + " are free");
}

}  // namespace

bool gpu_available(const char** why) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) cudaGetLastError();
  const bool available = status == cudaSuccess && count > 0;
  if (why != nullptr && !available) {
    *why = status == cudaSuccess ? "no CUDA device was found" : cudaGetErrorString(status);
  }
  return available;
}
#else
bool gpu_available(const char** why) {
  if (why != nullptr) *why = "this program was built without CUDA";
  return false;
}
#endif

DeviceBuffer::DeviceBuffer(Place place, std::size_t bytes, const char* name)
    : place_(place), bytes_(bytes) {
  if (place == Place::emulator) {
    data_ = simt::allocate(bytes, name);
    return;
  }
#ifdef SEVENLOOPS_HAS_CUDA
  data_ = allocate_on_gpu(bytes, name);
#else
  throw Error("there is no GPU to run on: this program was built without CUDA");
#endif
}

DeviceBuffer::~DeviceBuffer() {
  if (data_ == nullptr) return;
  if (place_ == Place::emulator) {
    simt::deallocate(data_);
    return;
  }
#ifdef SEVENLOOPS_HAS_CUDA
  cudaFree(data_);  // nothing can be done about a failure here; the next call reports it
#endif
}

namespace {

void require_inside(std::size_t offset, std::size_t bytes, std::size_t size) {
  if (offset > size || bytes > size - offset) {
    throw Error("the end of the bytes to copy", static_cast<long long>(offset + bytes),
                "be at most the buffer's size, " + std::to_string(size));
  }
}

}  // namespace

void DeviceBuffer::upload(const void* host, std::size_t bytes, std::size_t offset) {
  require_inside(offset, bytes, bytes_);
  if (bytes == 0) return;
  char* to = static_cast<char*>(data_) + offset;
  if (place_ == Place::emulator) {
    std::memcpy(to, host, bytes);
    simt::mark_initialized(to, bytes);
    return;
  }
#ifdef SEVENLOOPS_HAS_CUDA
  check(cudaDeviceSynchronize());
  check(cudaMemcpy(to, host, bytes, cudaMemcpyHostToDevice));
#endif
}

void DeviceBuffer::download(void* host, std::size_t bytes, std::size_t offset) const {
  require_inside(offset, bytes, bytes_);
  if (bytes == 0) return;
  const char* from = static_cast<const char*>(data_) + offset;
  if (place_ == Place::emulator) {
    std::memcpy(host, from, bytes);
    return;
  }
#ifdef SEVENLOOPS_HAS_CUDA
  check(cudaDeviceSynchronize());
  check(cudaMemcpy(host, from, bytes, cudaMemcpyDeviceToHost));
#endif
}

void DeviceBuffer::poison(unsigned char byte) {
  if (bytes_ == 0) return;
  if (place_ == Place::emulator) {
    std::memset(data_, byte, bytes_);
    simt::mark_uninitialized(data_, bytes_);
    return;
  }
#ifdef SEVENLOOPS_HAS_CUDA
  check(cudaDeviceSynchronize());
  check(cudaMemset(data_, byte, bytes_));
#endif
}

void DeviceBuffer::set_read_only(bool read_only) {
  if (place_ == Place::emulator && data_ != nullptr) simt::set_read_only(data_, read_only);
}

}  // namespace sevenloops
