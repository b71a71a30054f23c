// y = x * w for n x n matrices, n a multiple of 32: bench/simt_tiled.cu in OpenCL, access by
// access; fma() on both sides; one work-item per element of y, work-groups of 32 x 32.
#define TILE 32

__attribute__((reqd_work_group_size(TILE, TILE, 1))) __kernel void matmul_tiled(
    __global const float* x, __global const float* w, __global float* y, int n) {
  __local float x_tile[TILE][TILE];
  __local float w_tile[TILE][TILE];
  const int column = get_group_id(0) * TILE + get_local_id(0);
  const int row = get_group_id(1) * TILE + get_local_id(1);
  float sum = 0.0f;
  for (int first = 0; first < n; first += TILE) {
    x_tile[get_local_id(1)][get_local_id(0)] = x[row * n + first + get_local_id(0)];
    w_tile[get_local_id(1)][get_local_id(0)] = w[(first + get_local_id(1)) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < TILE; ++i) {
      sum = fma(x_tile[get_local_id(1)][i], w_tile[i][get_local_id(0)], sum);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  y[row * n + column] = sum;
}
