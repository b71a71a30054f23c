#pragma once
// A table of aligned columns.

#include <ostream>
#include <string>
#include <vector>

#include "bench/cli/terminal.hpp"

namespace sevenloops {

enum class Align { left, right };

struct Column {
  std::string heading;  ///< lines separated by '\n'
  Align align = Align::right;
};

struct Cell {
  std::string text;
  Ink ink = Ink::plain;

  Cell(std::string t, Ink i = Ink::plain) : text(std::move(t)), ink(i) {}
  Cell(const char* t) : text(t) {}
};

/// Collects rows, then prints them so that every column is as wide as its widest cell. A row may
/// end early: its last cell then runs on to the right, over the columns that follow.
class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  /// `width` letters in a line, 0 for any number.
  void print(std::ostream& out, int width = 0) const;

 private:
  void print_part(std::ostream& out, const std::vector<std::size_t>& part) const;
  std::vector<std::size_t> widths() const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace sevenloops
