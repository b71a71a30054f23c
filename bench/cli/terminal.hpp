#pragma once
// What depends on whether a person or a file reads the output.

#include <chrono>
#include <string>

namespace sevenloops {

/// Are colors welcome on standard output? Only on a terminal, and not when NO_COLOR is set.
bool use_color();

/// Letters in a line of standard output's terminal; 0 when it is none, and lines may be of any
/// length.
int terminal_width();

enum class Ink { plain, good, bad, faint, strong };

/// `text` in a color, or as it is when colors are not welcome.
std::string inked(const std::string& text, Ink ink);

/// One line on standard error that says what is being done; nothing unless that is a terminal.
class Progress {
 public:
  explicit Progress(int steps);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// The next step begins.
  void begin(const std::string& step);

 private:
  bool shown_;
  int steps_, current_ = 0;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace sevenloops
