#pragma once
// What this GPU can do at most, measured on it and not taken from its datasheet.

namespace sevenloops {

/// Rates of the running GPU.
struct Ceilings {
  double fp32_tflops = 0;    ///< independent fp32 FMAs in registers, two FLOPs each
  double fp64_tflops = 0;    ///< the same in fp64
  double copy_tb_per_s = 0;  ///< a device-to-device copy, bytes read plus bytes written
};

/// Measures them (some tens of milliseconds) on the first call, then remembers. Throws Error
/// without a GPU.
const Ceilings& measured_ceilings();

}  // namespace sevenloops
