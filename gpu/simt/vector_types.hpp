#pragma once
// CUDA's small vectors for host compilers. Those of 8 and 16 bytes are copied as one access, as on
// a GPU: a plain struct would become an access for each member.

namespace sevenloops::SEVENLOOPS_BUILD {

#define SEVENLOOPS_VECTOR2(Name, T)                                                  \
  struct Name {                                                                      \
    using Whole [[gnu::vector_size(2 * sizeof(T)), gnu::may_alias]] = T;             \
    union {                                                                          \
      struct {                                                                       \
        T x, y;                                                                      \
      };                                                                             \
      Whole whole;                                                                   \
    };                                                                               \
    Name() = default;                                                                \
    [[gnu::always_inline]] constexpr Name(T x, T y) : x(x), y(y) {}                  \
    [[gnu::always_inline]] constexpr Name(const Name& other) : whole(other.whole) {} \
    [[gnu::always_inline]] constexpr Name& operator=(const Name& other) {            \
      whole = other.whole;                                                           \
      return *this;                                                                  \
    }                                                                                \
  };                                                                                 \
  [[gnu::always_inline]] inline constexpr Name make_##Name(T x, T y) { return {x, y}; }

#define SEVENLOOPS_VECTOR4(Name, T)                                                       \
  struct Name {                                                                           \
    using Whole [[gnu::vector_size(4 * sizeof(T)), gnu::may_alias]] = T;                  \
    union {                                                                               \
      struct {                                                                            \
        T x, y, z, w;                                                                     \
      };                                                                                  \
      Whole whole;                                                                        \
    };                                                                                    \
    Name() = default;                                                                     \
    [[gnu::always_inline]] constexpr Name(T x, T y, T z, T w) : x(x), y(y), z(z), w(w) {} \
    [[gnu::always_inline]] constexpr Name(const Name& other) : whole(other.whole) {}      \
    [[gnu::always_inline]] constexpr Name& operator=(const Name& other) {                 \
      whole = other.whole;                                                                \
      return *this;                                                                       \
    }                                                                                     \
  };                                                                                      \
  [[gnu::always_inline]] inline constexpr Name make_##Name(T x, T y, T z, T w) {          \
    return {x, y, z, w};                                                                  \
  }

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"  // unnamed structs
SEVENLOOPS_VECTOR2(int2, int)
SEVENLOOPS_VECTOR2(uint2, unsigned)
SEVENLOOPS_VECTOR2(float2, float)
SEVENLOOPS_VECTOR2(double2, double)
SEVENLOOPS_VECTOR4(int4, int)
SEVENLOOPS_VECTOR4(uint4, unsigned)
SEVENLOOPS_VECTOR4(float4, float)
#pragma GCC diagnostic pop
#undef SEVENLOOPS_VECTOR2
#undef SEVENLOOPS_VECTOR4

/// Three extents; those not given are 1.
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

}  // namespace sevenloops::SEVENLOOPS_BUILD
