// sevenloops: the command line. Exit codes: 0 all is well, 1 disagreement or faults, 2 bad input.

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iostream>
#include <new>

#include "bench/cli/commands.hpp"
#include "bench/cli/nearest.hpp"
#include "bench/cli/version.hpp"
#include "reference/core/error.hpp"

namespace sevenloops {
namespace {

constexpr int kBadInput = 2;

constexpr const char* kExamples = R"(Examples:
  sevenloops compare conv2d                         all stages on a real layer, side by side
  sevenloops check conv2d --stage direct            is a stage right?
  sevenloops run conv2d --x x.npy --w w.npy --out y.npy   on your own tensors
  sevenloops list                                   the stages
Each has its own --help, with more examples.
Exit codes: 0 all is well, 1 disagreement or faults, 2 bad input.)";

// One sentence on standard error; nothing else.
int refuse(std::string sentence) {
  while (!sentence.empty() && (sentence.back() == '\n' || sentence.back() == '.')) {
    sentence.pop_back();
  }
  std::cout.flush();
  std::cerr << "sevenloops: " << sentence << '\n';
  return kBadInput;
}

std::vector<std::string> names_of(const std::vector<CLI::App*>& commands) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands) names.push_back(command->get_name());
  return names;
}

// The parser would only say that a word was not expected; say what may have been meant.
void require_known_commands(CLI::App& app, int argc, char** argv) {
  CLI::App* at = &app;
  for (int i = 1; i < argc; ++i) {
    const std::vector<CLI::App*> commands = at->get_subcommands([](CLI::App*) { return true; });
    if (commands.empty() || argv[i][0] == '-') return;
    const auto called_so = [&](const CLI::App* command) { return command->get_name() == argv[i]; };
    const auto found = std::find_if(commands.begin(), commands.end(), called_so);
    if (found == commands.end()) throw Error(unknown("command", argv[i], names_of(commands)));
    at = *found;
  }
}

// Has whoever read standard output gone, as "| head" does?
bool reader_left() {
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  return poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}

// Standard output may be a full disk; a reader who had enough is no error.
int finish(int code) {
  std::cout.flush();
  if (!std::cout && !reader_left()) return refuse("standard output cannot be written");
  return code;
}

int run(int argc, char** argv) {
  CLI::App app{"sevenloops: convolution from its definition to fast GPU code, step by step"};
  Action action;
  app.footer(kExamples);
  app.require_subcommand(1);
  app.set_version_flag("--version", "sevenloops " + version() + " (" + commit() + ")");
  add_compare(app, action);
  add_check(app, action);
  add_run(app, action);
  add_list(app, action);
  require_known_commands(app, argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return finish(app.exit(error));  // --help, --version
    return refuse(error.what());
  }
  return finish(action());
}

}  // namespace
}  // namespace sevenloops

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return sevenloops::run(argc, argv);
  } catch (const sevenloops::Error& error) {
    return sevenloops::refuse(error.what());
  } catch (const std::bad_alloc&) {
    return sevenloops::refuse("there is not enough memory for this problem");
  } catch (const std::length_error&) {
    return sevenloops::refuse("the sizes of this problem are beyond any memory");
  } catch (const std::exception& error) {
    return sevenloops::refuse(std::string("this failed: ") + error.what());
  }
}
