#pragma once
// What every implementation of a primitive says about itself.

#include <cstddef>
#include <string>

namespace sevenloops {

/// Yes, or no with a reason that completes the sentence "<stage> does not support this problem:
/// ...".
struct Support {
  bool yes = true;
  std::string reason;

  explicit operator bool() const { return yes; }
  static Support no(std::string why) { return {false, std::move(why)}; }
};

/// Is the order in which a stage adds its terms that of the reference (c, then r, then s)? If so,
/// its result equals the reference's float twin bit for bit on any data.
enum class Order { reference, own };

/// What happens where the filter hangs over the border: the tap is left out, as the definition
/// says, or a stored zero is multiplied, which differs when the filter holds infinities or NaN.
enum class Padding { skipped, multiplied };

/// By what algorithm are the terms formed and added? The bound on rounding errors depends on it
/// (see docs/numerics.md): sums of products as they are, Winograd's F(2x2,3x3) or F(4x4,3x3), or
/// products of Fourier transforms.
enum class Algorithm { sums, winograd_2x2, winograd_4x4, fourier };

/// A queue of work on a GPU (a cudaStream_t), or null: the default queue, and the emulator's only
/// one.
using Stream = void*;

/// Scratch memory of exactly `workspace_bytes(args)` bytes, with arbitrary contents, on the place
/// where the stage runs.
struct Workspace {
  void* data = nullptr;
  std::size_t bytes = 0;
};

/// One implementation of primitive `Op`. Plain data and function pointers. `Op::Args` carries the
/// problem, the operands' views and the scalars; `supports`, `workspace_bytes` read no element.
template <class Op>
struct Stage {
  using Args = typename Op::Args;

  const char* name;    ///< the file's name without ".cu"
  const char* idea;    ///< one sentence: what changed against the stage before
  const char* family;  ///< "direct", "gemm", "fft", "winograd", ...
  Order order;
  Padding padding;
  bool deterministic;  ///< the same bits on every run, under every thread order
  Algorithm algorithm = Algorithm::sums;
  /// The library it calls that runs on a GPU only ("cuBLAS"); null: it runs in the emulator too.
  const char* gpu_library = nullptr;

  Support (*supports)(const Args&);
  std::size_t (*workspace_bytes)(const Args&);
  /// Work that depends on the filter only (a filter transform), timed apart; may be null.
  void (*prepare)(const Args&, Workspace, Stream);
  /// Asynchronous: no synchronization, no allocation, no printing. Requires supports(args) and a
  /// workspace of the size asked for (a smaller one is an Error). N = 0 launches nothing.
  void (*launch)(const Args&, Workspace, Stream);
};

}  // namespace sevenloops
