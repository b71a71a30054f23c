#include "bench/cli/memory.hpp"

#include <algorithm>
#include <fstream>
#include <limits>

#include "bench/cli/quantity.hpp"
#include "reference/core/error.hpp"

namespace sevenloops {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

// The number in a file that holds nothing else, or infinity ("max", or no such file).
double number_in(const char* path) {
  std::ifstream file(path);
  double value = 0;
  return file >> value ? value : kUnlimited;
}

// What a container may still take.
double left_in_container() {
  const double limit = number_in("/sys/fs/cgroup/memory.max");
  return limit == kUnlimited ? limit : limit - number_in("/sys/fs/cgroup/memory.current");
}

double free_in_machine() {
  std::ifstream file("/proc/meminfo");
  for (std::string key, unit; file >> key;) {
    double value = 0;
    if (!(file >> value)) break;
    if (key == "MemAvailable:") return 1024 * value;
    std::getline(file, unit);
  }
  return kUnlimited;
}

double count(const std::array<std::int64_t, 4>& e) {
  return static_cast<double>(e[0]) * static_cast<double>(e[1]) * static_cast<double>(e[2]) *
         static_cast<double>(e[3]);
}

}  // namespace

double available_bytes() { return std::min(free_in_machine(), left_in_container()); }

void require_memory(double bytes, const std::string& what) {
  const double available = available_bytes();
  if (bytes > available) {
    throw Error(what + " needs about " + bytes_text(bytes) + " of memory, but only " +
                bytes_text(std::max(available, 0.0)) + " are available");
  }
}

double verification_bytes(const Conv2dForward::Args& args, const std::vector<int>& stages,
                          Place place) {
  const double element = static_cast<double>(size_in_bytes(args.prob.dtype));
  // On the host and on the device with its marks, and in fp64.
  const double inputs =
      (count(args.x.extents) + count(args.w.extents)) * (2 * element + element + 8);
  // Old and new on host and device, and value, magnitude, taps and twin of the reference.
  const double output = count(args.y.extents) * (4 * element + 3 * 8 + element);
  if (place == Place::gpu) return inputs + output;
  double workspace = 0;
  for (const int index : stages) {
    const Conv2dStage& stage = *conv2d_stages(Build::plain)[index];
    if (!supports(stage, args, place)) continue;
    workspace = std::max(workspace, static_cast<double>(stage.workspace_bytes(args)));
  }
  // The emulator notes who wrote each word.
  constexpr double kWriters = 4;
  return inputs + output + kWriters * element * count(args.y.extents) + (3 + kWriters) * workspace;
}

}  // namespace sevenloops
