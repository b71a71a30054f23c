#pragma once
// Files that appear whole or not at all.

#include <string>

namespace sevenloops {

/// Throws Error unless a file can be made or replaced at `path`. Asked before long work; leaves
/// nothing behind.
void require_writable(const std::string& path);

/// Writes `text` to `path`, whole or not at all. Throws Error when that fails.
void write_file(const std::string& path, const std::string& text);

}  // namespace sevenloops
