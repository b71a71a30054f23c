// sevenloops: the command line. Exit codes: 0 all is well, 1 disagreement or faults, 2 bad input.

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
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

// "sevenloops run conv2d"
std::string full_name(const CLI::App& command) {
  const CLI::App* const parent = command.get_parent();
  return parent == nullptr ? "sevenloops" : full_name(*parent) + " " + command.get_name();
}

// The command that the words begin with. The parser would only say that a word was not expected;
// say what may have been meant.
CLI::App& command_of(CLI::App& app, int argc, char** argv) {
  CLI::App* at = &app;
  for (int i = 1;; ++i) {
    const std::vector<CLI::App*> commands = at->get_subcommands([](CLI::App*) { return true; });
    if (commands.empty() || (i < argc && argv[i][0] == '-')) return *at;
    if (i == argc) {
      std::string names;
      for (const std::string& name : names_of(commands))
        names += (names.empty() ? "" : ", ") + name;
      throw Error("\"" + full_name(*at) + "\" needs one of these after it: " + names +
                  " (--help shows examples)");
    }
    const auto called_so = [&](const CLI::App* command) { return command->get_name() == argv[i]; };
    const auto found = std::find_if(commands.begin(), commands.end(), called_so);
    if (found == commands.end()) throw Error(unknown("command", argv[i], names_of(commands)));
    at = *found;
  }
}

// The parser's complaint as a sentence that helps.
std::string sentence_of(const CLI::ParseError& error, const CLI::App& command, int argc,
                        char** argv) {
  const std::string help = "; \"" + full_name(command) + " --help\" shows examples";
  std::string what = error.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    std::vector<std::string> known;
    for (const CLI::Option* option : command.get_options()) {
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    }
    for (int i = 1; i < argc; ++i) {
      const std::string word(argv[i], std::strcspn(argv[i], "="));
      if (word.starts_with("--") && std::find(known.begin(), known.end(), word) == known.end()) {
        return unknown("option", word, known);
      }
    }
  } else if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    what = what.substr(0, what.find(':')) + " must be given once, and with a value";
  }
  return what + help;
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
  const CLI::App& command = command_of(app, argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return finish(app.exit(error));  // --help, --version
    return refuse(sentence_of(error, command, argc, argv));
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
