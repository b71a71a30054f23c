#include "gpu/simt/faults.hpp"

namespace sevenloops::simt {
namespace {

using Place = std::pair<std::uint64_t, std::vector<Triple>>;

Place place_of(const RawFault& fault) {
  Place place{fault.block_number, {}};
  for (const Index& i : fault.threads) place.second.push_back({i.z, i.y, i.x});
  return place;
}

}  // namespace

std::string text(const Index& index) {
  return "(" + std::to_string(index.x) + "," + std::to_string(index.y) + "," +
         std::to_string(index.z) + ")";
}

void FaultLog::add(RawFault fault) {
  auto key = std::tuple(fault.kind, fault.pcs, fault.array);
  const auto [known, is_new] = faults_.try_emplace(std::move(key), fault);
  if (is_new) return;
  const std::uint64_t count = known->second.count + fault.count;
  if (place_of(fault) < place_of(known->second)) known->second = std::move(fault);
  known->second.count = count;
}

std::vector<RawFault> FaultLog::take() {
  std::vector<RawFault> all;
  for (auto& [key, fault] : faults_) all.push_back(std::move(fault));
  faults_.clear();
  return all;
}

}  // namespace sevenloops::simt
