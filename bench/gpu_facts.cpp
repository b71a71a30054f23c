#include <cuda_runtime_api.h>

#include <algorithm>
#include <fstream>

#include "bench/measure.hpp"
#include "gpu/device_buffer.hpp"

namespace sevenloops {
namespace {

// "580.126.09" out of the line that the kernel module shows, or nothing.
std::string driver_version() {
  std::ifstream file("/proc/driver/nvidia/version");
  for (std::string word; file >> word;) {
    if (std::count(word.begin(), word.end(), '.') >= 1 &&
        word.find_first_not_of("0123456789.") == std::string::npos) {
      return word;
    }
  }
  return "";
}

// 13000, which is major * 1000 + minor * 10, as "13.0".
std::string dotted(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> gpu_facts() {
  int device = 0, runtime = 0;
  cudaDeviceProp properties{};
  if (!gpu_available() || cudaGetDevice(&device) != cudaSuccess ||
      cudaGetDeviceProperties(&properties, device) != cudaSuccess ||
      cudaRuntimeGetVersion(&runtime) != cudaSuccess) {
    return {};
  }
  std::vector<std::pair<std::string, std::string>> facts{
      {"gpu", properties.name},
      {"multiprocessors", std::to_string(properties.multiProcessorCount)},
      {"driver_version", driver_version()},
      {"cuda_version", dotted(runtime)}};
  for (auto& version : peer_versions()) facts.push_back(std::move(version));
  return facts;
}

}  // namespace sevenloops
