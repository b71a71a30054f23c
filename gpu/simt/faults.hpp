#pragma once
#include <cstddef>
#include <string>

#include "gpu/simt/launch_state.hpp"
namespace sevenloops::simt {
void record_impossible_launch(const LaunchState& launch, const std::string& why);
void record_launch(const LaunchState& launch, std::size_t static_shared_bytes);
}  // namespace sevenloops::simt
