#pragma once
// How much a convolution has to do at least, and the time below which no machine can do it.

#include <algorithm>

#include "reference/conv2d/conv2d.hpp"

namespace sevenloops {

/// Bytes that any implementation moves at least: x, w and y once each, y twice when it is read too.
inline double compulsory_bytes(const Conv2dProblem& prob, bool reads_y = false) {
  const auto count = [](const Extents& e) {
    return static_cast<double>(e[0]) * static_cast<double>(e[1]) * static_cast<double>(e[2]) *
           static_cast<double>(e[3]);
  };
  return (count(x_extents(prob)) + count(w_extents(prob)) +
          count(y_extents(prob)) * (reads_y ? 2 : 1)) *
         static_cast<double>(size_in_bytes(prob.dtype));
}

/// The roofline's floor in ms: max(FLOPs / peak rate, bytes / bandwidth), the FLOPs being those of
/// the direct computation. `peak_tflops` in TFLOP/s, `tb_per_s` in TB/s.
/// Source: Williams, Waterman and Patterson, Roofline (CACM 2009).
inline double floor_ms(const Conv2dProblem& prob, double peak_tflops, double tb_per_s,
                       bool reads_y = false) {
  return std::max(direct_flops(prob) / peak_tflops, compulsory_bytes(prob, reads_y) / tb_per_s) /
         1e9;
}

}  // namespace sevenloops
