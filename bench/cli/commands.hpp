#pragma once
// The subcommands of sevenloops. Each adds itself to the parser and, when it was asked for, sets
// `action`, which returns the exit code: 0 all is well, 1 disagreement or faults. Bad input throws.

#include <CLI/CLI.hpp>
#include <functional>

namespace sevenloops {

using Action = std::function<int()>;

void add_compare(CLI::App& app, Action& action);
void add_check(CLI::App& app, Action& action);
void add_run(CLI::App& app, Action& action);
void add_list(CLI::App& app, Action& action);

}  // namespace sevenloops
