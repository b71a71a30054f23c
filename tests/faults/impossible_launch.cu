// Launches that no GPU accepts: the kernel is never started.

#include "gpu/cuda.hpp"
#include "gpu/launch.hpp"
#include "reference/core/error.hpp"
#include "tests/faults/fault_case.hpp"

namespace sevenloops::SEVENLOOPS_BUILD {
namespace {

using simt::FaultKind;

__global__ void write_one(float* y) { y[0] = 1.0f; }

std::vector<float> run_shape(const LaunchShape& shape) {
  Memory y("y", std::vector<float>(1));
  launch(write_one, shape, nullptr, y.data());
  return y.values();
}

const LaunchShape kPossible{dim3(1), dim3(1), 0};

std::vector<float> block_of_1025_threads(bool broken) {
  return run_shape(broken ? LaunchShape{dim3(1), dim3(1025), 0} : kPossible);
}

std::vector<float> block_of_2048_threads_in_two_axes(bool broken) {
  return run_shape(broken ? LaunchShape{dim3(1), dim3(64, 32), 0} : kPossible);
}

std::vector<float> block_depth_of_65(bool broken) {
  return run_shape(broken ? LaunchShape{dim3(1), dim3(1, 1, 65), 0} : kPossible);
}

std::vector<float> grid_depth_of_65536(bool broken) {
  return run_shape(broken ? LaunchShape{dim3(1, 1, 65536), dim3(1), 0} : kPossible);
}

std::vector<float> grid_height_of_65536(bool broken) {
  return run_shape(broken ? LaunchShape{dim3(1, 65536), dim3(1), 0} : kPossible);
}

std::vector<float> empty_grid(bool broken) {
  return run_shape(broken ? LaunchShape{dim3(0), dim3(1), 0} : kPossible);
}

std::vector<float> empty_block(bool broken) {
  return run_shape(broken ? LaunchShape{dim3(1), dim3(32, 0), 0} : kPossible);
}

std::vector<float> shared_memory_of_a_megabyte(bool broken) {
  return run_shape(broken ? LaunchShape{dim3(1), dim3(1), 1 << 20} : kPossible);
}

}  // namespace

std::vector<FaultCase> impossible_launch_cases() {
  const auto launch_fault = [](const char* name, std::vector<float> (*function)(bool)) {
    return FaultCase{
        name,    "impossible_launch.cu", FaultKind::impossible_launch, "write_one", {}, {}, {},
        function};
  };
  return {
      launch_fault("block_of_1025_threads", block_of_1025_threads),
      launch_fault("block_of_2048_threads_in_two_axes", block_of_2048_threads_in_two_axes),
      launch_fault("block_depth_of_65", block_depth_of_65),
      launch_fault("grid_depth_of_65536", grid_depth_of_65536),
      launch_fault("grid_height_of_65536", grid_height_of_65536),
      launch_fault("empty_grid", empty_grid),
      launch_fault("empty_block", empty_block),
      launch_fault("shared_memory_of_a_megabyte", shared_memory_of_a_megabyte),
  };
}

}  // namespace sevenloops::SEVENLOOPS_BUILD
