// .NPY files, made byte by byte: what is read, what is written, and what every bad file is told.

#include "reference/core/npy.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "reference/core/error.hpp"
#include "reference/core/numerics.hpp"

namespace sevenloops {
namespace {

using namespace std::string_literals;

class Npy : public ::testing::Test {
 protected:
  Npy() : folder_(::testing::TempDir() + "npy_test_" + std::to_string(getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~Npy() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name = "a.npy") const { return folder_ + "/" + name; }

  void write_bytes(const std::string& bytes) const {
    std::ofstream(path(), std::ios::binary) << bytes;
  }
  std::string read_bytes() const {
    std::ifstream stream(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  std::size_t files() const {
    return std::distance(std::filesystem::directory_iterator(folder_), {});
  }

  // What reading the file says, without the folder's name.
  template <typename T = double>
  std::string complaint(int rank = 2, Empty empty = Empty::refused) const {
    try {
      read_npy<T>(path(), rank, empty);
    } catch (const Error& error) {
      const std::string message = error.what();
      EXPECT_TRUE(message.starts_with(path())) << message;
      EXPECT_EQ(message.find('\n'), std::string::npos);
      return message.substr(std::min(message.size(), path().size() + 1));
    }
    return "(nothing was thrown)";
  }

  std::string folder_;
};

// Bytes of a version 1.0 file; `dictionary` is padded as NumPy does.
std::string file_bytes(std::string dictionary, const std::string& data) {
  while ((dictionary.size() + 11) % 64 != 0) dictionary += ' ';
  dictionary += '\n';
  return "\x93NUMPY\x01\x00"s + static_cast<char>(dictionary.size() & 0xFF) +
         static_cast<char>(dictionary.size() >> 8) + dictionary + data;
}

template <typename T>
std::string bytes_of(std::vector<T> elements) {
  std::string bytes(elements.size() * sizeof(T), '\0');
  if (!bytes.empty()) std::memcpy(bytes.data(), elements.data(), bytes.size());
  return bytes;
}

std::string dictionary(const std::string& descr, const std::string& shape,
                       const std::string& fortran_order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran_order + ", 'shape': " + shape +
         ", }";
}

const std::string kSix = bytes_of<float>({1, -2, 3.5, 4, 5, 6});

TEST_F(Npy, ReadsEveryTypeIntoOneThatHoldsIt) {
  write_bytes(file_bytes(dictionary("<f4", "(2, 3)"), kSix));
  EXPECT_EQ(npy_dtype(path()), Dtype::f32);
  const auto from_float = read_npy<double>(path(), 2);
  EXPECT_EQ(from_float.extents(), (Extents{1, 1, 2, 3}));
  EXPECT_EQ(from_float.buffer(), (std::vector<double>{1, -2, 3.5, 4, 5, 6}));
  EXPECT_EQ(read_npy<float>(path(), 2).buffer(), (std::vector<float>{1, -2, 3.5, 4, 5, 6}));

  write_bytes(file_bytes(dictionary("<f8", "(1, 1, 1, 2)"), bytes_of<double>({0.1, -0.0})));
  EXPECT_EQ(npy_dtype(path()), Dtype::f64);
  const auto doubles = read_npy<double>(path(), 4);
  EXPECT_EQ(doubles.buffer()[0], 0.1);
  EXPECT_TRUE(std::signbit(doubles.buffer()[1]));

  write_bytes(file_bytes(dictionary("<f2", "(3,)"), bytes_of<std::uint16_t>({0x3C01, 0xFC00, 1})));
  EXPECT_EQ(npy_dtype(path()), Dtype::f16);
  const std::vector<double> halves{1 + 0x1p-10, -std::numeric_limits<double>::infinity(), 0x1p-24};
  EXPECT_EQ(read_npy<double>(path(), 1).buffer(), halves);
  EXPECT_EQ(static_cast<double>(read_npy<float>(path(), 1).buffer()[2]), halves[2]);
  EXPECT_EQ(static_cast<double>(read_npy<Half>(path(), 1).buffer()[0]), halves[0]);
}

TEST_F(Npy, ReadsHeadersAsOthersWriteThem) {
  const std::string data = kSix;
  for (const std::string& header : {
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}"s,
           "{\"shape\":(2,3),\"fortran_order\":False,\"descr\":\"<f4\"}"s,
           "  { 'shape' : ( 2L , 3L , ) , 'descr' : '<f4' , 'fortran_order' : False , }  "s,
       }) {
    write_bytes(file_bytes(header, data));
    EXPECT_EQ(complaint(), "(nothing was thrown)") << header;
  }
  const std::string text = dictionary("<f4", "(2, 3)") + "\n";
  write_bytes("\x93NUMPY\x02\x00"s + static_cast<char>(text.size()) + "\0\0\0"s + text + data);
  EXPECT_EQ(read_npy<float>(path(), 2).buffer()[2], 3.5f);
}

TEST_F(Npy, EmptyArraysOnlyWhereAllowed) {
  write_bytes(file_bytes(dictionary("<f4", "(0, 3)"), ""));
  EXPECT_EQ(complaint(), "has shape (0, 3), but must not be empty");
  EXPECT_EQ(read_npy<double>(path(), 2, Empty::allowed).extents(), (Extents{1, 1, 0, 3}));
}

TEST_F(Npy, TellsWhatIsWrongWithAFile) {
  EXPECT_EQ(complaint(), "does not exist");
  const std::string good = file_bytes(dictionary("<f4", "(2, 3)"), kSix);
  const struct {
    std::string bytes, message;
  } cases[] = {
      {"", "is not an .npy file"},
      {"\x93NUM", "is not an .npy file"},
      {"PK\x03\x04 a zip archive of arrays", "is not an .npy file"},
      {good.substr(0, 8), "is truncated inside its header"},
      {good.substr(0, 40), "is truncated inside its header"},
      {"\x93NUMPY\x02\x00\xFF\xFF\xFF\xFF"s, "is truncated inside its header"},
      {"\x93NUMPY\x02\x00\xFF\xFF"s, "is truncated inside its header"},
      {"\x93NUMPY\x03\x00\x01\x00\x00\x00 "s, "has .npy version 3.0, but must have 1.0 or 2.0"},
      {"\x93NUMPY\x01\x07\x01\x00 "s, "has .npy version 1.7, but must have 1.0 or 2.0"},
      {good.substr(0, good.size() - 1),
       "is truncated: its shape (2, 3) needs 24 bytes of data, but it has 23"},
      {good + "x", "is too long: its shape (2, 3) needs 24 bytes of data, but it has 25"},
      {file_bytes(dictionary("<f4", "(6,)"), kSix), "has 1 axes, shape (6), but must have 2"},
      {file_bytes(dictionary("<f4", "()"), kSix.substr(0, 4)),
       "has 0 axes, shape (), but must have 2"},
      {file_bytes(dictionary("<f4", "(1, 1, 1, 2, 3)"), kSix),
       "has 5 axes, shape (1, 1, 1, 2, 3), but must have 2"},
      {file_bytes(dictionary("<i4", "(2, 3)"), kSix),
       "holds dtype '<i4', but must hold one of '<f8', '<f4', '<f2'"},
      {file_bytes(dictionary("<f16", "(2, 3)"), kSix),
       "holds dtype '<f16', but must hold one of '<f8', '<f4', '<f2'"},
      {file_bytes(dictionary(">f4", "(2, 3)"), kSix),
       "is big-endian (>f4), but must be little-endian: one of '<f8', '<f4', '<f2'"},
      {file_bytes(dictionary("|O", "(2, 3)"), "\x80\x04."),
       "holds pickled Python objects, but must hold numbers: one of '<f8', '<f4', '<f2'"},
      {file_bytes("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2, 3), }", kSix),
       "holds a structured dtype, but must hold one of '<f8', '<f4', '<f2'"},
      {file_bytes(dictionary("<f4", "(2, 3)", "True"), kSix),
       "is in Fortran order, but must be in C order (numpy.ascontiguousarray)"},
      {file_bytes(dictionary("<f4", "(-2, 3)"), kSix),
       "has a malformed .npy header: an extent is negative"},
      {file_bytes(dictionary("<f4", "(9223372036854775808, 3)"), kSix),
       "has a malformed .npy header: an extent does not fit into 64 bits"},
      {file_bytes(dictionary("<f4", "(4611686018427387904, 4611686018427387904)"), kSix),
       "has shape (4611686018427387904, 4611686018427387904), whose size does not fit into 64 "
       "bits"},
      {file_bytes(dictionary("<f4", "(1000000000, 1000000000)"), kSix),
       "is truncated: its shape (1000000000, 1000000000) needs 4000000000000000000 bytes of data, "
       "but it has 24"},
      {file_bytes(dictionary("<f4", "(2 3)"), kSix),
       "has a malformed .npy header: ')' is missing at byte 53"},
      {file_bytes(dictionary("<f4", "(2, x)"), kSix),
       "has a malformed .npy header: an extent is not a number"},
      {file_bytes(dictionary("<f4", "(2, 3)", "Maybe"), kSix),
       "has a malformed .npy header: 'fortran_order' is neither True nor False"},
      {file_bytes("{'descr': '<f4', 'shape': (2, 3)}", kSix),
       "has a malformed .npy header: it lacks 'descr', 'fortran_order' or 'shape'"},
      {file_bytes("{'descr': '<f4', 'descr': '<f4'}", kSix),
       "has a malformed .npy header: it has the key 'descr' twice"},
      {file_bytes("{'color': 'red'}", kSix),
       "has a malformed .npy header: it has the unknown key 'color'"},
      {file_bytes("{'descr: 1}", kSix), "has a malformed .npy header: a quote is not closed"},
      {file_bytes("{}", kSix),
       "has a malformed .npy header: it lacks 'descr', 'fortran_order' or 'shape'"},
      {file_bytes("", kSix), "has a malformed .npy header: '{' is missing at byte 54"},
      {file_bytes(dictionary("<f4", "(2, 3)") + "!", kSix),
       "has a malformed .npy header: something follows the dictionary"},
  };
  for (const auto& bad : cases) {
    write_bytes(bad.bytes);
    EXPECT_EQ(complaint(), bad.message);
  }
  std::filesystem::remove(path());
  std::filesystem::create_directory(path());
  EXPECT_EQ(complaint(), "is not a file");
}

TEST_F(Npy, RefusesToLoseBits) {
  write_bytes(file_bytes(dictionary("<f8", "(1, 1)"), bytes_of<double>({0.1})));
  EXPECT_EQ(complaint<float>(), "holds dtype '<f8', but must hold '<f4' or '<f2'");
  write_bytes(file_bytes(dictionary("<f4", "(1, 1)"), bytes_of<float>({0.1f})));
  EXPECT_EQ(complaint<Half>(), "holds dtype '<f4', but must hold '<f2'");
}

// A file cut anywhere, or with any byte changed, is read or refused: nothing else happens.
TEST_F(Npy, NoFileDoesAnythingElse) {
  const std::string good = file_bytes(dictionary("<f4", "(2, 3)"), kSix);
  for (std::size_t i = 0; i < good.size(); ++i) {
    write_bytes(good.substr(0, i));
    EXPECT_NE(complaint(), "(nothing was thrown)");
    for (const char byte : {'\0', '\xFF', '9', '(', ')', '\'', '{', '-'}) {
      std::string changed = good;
      changed[i] = byte;
      write_bytes(changed);
      complaint();
    }
  }
}

TEST_F(Npy, WritesWhatNumPyWrites) {
  Tensor<float> tensor({1, 1, 2, 3}, Layout::nhwc);
  for (int i = 0; i < 6; ++i) tensor(0, 0, i / 3, i % 3) = static_cast<float>(i);
  write_npy<float>(path(), tensor.view(), 2);
  // numpy.save("a.npy", numpy.arange(6, dtype=numpy.float32).reshape(2, 3))
  EXPECT_EQ(read_bytes(), "\x93NUMPY\x01\x00\x76\x00"s +
                              "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }" +
                              std::string(58, ' ') + "\n" + bytes_of<float>({0, 1, 2, 3, 4, 5}));
  write_npy<float>(path(), Tensor<float>({1, 1, 1, 2}).view(), 1);
  EXPECT_NE(read_bytes().find("'shape': (2,), }"), std::string::npos);
}

template <typename T>
void expect_round_trip(const std::string& path, int rank) {
  const Extents extents{rank > 3 ? 2 : 1, rank > 2 ? 3 : 1, rank > 1 ? 4 : 1, 5};
  Tensor<T> tensor(extents, Layout::chwn);
  double value = -7;
  for_each_index(extents, [&](auto n, auto c, auto h, auto w) {
    tensor(n, c, h, w) = static_cast<T>(static_cast<float>(value += 0.25));
  });
  write_npy<T>(path, std::as_const(tensor).view(), rank);
  const auto back = read_npy<double>(path, rank);
  ASSERT_EQ(back.extents(), extents);
  for_each_index(extents, [&](auto n, auto c, auto h, auto w) {
    EXPECT_EQ(back(n, c, h, w), static_cast<double>(tensor(n, c, h, w)));
  });
}

TEST_F(Npy, ReadsBackWhatWasWritten) {
  for (int rank = 1; rank <= 4; ++rank) {
    expect_round_trip<double>(path(), rank);
    EXPECT_EQ(npy_dtype(path()), Dtype::f64);
    expect_round_trip<float>(path(), rank);
    EXPECT_EQ(npy_dtype(path()), Dtype::f32);
    expect_round_trip<Half>(path(), rank);
    EXPECT_EQ(npy_dtype(path()), Dtype::f16);
    expect_round_trip<Bfloat16>(path(), rank);  // NumPy has no bfloat16
    EXPECT_EQ(npy_dtype(path()), Dtype::f32);
  }
  write_npy<float>(path(), Tensor<float>({0, 2, 3, 4}).view());
  EXPECT_EQ(read_npy<float>(path(), 4, Empty::allowed).extents(), (Extents{0, 2, 3, 4}));
  EXPECT_EQ(files(), 1u);  // no temporary file is left
}

TEST_F(Npy, WritesMoreThanOneBuffer) {
  Tensor<double> tensor({3, 100, 31, 37});
  for (std::size_t i = 0; i < tensor.buffer().size(); ++i) tensor.buffer()[i] = 0.5 * i;
  write_npy<double>(path(), tensor.view());
  EXPECT_EQ(read_npy<double>(path()).buffer(), tensor.buffer());
}

TEST_F(Npy, KeepsTheOldFileWhenWritingFails) {
  const Tensor<float> tensor({2, 1, 1, 3});
  const auto message = [&](const std::string& to, int rank = 4) -> std::string {
    try {
      write_npy<float>(to, tensor.view(), rank);
    } catch (const Error& error) {
      return error.what();
    }
    return "(nothing was thrown)";
  };
  write_bytes("precious");
  EXPECT_EQ(message(path(), 3),
            "extent 0 of the array for " + path() + " is 2, but must be 1 to be left out");
  EXPECT_EQ(read_bytes(), "precious");
  EXPECT_EQ(message(path("no/such/folder.npy")),
            path("no/such/folder.npy") + " cannot be written: No such file or directory");
  EXPECT_EQ(message(folder_), folder_ + " cannot be written: it is not a file");
  EXPECT_EQ(message("/dev/null"), "/dev/null cannot be written: it is not a file");
  EXPECT_NE(message(""), "(nothing was thrown)");
  if (geteuid() != 0) {  // root may write everywhere
    chmod(path().c_str(), 0444);
    EXPECT_EQ(message(path()), path() + " cannot be written: Permission denied");
    EXPECT_EQ(read_bytes(), "precious");
  }
  EXPECT_EQ(files(), 1u);
}

TEST_F(Npy, WritesThroughSymbolicLinks) {
  write_bytes("old");
  std::filesystem::create_symlink(path(), path("link.npy"));
  write_npy<float>(path("link.npy"), Tensor<float>({1, 1, 1, 1}).view());
  EXPECT_TRUE(std::filesystem::is_symlink(path("link.npy")));
  EXPECT_EQ(read_npy<float>(path()).extents(), (Extents{1, 1, 1, 1}));
}

}  // namespace
}  // namespace sevenloops
