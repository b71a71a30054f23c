#pragma once
// A program run as its users run it, and the files they may give it.

#include <filesystem>
#include <string>
#include <vector>

namespace sevenloops::testing {

/// What a program left behind.
struct Outcome {
  int code = -1;      ///< exit code; 128 + number when a signal ended it
  std::string out;    ///< standard output
  std::string error;  ///< standard error
};

/// Runs the program at `path` in `folder` and waits for it.
Outcome run_program(const std::string& path, const std::vector<std::string>& arguments,
                    const std::filesystem::path& folder);

/// A folder of its own for one test, removed with everything in it at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// The names of all files in it, sorted.
  std::vector<std::string> files() const;

 private:
  std::filesystem::path path_;
};

/// The bytes of an .npy file of version 1 with this header dictionary and so many bytes of data.
std::string npy_bytes(const std::string& dictionary, std::size_t data_bytes);

std::string read_text(const std::filesystem::path& path);
void write_text(const std::filesystem::path& path, const std::string& text);
std::vector<std::string> lines_of(const std::string& text);

}  // namespace sevenloops::testing
