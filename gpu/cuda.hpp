#pragma once
// The only header of ours a kernel file needs before CUDA C++ works in it: the CUDA runtime under
// nvcc, the emulator's words for the same under a host compiler. Kernel code stands in
// `namespace sevenloops::SEVENLOOPS_BUILD`, so that the three compilations of one file can live in
// one program.

// SEVENLOOPS_UNROLL before a loop of constant length: arrays that it indexes stay in registers.

#if defined(__CUDACC__)
#include <cuda_runtime.h>
#define SEVENLOOPS_BUILD build_gpu
#define SEVENLOOPS_ON_GPU
#define SEVENLOOPS_UNROLL _Pragma("unroll")
#elif defined(SEVENLOOPS_TRACED)
#define SEVENLOOPS_BUILD build_traced
#include "gpu/simt/device.hpp"
#else
#define SEVENLOOPS_BUILD build_plain
#include "gpu/simt/device.hpp"
#endif

#ifndef SEVENLOOPS_UNROLL
#define SEVENLOOPS_UNROLL
#endif
