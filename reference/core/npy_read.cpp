#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "reference/core/error.hpp"
#include "reference/core/npy.hpp"
#include "reference/core/numerics.hpp"

namespace sevenloops {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are read as they lie in memory");

const std::string kKnown = "one of '<f8', '<f4', '<f2'";

// The dictionary at the head of a file: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}.
struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

// Reads the part of Python's literals that NumPy writes.
class HeaderReader {
 public:
  HeaderReader(const std::string& path, const std::string& text) : path_(path), text_(text) {}

  Header read() {
    Header header;
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
      throw Error(path_ + " holds a structured dtype, but must hold " + kKnown);
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

// An open file and what its header says; the stream stands at the first element.
struct OpenArray {
  std::ifstream stream;
  std::vector<std::int64_t> shape;
  Dtype dtype = Dtype::f32;
  std::uint64_t data_bytes = 0;  // what is left in the file
};

void read_bytes(const std::string& path, std::ifstream& stream, void* to, std::uint64_t bytes) {
  stream.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes));
  if (!stream) throw Error(path + " cannot be read to its end");
}

Dtype dtype_of(const std::string& path, const std::string& descr) {
  if (descr == "<f8") return Dtype::f64;
  if (descr == "<f4") return Dtype::f32;
  if (descr == "<f2") return Dtype::f16;
  if (descr == "|O" || descr == "O") {
    throw Error(path + " holds pickled Python objects, but must hold numbers: " + kKnown);
  }
  if (descr.starts_with('>')) {
    throw Error(path + " is big-endian (" + descr + "), but must be little-endian: " + kKnown);
  }
  throw Error(path + " holds dtype '" + descr + "', but must hold " + kKnown);
}

OpenArray open_array(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) throw Error(path + " does not exist");
  if (!std::filesystem::is_regular_file(status)) throw Error(path + " is not a file");
  OpenArray array;
  array.stream.open(path, std::ios::binary);
  const std::uint64_t file_bytes = std::filesystem::file_size(path, error);
  if (!array.stream || error) throw Error(path + " cannot be opened for reading");

  unsigned char head[12];  // magic, version, length of the header in 2 or 4 bytes
  constexpr std::string_view kMagic = "\x93NUMPY";
  if (file_bytes < kMagic.size()) throw Error(path + " is not an .npy file");
  read_bytes(path, array.stream, head, kMagic.size());
  if (std::memcmp(head, kMagic.data(), kMagic.size()) != 0) {
    throw Error(path + " is not an .npy file");
  }
  if (file_bytes < 10) throw Error(path + " is truncated inside its header");
  read_bytes(path, array.stream, head + 6, 4);
  const int version = head[6];
  if ((version != 1 && version != 2) || head[7] != 0) {
    throw Error(path + " has .npy version " + std::to_string(version) + "." +
                std::to_string(head[7]) + ", but must have 1.0 or 2.0");
  }
  std::uint64_t header_bytes = head[8] | head[9] << 8;
  std::uint64_t start = 10;
  if (version == 2) {
    start = 12;
    if (file_bytes < start) throw Error(path + " is truncated inside its header");
    read_bytes(path, array.stream, head + 10, 2);
    header_bytes |=
        static_cast<std::uint64_t>(head[10]) << 16 | static_cast<std::uint64_t>(head[11]) << 24;
  }
  if (file_bytes - start < header_bytes) throw Error(path + " is truncated inside its header");
  std::string text(header_bytes, '\0');
  read_bytes(path, array.stream, text.data(), header_bytes);

  const Header header = HeaderReader(path, text).read();
  array.dtype = dtype_of(path, header.descr);
  if (header.fortran_order) {
    throw Error(path + " is in Fortran order, but must be in C order (numpy.ascontiguousarray)");
  }
  array.shape = header.shape;
  array.data_bytes = file_bytes - start - header_bytes;
  return array;
}

std::string text_of(const std::vector<std::int64_t>& shape) {
  std::string text = "(";
  for (const std::int64_t extent : shape) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  }
  return text + ")";
}

// The extents as a tensor's, once their number and the size of the array are found right.
Extents extents_of(const std::string& path, const OpenArray& array, int rank, Empty empty) {
  const std::string shape = "shape " + text_of(array.shape);
  if (static_cast<int>(array.shape.size()) != rank) {
    throw Error(path + " has " + std::to_string(array.shape.size()) + " axes, " + shape +
                ", but must have " + std::to_string(rank));
  }
  Extents extents{1, 1, 1, 1};
  std::int64_t bytes = static_cast<std::int64_t>(size_in_bytes(array.dtype));
  for (int axis = 0; axis < rank; ++axis) {
    extents[4 - rank + axis] = array.shape[axis];
    if (__builtin_mul_overflow(bytes, array.shape[axis], &bytes)) {
      throw Error(path + " has " + shape + ", whose size does not fit into 64 bits");
    }
  }
  if (bytes == 0 && empty == Empty::refused) {
    throw Error(path + " has " + shape + ", but must not be empty");
  }
  const auto wanted_bytes = static_cast<std::uint64_t>(bytes);
  if (array.data_bytes != wanted_bytes) {
    throw Error(path + (array.data_bytes < wanted_bytes ? " is truncated: " : " is too long: ") +
                "its " + shape + " needs " + std::to_string(wanted_bytes) +
                " bytes of data, but it has " + std::to_string(array.data_bytes));
  }
  return extents;
}

template <typename Stored, typename T>
void read_elements(const std::string& path, OpenArray& array, std::vector<T>& to) {
  if constexpr (std::is_same_v<Stored, T>) {
    read_bytes(path, array.stream, to.data(), to.size() * sizeof(T));
  } else {
    std::vector<Stored> stored(to.size());
    read_bytes(path, array.stream, stored.data(), stored.size() * sizeof(Stored));
    for (std::size_t i = 0; i < to.size(); ++i) {
      to[i] = static_cast<T>(static_cast<double>(stored[i]));
    }
  }
}

}  // namespace

Dtype npy_dtype(const std::string& path) { return open_array(path).dtype; }

template <typename T>
Tensor<T> read_npy(const std::string& path, int rank, Empty empty) {
  if (rank < 1 || rank > 4) throw Error("rank", rank, "be 1 to 4");
  OpenArray array = open_array(path);
  if (size_in_bytes(array.dtype) > sizeof(T)) {
    throw Error(path + " holds dtype '<f" + std::to_string(size_in_bytes(array.dtype)) +
                "', but must hold " + (sizeof(T) == 4 ? "'<f4' or '<f2'" : "'<f2'"));
  }
  const Extents extents = extents_of(path, array, rank, empty);
  try {
    Tensor<T> tensor(extents);
    dispatch(array.dtype, [&](auto stored) {
      if constexpr (sizeof(stored) <= sizeof(T)) {
        read_elements<decltype(stored)>(path, array, tensor.buffer());
      }
    });
    return tensor;
  } catch (const std::bad_alloc&) {
    throw Error(path + " with shape " + text_of(array.shape) + " does not fit into memory");
  }
}

template Tensor<double> read_npy(const std::string&, int, Empty);
template Tensor<float> read_npy(const std::string&, int, Empty);
template Tensor<Half> read_npy(const std::string&, int, Empty);

}  // namespace sevenloops
