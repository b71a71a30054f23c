#pragma once
// Copies from global to shared memory that run beside the thread that asked for them.
//
//     async_copy(&tile[i], &x[j]);  // float, float2, double or float4: 4, 8 or 16 bytes
//     async_commit();               // what was asked since the last commit is one group
//     async_wait<1>();              // all groups but the latest 1 have arrived, for this thread
//     __syncthreads();              // for the others
//
// On GPUs before compute capability 8.0 the copy is an ordinary one, finished at once. In the
// emulator bytes arrive at the wait and not before. Source: PTX ISA, "cp.async".

#include "gpu/cuda.hpp"
#include "gpu/simt/runtime.hpp"

namespace sevenloops::SEVENLOOPS_BUILD {

/// Starts copying `*from` in global memory to `*to` in shared memory, both aligned to sizeof(T).
/// `*to` must not be touched before the wait.
template <typename T>
__device__ __forceinline__ void async_copy(T* to, const T* from) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, "4, 8 or 16 bytes");
#if !defined(SEVENLOOPS_ON_GPU)
  simt::async_copy(to, from, sizeof(T));
#elif __CUDA_ARCH__ >= 800
  const unsigned shared = static_cast<unsigned>(__cvta_generic_to_shared(to));
  if constexpr (sizeof(T) == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(from) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared), "l"(from),
                 "n"(sizeof(T))
                 : "memory");
  }
#else
  *to = *from;
#endif
}

/// The same where `there`; elsewhere zeros arrive and `from` is not read. 4 or 8 bytes.
template <typename T>
__device__ __forceinline__ void async_copy_or_zero(T* to, const T* from, bool there) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "4 or 8 bytes");
#if !defined(SEVENLOOPS_ON_GPU)
  simt::async_copy(to, there ? from : nullptr, sizeof(T));
#elif __CUDA_ARCH__ >= 800
  const unsigned shared = static_cast<unsigned>(__cvta_generic_to_shared(to));
  const unsigned bytes_read = there ? sizeof(T) : 0;
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared), "l"(from),
               "n"(sizeof(T)), "r"(bytes_read)
               : "memory");
#else
  *to = there ? *from : T(0);
#endif
}

/// Closes the group of the copies this thread started since its last commit.
__device__ __forceinline__ void async_commit() {
#if !defined(SEVENLOOPS_ON_GPU)
  simt::async_commit();
#elif __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Waits until at most `kGroups` of this thread's groups, the latest, have not arrived.
template <int kGroups>
__device__ __forceinline__ void async_wait() {
#if !defined(SEVENLOOPS_ON_GPU)
  simt::async_wait(kGroups);
#elif __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(kGroups) : "memory");
#endif
}

}  // namespace sevenloops::SEVENLOOPS_BUILD
