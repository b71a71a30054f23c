#pragma once
// Errors of the CUDA runtime become Errors of ours.

#include <cuda_runtime_api.h>

#include <source_location>
#include <string>

#include "reference/core/error.hpp"

namespace sevenloops {

/// Throws Error with CUDA's own words and the place of the call when `status` is not success.
inline void check(cudaError_t status,
                  const std::source_location& place = std::source_location::current()) {
  if (status == cudaSuccess) return;
  throw Error(std::string("CUDA reports '") + cudaGetErrorString(status) + "' at " +
              place.file_name() + ":" + std::to_string(place.line()));
}

}  // namespace sevenloops
