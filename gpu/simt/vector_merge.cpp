#include "gpu/simt/vector_merge.hpp"

#include <algorithm>

namespace sevenloops::simt {
namespace {

// Does `next` read the 4 bytes after those of `open`, lane by lane?
bool follows(const Request& open, const Request& next) {
  if (open.lanes != next.lanes || next.address[0] != open.address[0] + open.bytes) return false;
  std::uint64_t off = 0;
  for (int i = 0; i < open.count; ++i) off |= next.address[i] ^ (open.address[i] + open.bytes);
  return off == 0;
}

bool is_aligned(const Request& request) {
  std::uint64_t all = 0;
  for (int i = 0; i < request.count; ++i) all |= request.address[i];
  return all % 16 == 0;
}

}  // namespace

void VectorMerge::add(const Request& request, const Wavefronts& as_written, Counters& counters) {
  if (request.bytes == 4) {
    for (int i = 0; i < size_; ++i) {
      Open& open = open_[(first_ + i) % kMostOpen];
      if (!open.may_grow || !follows(open.request, request)) continue;
      open.request.bytes += 4;
      open.may_grow = open.request.bytes < 16;
      open.has_grown = true;
      return;
    }
  }
  if (size_ == kMostOpen) {
    count(open_[first_]);
    first_ = (first_ + 1) % kMostOpen;
    --size_;
  }
  Open& open = open_[(first_ + size_) % kMostOpen];
  ++size_;
  open.request = request;
  open.as_written = as_written;
  open.counters = &counters;
  open.has_grown = false;
  open.may_grow = request.bytes == 4 && is_aligned(request);
}

void VectorMerge::close() {
  for (int i = 0; i < size_; ++i) count(open_[(first_ + i) % kMostOpen]);
  first_ = size_ = 0;
}

void VectorMerge::count(const Open& open) {
  SharedTraffic& traffic = open.counters->shared_load;
  const auto add = [&](const Wavefronts& passes) {
    ++traffic.merged_requests;
    traffic.merged_wavefronts += passes.needed;
    traffic.merged_bank_conflicts += passes.needed - std::min(passes.needed, passes.ideal);
  };
  if (!open.has_grown) return add(open.as_written);
  if (open.request.bytes != 12) return add(wavefronts(open.request));
  // There is no access of 12 bytes: one of 8 and one of 4.
  Request part = open.request;
  part.bytes = 8;
  add(wavefronts(part));
  for (auto& address : part.address) address += 8;
  part.bytes = 4;
  add(wavefronts(part));
}

}  // namespace sevenloops::simt
