#include "gpu/simt/traffic.hpp"

#include <algorithm>

namespace sevenloops::simt {
namespace {

constexpr unsigned kSectorBits = 5, kBanks = 32;

// Distinct words of lanes [first, last), counted by bank.
Wavefronts passes(const Request& request, int first, int last) {
  std::array<std::array<std::uint64_t, 64>, kBanks> words;  // of a bank, the first counts[bank]
  std::array<std::uint8_t, kBanks> counts{};
  unsigned most = 0, all = 0;
  for (int i = first; i < last; ++i) {
    const std::uint64_t begin = request.address[i] / 4;
    const std::uint64_t end = (request.address[i] + request.bytes + 3) / 4;
    for (std::uint64_t word = begin; word < end; ++word) {
      const unsigned bank = word % kBanks;
      auto* known = words[bank].data();
      if (std::find(known, known + counts[bank], word) != known + counts[bank]) continue;
      known[counts[bank]++] = word;
      most = std::max<unsigned>(most, counts[bank]);
      ++all;
    }
  }
  return {most, (all + kBanks - 1) / kBanks};
}

}  // namespace

void add_global(GlobalTraffic& traffic, const Request& request) {
  ++traffic.requests;
  const std::uint64_t size = request.bytes;
  const auto sector = [](std::uint64_t address) { return address >> kSectorBits; };
  if (request.is_uniform || request.is_dense) {
    const std::uint64_t bytes = request.is_uniform ? size : size * request.count;
    traffic.sectors += sector(request.address[0] + bytes - 1) - sector(request.address[0]) + 1;
    traffic.useful_bytes += bytes;
    return;
  }
  auto sorted = request.address;
  const auto end = sorted.begin() + request.count;
  if (!std::is_sorted(sorted.begin(), end)) std::sort(sorted.begin(), end);
  std::uint64_t bytes_end = 0, sectors_end = 0;  // one past what was counted
  for (auto address = sorted.begin(); address != end; ++address) {
    const std::uint64_t after = *address + size, last = sector(after - 1);
    traffic.useful_bytes += after - std::min(std::max(*address, bytes_end), after);
    traffic.sectors += last + 1 - std::min(std::max(sector(*address), sectors_end), last + 1);
    bytes_end = std::max(bytes_end, after);
    sectors_end = std::max(sectors_end, last + 1);
  }
}

Wavefronts wavefronts(const Request& request) {
  if (request.bytes <= 4 && (request.is_uniform || request.is_dense)) return {1, 1};
  if (request.bytes <= 8) return passes(request, 0, request.count);
  const auto half = std::find_if(request.lane.begin(), request.lane.begin() + request.count,
                                 [](int lane) { return lane >= 16; });
  const int middle = static_cast<int>(half - request.lane.begin());
  const Wavefronts low = passes(request, 0, middle), high = passes(request, middle, request.count);
  return {low.needed + high.needed, low.ideal + high.ideal};
}

}  // namespace sevenloops::simt
