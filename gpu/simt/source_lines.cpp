#include "gpu/simt/source_lines.hpp"

#include <cstdio>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <unordered_map>

#include "gpu/simt/image.hpp"

namespace sevenloops::simt {
namespace {

std::string hex(std::uint64_t number) {
  std::ostringstream text;
  text << "0x" << std::hex << number;
  return text.str();
}

// The file's name and line of "/path/direct.cu:42 (discriminator 3)", or nothing.
std::string place_of(std::string line) {
  if (const auto end = line.find(" ("); end != std::string::npos) line.resize(end);
  if (const auto slash = line.rfind('/'); slash != std::string::npos) line.erase(0, slash + 1);
  if (line.find('?') != std::string::npos || line.ends_with(":0")) return "";
  return line;
}

std::string quoted(const std::string& text) {
  std::string result(1, '\'');
  for (const char c : text) {
    if (c == '\'') result += "'\\'";
    result += c;
  }
  result += '\'';
  return result;
}

// Asks addr2line about up to a few hundred addresses.
void ask(const std::vector<std::uint32_t>& pcs,
         std::unordered_map<std::uint32_t, std::string>& to) {
  std::string command = "addr2line -a -i -e " + quoted(Image::get().path());
  for (const std::uint32_t pc : pcs) command += " " + hex(pc - 1);
  command += " 2>/dev/null";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  if (pipe == nullptr) return;
  std::uint32_t pc = 0;
  bool is_kernel_file = false;
  char buffer[4096];
  while (std::fgets(buffer, sizeof(buffer), pipe.get()) != nullptr) {
    std::string line = buffer;
    if (line.ends_with('\n')) line.pop_back();
    if (line.starts_with("0x")) {  // the address, before its places from the inside out
      pc = static_cast<std::uint32_t>(std::stoull(line, nullptr, 16)) + 1;
      is_kernel_file = false;
      continue;
    }
    const std::string place = place_of(line);
    if (place.empty() || is_kernel_file) continue;
    is_kernel_file = place.find(".cu:") != std::string::npos;
    if (is_kernel_file || !to.contains(pc)) to[pc] = place;
  }
}

}  // namespace

std::vector<std::string> source_lines(const std::vector<std::uint32_t>& pcs) {
  static std::mutex mutex;
  static std::unordered_map<std::uint32_t, std::string> known;
  const std::lock_guard lock(mutex);
  std::set<std::uint32_t> missing;
  for (const std::uint32_t pc : pcs) {
    if (!known.contains(pc)) missing.insert(pc);
  }
  constexpr std::size_t kAtOnce = 500;
  const std::vector<std::uint32_t> all(missing.begin(), missing.end());
  for (std::size_t i = 0; i < all.size(); i += kAtOnce) {
    ask({all.begin() + i, all.begin() + std::min(i + kAtOnce, all.size())}, known);
  }
  std::vector<std::string> places;
  for (const std::uint32_t pc : pcs) {
    places.push_back(known.try_emplace(pc, "pc " + hex(pc)).first->second);
  }
  return places;
}

}  // namespace sevenloops::simt
