// Writes around an operand are seen and told, wherever they fall. The emulator's memory is the
// host's, so that the test can play the faulty kernel itself.

#include "gpu/guarded_buffer.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>

namespace sevenloops {
namespace {

constexpr std::size_t kBytes = 100;

std::vector<std::string> violations_after_writing(std::ptrdiff_t at) {
  GuardedBuffer buffer(Place::emulator, "y", kBytes, 4, Guards::around, 0xFF);
  static_cast<unsigned char*>(buffer.data())[at] ^= 1;
  std::vector<std::string> violations;
  buffer.check_guards(violations);
  return violations;
}

TEST(GuardedBuffer, AllowsWritesInside) {
  EXPECT_TRUE(violations_after_writing(0).empty());
  EXPECT_TRUE(violations_after_writing(kBytes - 1).empty());
}

TEST(GuardedBuffer, TellsWhichGuardWasWrittenAndHowFarAway) {
  using Sentences = std::vector<std::string>;
  EXPECT_EQ(violations_after_writing(-1),
            Sentences{"the guard before y was written, 1 bytes before its first"});
  EXPECT_EQ(violations_after_writing(-4096),
            Sentences{"the guard before y was written, 4096 bytes before its first"});
  EXPECT_EQ(violations_after_writing(kBytes),
            Sentences{"the guard after y was written, 1 bytes after its last"});
  EXPECT_EQ(violations_after_writing(kBytes + 4095),
            Sentences{"the guard after y was written, 4096 bytes after its last"});
}

TEST(GuardedBuffer, KeepsTheOperandAlignedBeforeTheShift) {
  for (const Guards guards : {Guards::around, Guards::none}) {
    const GuardedBuffer buffer(Place::emulator, "x", kBytes, 4, guards, 0);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 256, 4u);
  }
}

TEST(GuardedBuffer, PoisonsAndCopiesTheOperandAlone) {
  GuardedBuffer buffer(Place::emulator, "x", kBytes, 0, Guards::around, 0xAB);
  std::vector<unsigned char> host(kBytes);
  buffer.download(host.data());
  EXPECT_EQ(host, std::vector<unsigned char>(kBytes, 0xAB));
  std::iota(host.begin(), host.end(), 0);
  buffer.upload(host.data());
  std::vector<unsigned char> copy(kBytes);
  buffer.download(copy.data());
  EXPECT_EQ(copy, host);
  std::vector<std::string> violations;
  buffer.check_guards(violations);
  EXPECT_TRUE(violations.empty());
}

TEST(GuardedBuffer, HoldsNothingWhenTheOperandIsEmpty) {
  const GuardedBuffer buffer(Place::emulator, "x", 0, 0, Guards::none, 0);
  EXPECT_NE(buffer.data(), nullptr);
  EXPECT_EQ(buffer.bytes(), 0u);
}

}  // namespace
}  // namespace sevenloops
