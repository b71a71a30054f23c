#include "bench/cli/nearest.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace sevenloops {
namespace {

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

}  // namespace

int edit_distance(std::string_view a, std::string_view b) {
  std::vector<int> row(b.size() + 1);  // distances of the part of `a` so far to each start of `b`
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i) + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const int replaced = diagonal + (lower(a[i]) == lower(b[j]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

std::string nearest(std::string_view name, const std::vector<std::string>& candidates) {
  const auto nearer = [&](const std::string& a, const std::string& b) {
    return edit_distance(name, a) < edit_distance(name, b);
  };
  const auto best = std::min_element(candidates.begin(), candidates.end(), nearer);
  return best == candidates.end() ? "" : *best;
}

std::string unknown(const std::string& kind, std::string_view name,
                    const std::vector<std::string>& candidates, const std::string& hint) {
  std::string shown(name.substr(0, 60));
  for (char& c : shown) {
    if (c < ' ' || c == '\x7f') c = '?';
  }
  std::string sentence = "there is no " + kind + " \"" + shown + "\"";
  if (!candidates.empty()) sentence += "; the nearest is \"" + nearest(name, candidates) + "\"";
  return sentence + hint;
}

}  // namespace sevenloops
