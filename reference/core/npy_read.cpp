#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "reference/core/error.hpp"
#include "reference/core/npy.hpp"
#include "reference/core/npy_header.hpp"
#include "reference/core/numerics.hpp"

namespace sevenloops {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are read as they lie in memory");

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
    throw Error(path +
                " holds pickled Python objects, but must hold numbers: " + std::string(kNpyDtypes));
  }
  if (descr.starts_with('>')) {
    throw Error(path + " is big-endian (" + descr +
                "), but must be little-endian: " + std::string(kNpyDtypes));
  }
  throw Error(path + " holds dtype '" + descr + "', but must hold " + std::string(kNpyDtypes));
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

  const NpyHeader header = parse_npy_header(path, text);
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
