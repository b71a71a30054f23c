#pragma once
// The words of CUDA C++ for host compilers. Everything kernels call stands in the namespace of the
// build or is always inlined: plain and traced code must never be taken for each other when
// linking.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "gpu/simt/runtime.hpp"
#include "gpu/simt/vector_types.hpp"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))

// One copy a worker; a worker runs one block at a time. Not thread_local: that may be initialized
// by a function of its own. Traced builds put a zone before each array that belongs to nobody, so
// that the end of one is never the start of another.
#define SEVENLOOPS_THREAD_STORAGE(alignment) static __thread __attribute__((aligned(alignment)))
#ifdef SEVENLOOPS_TRACED
#define SEVENLOOPS_ZONE_NAME(number) sevenloops_red_zone_##number
#define SEVENLOOPS_ZONE(number) \
  SEVENLOOPS_THREAD_STORAGE(16) __attribute__((used)) char SEVENLOOPS_ZONE_NAME(number)[256]
#define __shared__              \
  SEVENLOOPS_ZONE(__COUNTER__); \
  SEVENLOOPS_THREAD_STORAGE(16)
#else
#define __shared__ SEVENLOOPS_THREAD_STORAGE(16)
#endif

#define threadIdx (::sevenloops::simt::thread_index())
#define blockIdx (::sevenloops::simt::block_index())
#define blockDim (::sevenloops::simt::block_extent())
#define gridDim (::sevenloops::simt::grid_extent())
#define warpSize 32

#define SEVENLOOPS_DEVICE [[gnu::always_inline]] inline

namespace sevenloops::SEVENLOOPS_BUILD {

using std::max;
using std::min;

// a * b + c, rounded once. Traced builds count it.
SEVENLOOPS_DEVICE float fma(float a, float b, float c) {
#ifdef SEVENLOOPS_TRACED
  simt::note_fma();
#endif
  return __builtin_fmaf(a, b, c);
}
SEVENLOOPS_DEVICE double fma(double a, double b, double c) {
#ifdef SEVENLOOPS_TRACED
  simt::note_fma();
#endif
  return __builtin_fma(a, b, c);
}
SEVENLOOPS_DEVICE float fmaf(float a, float b, float c) { return fma(a, b, c); }
SEVENLOOPS_DEVICE float __fmaf_rn(float a, float b, float c) { return fma(a, b, c); }
SEVENLOOPS_DEVICE double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
SEVENLOOPS_DEVICE float rsqrtf(float a) { return 1.0f / __builtin_sqrtf(a); }
SEVENLOOPS_DEVICE double rsqrt(double a) { return 1.0 / __builtin_sqrt(a); }

SEVENLOOPS_DEVICE int __popc(unsigned bits) { return std::popcount(bits); }
SEVENLOOPS_DEVICE int __ffs(int bits) { return __builtin_ffs(bits); }
SEVENLOOPS_DEVICE int __clz(int bits) { return std::countl_zero(static_cast<unsigned>(bits)); }
SEVENLOOPS_DEVICE unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(std::uint64_t{a} * b >> 32);
}
SEVENLOOPS_DEVICE long long __mul64hi(long long a, long long b) {
  return static_cast<long long>(static_cast<__int128>(a) * b >> 64);
}

/// Reads `*memory`, which no thread of the launch writes.
template <typename T>
SEVENLOOPS_DEVICE T __ldg(const T* memory) {
  return *memory;
}

// Barriers of the block, with or without a vote.
SEVENLOOPS_DEVICE void __syncthreads() { simt::barrier(0); }
SEVENLOOPS_DEVICE int __syncthreads_count(int yes) { return simt::barrier(yes).count; }
SEVENLOOPS_DEVICE int __syncthreads_and(int yes) { return simt::barrier(yes).all; }
SEVENLOOPS_DEVICE int __syncthreads_or(int yes) { return simt::barrier(yes).any; }

// Collectives of the warp's lanes named by `mask`.
SEVENLOOPS_DEVICE unsigned lane_index() {
  const simt::Index thread = threadIdx, block = blockDim;
  return (thread.x + block.x * (thread.y + block.y * thread.z)) % 32;
}
SEVENLOOPS_DEVICE void __syncwarp(unsigned mask = 0xffffffff) {
  simt::collective(simt::Collective::sync, mask, 0, 0);
}
SEVENLOOPS_DEVICE unsigned __ballot_sync(unsigned mask, int yes) {
  return static_cast<unsigned>(simt::collective(simt::Collective::ballot, mask, yes != 0, 0));
}
SEVENLOOPS_DEVICE int __any_sync(unsigned mask, int yes) { return __ballot_sync(mask, yes) != 0; }
SEVENLOOPS_DEVICE int __all_sync(unsigned mask, int yes) {
  return __ballot_sync(mask, yes) == mask;
}
SEVENLOOPS_DEVICE unsigned __activemask() { return simt::active_lanes(); }

// The value that lane `source` brought to a shuffle.
template <typename T>
SEVENLOOPS_DEVICE T shuffle_from(unsigned mask, T value, unsigned source) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "shuffles move 4 or 8 bytes");
  if constexpr (sizeof(T) == 4) {
    const auto bits = simt::collective(simt::Collective::shuffle, mask,
                                       std::bit_cast<std::uint32_t>(value), source);
    return std::bit_cast<T>(static_cast<std::uint32_t>(bits));
  } else {
    return std::bit_cast<T>(simt::collective(simt::Collective::shuffle, mask,
                                             std::bit_cast<std::uint64_t>(value), source));
  }
}

// Segments of `width` lanes, a power of two; a source outside of one's segment is oneself.
template <typename T>
SEVENLOOPS_DEVICE T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
  const unsigned w = width;
  return shuffle_from(mask, value, (lane_index() & ~(w - 1)) | (source & (w - 1)));
}
template <typename T>
SEVENLOOPS_DEVICE T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const unsigned w = width, lane = lane_index();
  return shuffle_from(mask, value, (lane & (w - 1)) < delta ? lane : lane - delta);
}
template <typename T>
SEVENLOOPS_DEVICE T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const unsigned w = width, lane = lane_index();
  return shuffle_from(mask, value, (lane & (w - 1)) + delta >= w ? lane : lane + delta);
}
template <typename T>
SEVENLOOPS_DEVICE T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32) {
  const unsigned w = width, lane = lane_index(), source = lane ^ lanes;
  return shuffle_from(mask, value, (source | (w - 1)) > (lane | (w - 1)) ? lane : source);
}

// Atomic operations on shared and global memory; they return what was there before.
#ifdef SEVENLOOPS_TRACED
#define SEVENLOOPS_NOTE_ATOMIC simt::note_atomic(memory, sizeof(*memory))
#else
#define SEVENLOOPS_NOTE_ATOMIC (void)0
#endif
#define SEVENLOOPS_ATOMICS(T)                          \
  SEVENLOOPS_DEVICE T atomicAdd(T* memory, T value) {  \
    SEVENLOOPS_NOTE_ATOMIC;                            \
    return simt::atomic_add(memory, value);            \
  }                                                    \
  SEVENLOOPS_DEVICE T atomicExch(T* memory, T value) { \
    SEVENLOOPS_NOTE_ATOMIC;                            \
    return simt::atomic_exchange(memory, value);       \
  }
#define SEVENLOOPS_INTEGER_ATOMICS(T)                              \
  SEVENLOOPS_DEVICE T atomicMax(T* memory, T value) {              \
    SEVENLOOPS_NOTE_ATOMIC;                                        \
    return simt::atomic_max(memory, value);                        \
  }                                                                \
  SEVENLOOPS_DEVICE T atomicMin(T* memory, T value) {              \
    SEVENLOOPS_NOTE_ATOMIC;                                        \
    return simt::atomic_min(memory, value);                        \
  }                                                                \
  SEVENLOOPS_DEVICE T atomicCAS(T* memory, T expected, T value) {  \
    SEVENLOOPS_NOTE_ATOMIC;                                        \
    return simt::atomic_compare_exchange(memory, expected, value); \
  }
SEVENLOOPS_ATOMICS(float)
SEVENLOOPS_ATOMICS(double)
SEVENLOOPS_ATOMICS(int)
SEVENLOOPS_ATOMICS(unsigned)
SEVENLOOPS_ATOMICS(unsigned long long)
SEVENLOOPS_INTEGER_ATOMICS(int)
SEVENLOOPS_INTEGER_ATOMICS(unsigned)
SEVENLOOPS_INTEGER_ATOMICS(unsigned long long)
#undef SEVENLOOPS_ATOMICS
#undef SEVENLOOPS_INTEGER_ATOMICS
#undef SEVENLOOPS_NOTE_ATOMIC

}  // namespace sevenloops::SEVENLOOPS_BUILD

#undef SEVENLOOPS_DEVICE
