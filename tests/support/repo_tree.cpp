// The tree in memory, and looking at its texts.

#include <fnmatch.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "tests/support/repo_rules.hpp"

namespace sevenloops::testing {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Does a line of .gitignore name `path` from the root, a folder or a file called `name`?
bool names(std::string pattern, const std::string& path, const std::string& name, bool folder) {
  if (pattern.empty() || pattern.starts_with('#')) return false;
  if (pattern.ends_with('/')) {
    if (!folder) return false;
    pattern.pop_back();
  }
  if (pattern.starts_with('/'))
    return fnmatch(pattern.c_str() + 1, path.c_str(), FNM_PATHNAME) == 0;
  return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

}  // namespace

Tree read_tree(const std::string& root) {
  const std::set<std::string> text_endings = {".hpp", ".cpp",  ".cu", ".def", ".md",
                                              ".txt", ".py",   ".in", ".cl",  ".cmake",
                                              "",     ".json", ".csv"};
  const std::string ignore_file = text_of(fs::path(root) / ".gitignore");
  const std::vector<std::string_view> patterns = lines_of(ignore_file);
  Tree tree;
  for (auto entry = fs::recursive_directory_iterator(root); entry != fs::end(entry); ++entry) {
    const std::string path = fs::relative(entry->path(), root).generic_string();
    const std::string name = entry->path().filename().string();
    const bool folder = entry->is_directory();
    const bool hidden = folder && name.starts_with('.') && name != ".ci";  // a tool's own
    const bool ignored =
        hidden || std::any_of(patterns.begin(), patterns.end(), [&](std::string_view line) {
          return names(std::string(line), path, name, folder);
        });
    if (ignored && folder) entry.disable_recursion_pending();
    if (ignored || folder) continue;
    const bool is_text = text_endings.contains(entry->path().extension().string());
    tree[path] = is_text ? text_of(entry->path()) : "";
  }
  return tree;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::string place(const std::string& path, std::string_view text, std::size_t at) {
  const auto line = std::count(text.begin(), text.begin() + at, '\n') + 1;
  return path + ":" + std::to_string(line) + ": ";
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

std::string code_only(std::string_view text) {
  std::string code(text);
  const auto blank = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < std::min(end, code.size()); ++i) {
      if (code[i] != '\n') code[i] = ' ';
    }
  };
  const auto is_word = [&](std::size_t i) {
    return std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '_';
  };
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 1;
    if (text.substr(i, 2) == "//") {
      end = std::min(text.find('\n', i), text.size());
      blank(i, end);
    } else if (text.substr(i, 2) == "/*") {
      end = std::min(text.find("*/", i + 2), text.size() - 2) + 2;
      blank(i, end);
    } else if (text.substr(i, 2) == "R\"" && (i == 0 || !is_word(i - 1))) {
      const std::size_t open = std::min(text.find('(', i), text.size());
      const std::string close = ")" + std::string(text.substr(i + 2, open - i - 2)) + "\"";
      const std::size_t last = std::min(text.find(close, open), text.size());
      blank(open + 1, last);
      end = last + close.size();
    } else if (text[i] == '"' || (text[i] == '\'' && (i == 0 || !is_word(i - 1)))) {
      while (end < text.size() && text[end] != text[i] && text[end] != '\n') {
        end += text[end] == '\\' ? 2 : 1;
      }
      blank(i + 1, end);
      ++end;
    }
    i = end;
  }
  return code;
}

}  // namespace sevenloops::testing
