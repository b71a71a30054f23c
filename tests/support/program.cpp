#include "tests/support/program.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace sevenloops::testing {

namespace fs = std::filesystem;

Outcome run_program(const std::string& path, const std::vector<std::string>& arguments,
                    const fs::path& folder) {
  const TemporaryFolder streams;
  const std::string out = streams.path() / "out", error = streams.path() / "error";
  std::vector<char*> argv{const_cast<char*>(path.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no process could be made");
  if (child == 0) {
    const int out_file = open(out.c_str(), O_WRONLY | O_CREAT, 0600);
    const int error_file = open(error.c_str(), O_WRONLY | O_CREAT, 0600);
    if (chdir(folder.c_str()) == 0 && dup2(out_file, STDOUT_FILENO) >= 0 &&
        dup2(error_file, STDERR_FILENO) >= 0) {
      execv(path.c_str(), argv.data());
    }
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  Outcome outcome;
  outcome.code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  outcome.out = read_text(out);
  outcome.error = read_text(error);
  return outcome;
}

TemporaryFolder::TemporaryFolder() {
  std::string name = fs::temp_directory_path() / "sevenloops_test_XXXXXX";
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder could be made: " + name);
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::vector<std::string> TemporaryFolder::files() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(path_)) {
    names.push_back(fs::relative(entry.path(), path_));
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string npy_bytes(const std::string& dictionary, std::size_t data_bytes) {
  std::string header = dictionary;
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(header.size() & 0xFF);
  file += static_cast<char>(header.size() >> 8);
  return file + header + std::string(data_bytes, '\0');
}

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_text(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace sevenloops::testing
