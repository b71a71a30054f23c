#pragma once
// Tensors in NumPy's .npy files, so that anybody can bring and take them.

#include <string>

#include "reference/core/dtype.hpp"
#include "reference/core/tensor.hpp"

namespace sevenloops {

/// May an array have no elements at all?
enum class Empty { refused, allowed };

/// The element type of the .npy file at `path`: f64, f32 or f16. Throws Error like read_npy().
Dtype npy_dtype(const std::string& path);

/// Reads a C-order, little-endian array of `rank` (1 to 4) axes from an .npy file of version 1 or 2
/// into a dense tensor; axes that the array lacks in front have extent 1. T (double, float, Half)
/// must hold the file's type exactly: a float tensor can be read from '<f4' and '<f2', not '<f8'.
/// Throws Error, one sentence that names the file, for everything that is not as described.
/// Source: NumPy enhancement proposal 1.
template <typename T>
Tensor<T> read_npy(const std::string& path, int rank = 4, Empty empty = Empty::refused);

/// Writes the last `rank` axes of `tensor` (those in front must have extent 1) in logical order, as
/// '<f8', '<f4' or '<f2'; a Bfloat16 tensor becomes '<f4', which loses nothing. The file appears
/// whole or not at all: what was at `path` before stays until the new file is complete.
/// Throws Error when it cannot be written.
template <typename T>
void write_npy(const std::string& path, TensorView<const T> tensor, int rank = 4);

}  // namespace sevenloops
