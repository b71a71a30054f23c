#include "bench/cli/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace sevenloops {

bool use_color() {
  static const bool use = [] {
    const char *const no_color = std::getenv("NO_COLOR"), *const term = std::getenv("TERM");
    return isatty(STDOUT_FILENO) && (no_color == nullptr || *no_color == '\0') &&
           (term == nullptr || std::strcmp(term, "dumb") != 0);
  }();
  return use;
}

int terminal_width() {
  winsize size{};
  return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

std::string inked(const std::string& text, Ink ink) {
  if (ink == Ink::plain || !use_color()) return text;
  const char* const code = ink == Ink::good    ? "32"
                           : ink == Ink::bad   ? "1;31"
                           : ink == Ink::faint ? "2"
                                               : "1";
  return std::string("\x1b[") + code + "m" + text + "\x1b[0m";
}

Progress::Progress(int steps)
    : shown_(isatty(STDERR_FILENO)), steps_(steps), start_(std::chrono::steady_clock::now()) {}

Progress::~Progress() {
  if (shown_ && current_ > 0) std::fputs("\r\x1b[K", stderr);
}

void Progress::begin(const std::string& step) {
  ++current_;
  if (!shown_) return;
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
  std::fprintf(stderr, "\r\x1b[K[%d/%d, %.0f s] %s", current_, steps_, passed.count(),
               step.c_str());
  std::fflush(stderr);
}

}  // namespace sevenloops
