#include "bench/cli/table.hpp"

#include <algorithm>
#include <sstream>

namespace sevenloops {
namespace {

const std::string kGap = "  ";

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

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> widths(columns_.size(), 0);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    for (const std::string& line : lines_of(columns_[i].heading)) {
      widths[i] = std::max(widths[i], line.size());
    }
    for (const auto& row : rows_) {
      const bool runs_on = i + 1 == row.size() && row.size() < columns_.size();
      if (i < row.size() && !runs_on) widths[i] = std::max(widths[i], row[i].text.size());
    }
  }
  return widths;
}

void Table::print(std::ostream& out, int width) const {
  const std::vector<std::size_t> widths = this->widths();
  std::size_t next = 1;
  while (next < columns_.size() || next == 1) {
    std::vector<std::size_t> part{0};
    std::size_t total = widths[0];
    for (; next < columns_.size(); ++next) {
      total += kGap.size() + widths[next];
      const bool full = width > 0 && total > static_cast<std::size_t>(width);
      if (full && part.size() > 1) break;
      part.push_back(next);
    }
    if (part.back() >= part.size()) out << '\n';  // not the first part
    print_part(out, part);
    if (columns_.size() == 1) break;
  }
}

void Table::print_part(std::ostream& out, const std::vector<std::size_t>& part) const {
  const std::vector<std::size_t> widths = this->widths();
  std::vector<std::vector<std::string>> headings;
  std::size_t heading_lines = 0, total = 0;
  for (const std::size_t i : part) {
    headings.push_back(lines_of(columns_[i].heading));
    heading_lines = std::max(heading_lines, headings.back().size());
    total += widths[i] + (i == 0 ? 0 : kGap.size());
  }
  // Headings stand on the line above the rule, however many lines others need.
  for (std::size_t line = 0; line < heading_lines; ++line) {
    std::string text;
    for (std::size_t j = 0; j < part.size(); ++j) {
      const std::size_t i = part[j], above = heading_lines - headings[j].size();
      const std::string words = line < above ? "" : headings[j][line - above];
      text += (j == 0 ? "" : kGap) + padded(words, widths[i], columns_[i].align, Ink::plain);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out << inked(text, Ink::strong) << '\n';
  }
  out << inked(std::string(total, '-'), Ink::faint) << '\n';
  for (const auto& row : rows_) {
    for (const std::size_t i : part) {
      if (i >= row.size()) break;
      const bool runs_on = i + 1 == row.size() && row.size() < columns_.size();
      const bool no_tail = runs_on || (i == part.back() && columns_[i].align == Align::left);
      const Align align = runs_on ? Align::left : columns_[i].align;
      out << (i == 0 ? "" : kGap)
          << padded(row[i].text, no_tail ? 0 : widths[i], align, row[i].ink);
    }
    out << '\n';
  }
}

}  // namespace sevenloops
