#include "reference/core/npy_header.hpp"

#include <cstring>

#include "reference/core/error.hpp"

namespace sevenloops {
namespace {

// Reads the part of Python's literals that NumPy writes.
class HeaderReader {
 public:
  HeaderReader(const std::string& path, const std::string& text) : path_(path), text_(text) {}

  NpyHeader read() {
    NpyHeader header;
    bool descr = false, order = false, shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      bool* const seen = key == "descr"           ? &descr
                         : key == "fortran_order" ? &order
                         : key == "shape"         ? &shape
                                                  : nullptr;
      if (seen == nullptr) fail("it has the unknown key '" + key + "'");
      if (*seen) fail("it has the key '" + key + "' twice");
      *seen = true;
      if (seen == &descr) header.descr = description();
      if (seen == &order) header.fortran_order = boolean();
      if (seen == &shape) header.shape = extents();
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (peek() != '\0') fail("something follows the dictionary");
    if (!descr || !order || !shape) fail("it lacks 'descr', 'fortran_order' or 'shape'");
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw Error(path_ + " has a malformed .npy header: " + why);
  }

  char peek() {
    while (position_ < text_.size() && std::strchr(" \n\t\r", text_[position_])) ++position_;
    return position_ < text_.size() ? text_[position_] : '\0';
  }

  bool accept(char c) {
    if (peek() != c) return false;
    ++position_;
    return true;
  }

  void expect(char c) {
    if (!accept(c)) {
      fail(std::string("'") + c + "' is missing at byte " + std::to_string(position_));
    }
  }

  std::string quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail("a quoted word is missing");
    const std::size_t end = text_.find(quote, ++position_);
    if (end == std::string::npos) fail("a quote is not closed");
    const std::string word = text_.substr(position_, end - position_);
    position_ = end + 1;
    return word;
  }

  std::string description() {
    if (peek() == '[') {
      throw Error(path_ + " holds a structured dtype, but must hold " + kNpyDtypes);
    }
    return quoted();
  }

  bool boolean() {
    peek();
    for (const bool value : {false, true}) {
      const std::string word = value ? "True" : "False";
      if (text_.compare(position_, word.size(), word) == 0) {
        position_ += word.size();
        return value;
      }
    }
    fail("'fortran_order' is neither True nor False");
  }

  std::vector<std::int64_t> extents() {
    std::vector<std::int64_t> shape;
    expect('(');
    while (!accept(')')) {
      shape.push_back(extent());
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return shape;
  }

  std::int64_t extent() {
    const bool negative = accept('-');
    std::int64_t value = 0;
    if (peek() < '0' || peek() > '9') fail("an extent is not a number");
    for (; position_ < text_.size() && text_[position_] >= '0' && text_[position_] <= '9';
         ++position_) {
      if (__builtin_mul_overflow(value, 10, &value) ||
          __builtin_add_overflow(value, text_[position_] - '0', &value)) {
        fail("an extent does not fit into 64 bits");
      }
    }
    if (negative) fail("an extent is negative");
    accept('L');  // written by Python 2
    return value;
  }

  const std::string& path_;
  const std::string& text_;
  std::size_t position_ = 0;
};

}  // namespace

NpyHeader parse_npy_header(const std::string& path, const std::string& text) {
  return HeaderReader(path, text).read();
}

}  // namespace sevenloops
