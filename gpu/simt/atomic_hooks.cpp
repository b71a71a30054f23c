// Traced objects hold host code too, and its atomic operations become calls as well. Kernels use
// the functions of runtime.hpp instead, so nothing is noted here.

#include <cstdint>

// The last arguments are memory orders; the strongest does for all.
#define SEVENLOOPS_ATOMIC_HOOKS(bits)                                                              \
  std::uint##bits##_t __tsan_atomic##bits##_load(const volatile std::uint##bits##_t* a, int) {     \
    return __atomic_load_n(a, __ATOMIC_SEQ_CST);                                                   \
  }                                                                                                \
  void __tsan_atomic##bits##_store(volatile std::uint##bits##_t* a, std::uint##bits##_t v, int) {  \
    __atomic_store_n(a, v, __ATOMIC_SEQ_CST);                                                      \
  }                                                                                                \
  SEVENLOOPS_ATOMIC_CHANGE(bits, exchange, __atomic_exchange_n)                                    \
  SEVENLOOPS_ATOMIC_CHANGE(bits, fetch_add, __atomic_fetch_add)                                    \
  SEVENLOOPS_ATOMIC_CHANGE(bits, fetch_sub, __atomic_fetch_sub)                                    \
  SEVENLOOPS_ATOMIC_CHANGE(bits, fetch_and, __atomic_fetch_and)                                    \
  SEVENLOOPS_ATOMIC_CHANGE(bits, fetch_or, __atomic_fetch_or)                                      \
  SEVENLOOPS_ATOMIC_CHANGE(bits, fetch_xor, __atomic_fetch_xor)                                    \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile std::uint##bits##_t* a,               \
                                                    std::uint##bits##_t* expected,                 \
                                                    std::uint##bits##_t v, int, int) {             \
    return __atomic_compare_exchange_n(a, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  }                                                                                                \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile std::uint##bits##_t* a,                 \
                                                  std::uint##bits##_t* expected,                   \
                                                  std::uint##bits##_t v, int, int) {               \
    return __atomic_compare_exchange_n(a, expected, v, true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);  \
  }                                                                                                \
  std::uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(                                  \
      volatile std::uint##bits##_t* a, std::uint##bits##_t expected, std::uint##bits##_t v, int,   \
      int) {                                                                                       \
    __atomic_compare_exchange_n(a, &expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);       \
    return expected;                                                                               \
  }
#define SEVENLOOPS_ATOMIC_CHANGE(bits, name, function)                              \
  std::uint##bits##_t __tsan_atomic##bits##_##name(volatile std::uint##bits##_t* a, \
                                                   std::uint##bits##_t v, int) {    \
    return function(a, v, __ATOMIC_SEQ_CST);                                        \
  }

extern "C" {
SEVENLOOPS_ATOMIC_HOOKS(8)
SEVENLOOPS_ATOMIC_HOOKS(16)
SEVENLOOPS_ATOMIC_HOOKS(32)
SEVENLOOPS_ATOMIC_HOOKS(64)
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
}
