#pragma once
// cuBLAS behind a function that exists in every build; on a host it throws.

#include "gpu/cuda.hpp"
#include "reference/core/error.hpp"
#include "reference/core/stage.hpp"

#if defined(SEVENLOOPS_ON_GPU)
#include <cublas_v2.h>
#endif

namespace sevenloops::SEVENLOOPS_BUILD {

/// One factor or the result of a batch of products: element (i, j) of number b lies at
/// data[b*next + i*pitch + j].
template <typename T>
struct MatrixBatch {
  T* data;
  std::int64_t pitch, next;
};

#if defined(SEVENLOOPS_ON_GPU)

/// Throws Error with cuBLAS's name of `status` when it is not success.
inline void check_cublas(cublasStatus_t status) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Error(std::string("cuBLAS reports '") + cublasGetStatusName(status) + "'");
}

/// The program's handle, which works in true fp32 and fp64 on `stream`.
inline cublasHandle_t cublas_on(Stream stream) {
  static const cublasHandle_t handle = [] {
    cublasHandle_t made = nullptr;
    check_cublas(cublasCreate(&made));
    check_cublas(cublasSetMathMode(made, CUBLAS_PEDANTIC_MATH));
    return made;
  }();
  check_cublas(cublasSetStream(handle, static_cast<cudaStream_t>(stream)));
  return handle;
}

#endif

/// c = alpha * a b + beta * c for `count` products of rows x depth and depth x columns matrices,
/// asynchronously. Throws Error where there is no cuBLAS.
template <typename T>
void cublas_multiply(Stream stream, int rows, int columns, int depth, T alpha,
                     MatrixBatch<const T> a, MatrixBatch<const T> b, T beta, MatrixBatch<T> c,
                     int count) {
#if defined(SEVENLOOPS_ON_GPU)
  // cuBLAS counts columns first: to it these are the transposes, and c' = b' a'.
  const auto call = [&](auto gemm) {
    check_cublas(gemm(cublas_on(stream), CUBLAS_OP_N, CUBLAS_OP_N, columns, rows, depth, &alpha,
                      b.data, static_cast<int>(b.pitch), b.next, a.data, static_cast<int>(a.pitch),
                      a.next, &beta, c.data, static_cast<int>(c.pitch), c.next, count));
  };
  if constexpr (sizeof(T) == sizeof(double)) {
    call(cublasDgemmStridedBatched);
  } else {
    call(cublasSgemmStridedBatched);
  }
#else
  (void)stream, (void)rows, (void)columns, (void)depth, (void)alpha, (void)a, (void)b, (void)beta;
  (void)c, (void)count;
  throw Error("cuBLAS runs on a GPU only");
#endif
}

}  // namespace sevenloops::SEVENLOOPS_BUILD
