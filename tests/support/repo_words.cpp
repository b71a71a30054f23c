// Rules about words: those a file starts with, those in names, those in texts.

#include <algorithm>
#include <cctype>
#include <set>

#include "tests/support/repo_rules.hpp"

namespace sevenloops::testing {
namespace {

/// Offset of `word`, given in small letters, in `text`, where it may have capitals.
std::size_t find_small(const std::string& text, const std::string& word) {
  const auto equal = [](unsigned char a, unsigned char b) { return std::tolower(a) == b; };
  const auto at = std::search(text.begin(), text.end(), word.begin(), word.end(), equal);
  return at == text.end() ? text.npos : at - text.begin();
}

/// Cases quote what others wrote; the rest of a tree is ours.
bool is_ours(const std::string& path) {
  return !path.ends_with(".json") && !path.ends_with(".csv");
}

}  // namespace

std::size_t find_word(std::string_view code, std::string_view word) {
  const auto is_letter = [&](std::size_t i) {
    return i < code.size() && (std::isalnum(static_cast<unsigned char>(code[i])) || code[i] == '_');
  };
  for (std::size_t at = 0; (at = code.find(word, at)) != code.npos; ++at) {
    if ((at == 0 || !is_letter(at - 1)) && !is_letter(at + word.size())) return at;
  }
  return code.npos;
}

Violations headers_introduce_themselves(const Tree& tree) {
  Violations found;
  for (const auto& [path, text] : tree) {
    if (!path.ends_with(".hpp")) continue;
    if (!text.starts_with("#pragma once\n")) {
      found.push_back(path + ":1: does not start with #pragma once");
    } else if (text.substr(13, 3) != "// ") {
      found.push_back(path + ":2: does not say what it is");
    }
  }
  return found;
}

Violations names_say_what_is_there(const Tree& tree) {
  const std::set<std::string> empty_words = {"util",    "utils", "common",    "misc", "helper",
                                             "helpers", "v2",    "optimized", "fast"};
  Violations found;
  for (const auto& [path, text] : tree) {
    std::string word;
    for (char c : path + "/") {
      if (std::isalnum(static_cast<unsigned char>(c))) {
        word += c;
        continue;
      }
      if (empty_words.contains(word)) found.push_back(path + ": \"" + word + "\" says nothing");
      word.clear();
    }
  }
  return found;
}

Violations nothing_is_left_to_do(const Tree& tree) {
  Violations found;
  for (const auto& [path, text] : tree) {
    for (const char* mark : {"TO"
                             "DO",
                             "FIX"
                             "ME"}) {
      const std::size_t at = find_word(text, mark);
      if (is_ours(path) && at != text.npos) found.push_back(place(path, text, at) + mark);
    }
  }
  return found;
}

Violations spelling_is_american(const Tree& tree) {
  std::vector<std::string> british = {
      "cen"
      "tre",
      "mode"
      "lled",
      "mode"
      "lling",
      "label"
      "led",
      "cancel"
      "led",
      "travel"
      "led",
      "licen"
      "ce ",
      "gr"
      "ey "};
  for (const char* start : {"behavi", "col", "neighb", "fav", "hon", "lab", "harb"}) {
    british.push_back(std::string(start) + "our");
  }
  for (const char* start :
       {"initial", "synchron", "optim",  "normal", "general",  "serial", "minim",
        "maxim",   "organ",    "recogn", "vector", "parallel", "util",   "summar",
        "special", "random",   "emphas", "visual", "linear",   "factor", "real"}) {
    for (const char* end : {"ise", "isa", "isi"}) british.push_back(std::string(start) + end);
  }
  Violations found;
  for (const auto& [path, text] : tree) {
    if (!is_ours(path) || path == "LICENSE") continue;
    for (const std::string& word : british) {
      const std::size_t at = find_small(text, word);
      if (at != text.npos) found.push_back(place(path, text, at) + "British spelling: " + word);
    }
  }
  return found;
}

}  // namespace sevenloops::testing
