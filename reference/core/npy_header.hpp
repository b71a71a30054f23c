#pragma once
// The text at the head of an .npy file.

#include <cstdint>
#include <string>
#include <vector>

namespace sevenloops {

/// The dtypes that are read, as messages name them.
inline constexpr const char* kNpyDtypes = "one of '<f8', '<f4', '<f2'";

/// The header's dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}.
struct NpyHeader {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

/// Reads the dictionary, with its keys in any order. Throws Error, naming the file `path`, for text
/// that is malformed, has other keys, a negative or too large extent, or a structured dtype.
NpyHeader parse_npy_header(const std::string& path, const std::string& text);

}  // namespace sevenloops
