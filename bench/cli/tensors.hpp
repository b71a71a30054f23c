#pragma once
// The user's own tensors: read, checked against each other, brought into a layout.

#include <string>
#include <vector>

#include "bench/cli/parameters.hpp"
#include "gpu/conv2d/execute.hpp"

namespace sevenloops {

/// A tensor file by the option that named it, "--x".
struct NamedFile {
  std::string option, path;
};

/// The element type that all files hold. Throws Error when one cannot be read, is too large for the
/// memory that is left, or holds another type than the first.
Dtype common_dtype(const std::vector<NamedFile>& files);

/// The problem of x (N x C x H x W) and w (K x C/groups x R x S) with these parameters, validated.
/// Throws Error when the shapes do not fit.
Conv2dProblem problem_of(const Parameters& parameters, Dtype dtype, const Extents& x,
                         const Extents& w);

/// Throws Error unless the tensor called `option` has `expected` extents; `meaning` says what they
/// are.
void require_extents(const std::string& option, const Extents& got, const Extents& expected,
                     const std::string& meaning);

/// The operands of convolution forward in memory of `layout`. T must be common_dtype()'s type.
/// `y` may have no path; then y0 holds zeros, and beta must be 0.
template <typename T>
Conv2dOperands<T> read_operands(const NamedFile& x, const NamedFile& w, const NamedFile& y,
                                const Parameters& parameters);

}  // namespace sevenloops
