#include "bench/cli/output_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "reference/core/error.hpp"

namespace sevenloops {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw Error(path + " cannot be written: " + why);
}

}  // namespace

void require_writable(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (path.empty()) fail("\"\"", "it names no file");
  if (fs::exists(status)) {
    if (!fs::is_regular_file(status)) fail(path, "it is not a file");
    if (access(path.c_str(), W_OK) != 0) fail(path, std::strerror(errno));
  }
  const fs::path folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : ".";
  if (access(folder.c_str(), W_OK | X_OK) != 0) fail(path, std::strerror(errno));
  if (!fs::is_directory(folder, error)) fail(path, folder.string() + " is not a folder");
}

void write_file(const std::string& path, const std::string& text) {
  require_writable(path);
  const std::string part = path + "." + std::to_string(getpid()) + ".part";
  std::ofstream file(part, std::ios::binary);
  file << text << std::flush;
  const int number = errno;
  const bool whole = file.good();
  file.close();
  if (!whole || std::rename(part.c_str(), path.c_str()) != 0) {
    const std::string why = std::strerror(whole ? errno : number);
    std::remove(part.c_str());
    fail(path, why);
  }
}

}  // namespace sevenloops
