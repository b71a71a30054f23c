#pragma once
// The parameters of a convolution as they are written on the command line.

#include <CLI/CLI.hpp>
#include <string>

#include "gpu/place.hpp"
#include "reference/conv2d/problem.hpp"
#include "reference/core/layout.hpp"

namespace sevenloops {

/// Everything about a problem that is not an extent, as text until it is asked for.
struct Parameters {
  std::string pad = "0", stride = "1", dilation = "1", groups = "1", mode = "xcorr";
  std::string alpha = "1", beta = "0", layout = "nchw";

  /// Adds --pad, --stride, --dilation, --groups, --mode, --alpha and --beta to `app`.
  std::vector<CLI::Option*> add_to(CLI::App& app);

  /// A problem with these parameters and all extents 1, not validated. Throws Error naming the
  /// option.
  Conv2dProblem problem() const;
};

/// The integers of "1,2,3", of which there must be as many as one of `counts` says. Throws Error
/// naming `option`.
std::vector<std::int64_t> integers_of(const std::string& option, const std::string& text,
                                      std::initializer_list<int> counts);

/// A number. Throws Error naming `option`.
double number_of(const std::string& option, const std::string& text);

/// An integer of at least `least`. Throws Error naming `option`.
std::int64_t integer_of(const std::string& option, const std::string& text, std::int64_t least);

/// The number of `text` among the words. Throws Error naming `option` and the choices.
std::size_t word_of(const std::string& option, const std::string& text,
                    const std::vector<std::string>& words);

Layout layout_of(const std::string& text);

/// "emulator" or "gpu". Throws Error for a GPU where there is none, with the reason.
Place place_of(const std::string& text);

}  // namespace sevenloops
