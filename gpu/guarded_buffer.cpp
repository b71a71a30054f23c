#include "gpu/guarded_buffer.hpp"

#include <algorithm>
#include <cstdint>

namespace sevenloops {
namespace {

constexpr std::size_t kGuardBytes = 4096;  // a multiple of the alignment of an operand

// Bytes that depend on where they stand.
std::vector<unsigned char> pattern(std::size_t bytes, std::uint32_t first) {
  std::vector<unsigned char> guard(bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    guard[i] =
        static_cast<unsigned char>((first + static_cast<std::uint32_t>(i)) * 0x9E3779B1u >> 24);
  }
  return guard;
}

}  // namespace

GuardedBuffer::GuardedBuffer(Place place, const char* name, std::size_t bytes,
                             std::size_t shift_bytes, Guards guards, unsigned char poison)
    : name_(name),
      bytes_(bytes),
      front_(pattern((guards == Guards::around ? kGuardBytes : 0) + shift_bytes, 0)),
      back_(pattern(guards == Guards::around ? kGuardBytes : 0, 12345)),
      // An empty operand without guards still needs an address.
      buffer_(place, std::max<std::size_t>(front_.size() + bytes + back_.size(), 1), name) {
  buffer_.poison(poison);
  buffer_.upload(front_.data(), front_.size());
  buffer_.upload(back_.data(), back_.size(), front_.size() + bytes_);
}

void GuardedBuffer::upload(const void* host) { buffer_.upload(host, bytes_, front_.size()); }

void GuardedBuffer::download(void* host) const { buffer_.download(host, bytes_, front_.size()); }

void GuardedBuffer::check_guards(std::vector<std::string>& violations) const {
  check_guard("before", 0, front_, violations);
  check_guard("after", front_.size() + bytes_, back_, violations);
}

void GuardedBuffer::check_guard(const char* side, std::size_t offset,
                                const std::vector<unsigned char>& guard,
                                std::vector<std::string>& violations) const {
  std::vector<unsigned char> now(guard.size());
  buffer_.download(now.data(), now.size(), offset);
  const auto changed = std::mismatch(guard.begin(), guard.end(), now.begin()).first;
  if (changed == guard.end()) return;
  const bool before = offset == 0;
  const std::ptrdiff_t distance = before ? guard.end() - changed : changed - guard.begin() + 1;
  violations.push_back("the guard " + std::string(side) + " " + name_ + " was written, " +
                       std::to_string(distance) + " bytes " + side + " its " +
                       (before ? "first" : "last"));
}

}  // namespace sevenloops
