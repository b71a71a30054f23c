#include "bench/cli/table.hpp"

#include <algorithm>
#include <sstream>

namespace sevenloops {
namespace {

constexpr const char* kGap = "  ";

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string padded(const std::string& text, std::size_t width, Align align, Ink ink) {
  const std::string space(width - std::min(width, text.size()), ' ');
  return align == Align::left ? inked(text, ink) + space : space + inked(text, ink);
}

}  // namespace

void Table::print(std::ostream& out) const {
  const std::size_t count = columns_.size();
  std::vector<std::vector<std::string>> headings;
  std::vector<std::size_t> widths(count, 0);
  std::size_t heading_lines = 0;
  for (std::size_t i = 0; i < count; ++i) {
    headings.push_back(lines_of(columns_[i].heading));
    heading_lines = std::max(heading_lines, headings[i].size());
    for (const std::string& line : headings[i]) widths[i] = std::max(widths[i], line.size());
    for (const auto& row : rows_) {
      const bool runs_on = i + 1 == row.size() && row.size() < count;
      if (i < row.size() && !runs_on) widths[i] = std::max(widths[i], row[i].text.size());
    }
  }
  // Headings stand on the line above the rule, however many lines others need.
  for (std::size_t line = 0; line < heading_lines; ++line) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t above = heading_lines - headings[i].size();
      const std::string part = line < above ? "" : headings[i][line - above];
      text += (i == 0 ? "" : kGap) + padded(part, widths[i], columns_[i].align, Ink::plain);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out << inked(text, Ink::strong) << '\n';
  }
  std::size_t total = 0;
  for (std::size_t i = 0; i < count; ++i) total += widths[i] + (i == 0 ? 0 : 2);
  out << inked(std::string(total, '-'), Ink::faint) << '\n';
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool last = i + 1 == row.size();
      const bool runs_on = last && row.size() < count;
      const bool no_tail = last && (runs_on || columns_[i].align == Align::left);
      out << (i == 0 ? "" : kGap)
          << padded(row[i].text, no_tail ? 0 : widths[i], columns_[i].align, row[i].ink);
    }
    out << '\n';
  }
}

}  // namespace sevenloops
