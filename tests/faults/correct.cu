// Kernels that look suspicious and are right: the checks must stay silent.

#include "gpu/cuda.hpp"
#include "gpu/launch.hpp"
#include "tests/faults/fault_case.hpp"

namespace sevenloops::SEVENLOOPS_BUILD {
namespace {

// The last halvings of a sum stay in one warp: a warp barrier is enough.
__global__ void warp_synchronous_sum(const float* x, float* y) {
  __shared__ float sums[64];
  sums[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  if (threadIdx.x >= 32) return;
  sums[threadIdx.x] += sums[threadIdx.x + 32];
  for (unsigned half = 16; half > 0; half /= 2) {
    __syncwarp();
    const float other = threadIdx.x < half ? sums[threadIdx.x + half] : 0.0f;
    __syncwarp();
    if (threadIdx.x < half) sums[threadIdx.x] += other;
  }
  if (threadIdx.x == 0) y[0] = sums[0];
}

// A shuffle is a warp barrier too.
__global__ void order_by_shuffle(const float* x, float* y) {
  __shared__ float tile[64];
  tile[threadIdx.x] = x[threadIdx.x];
  const float first = __shfl_sync(0xffffffffu, x[threadIdx.x], 0);
  __syncwarp();
  y[threadIdx.x] = first + tile[threadIdx.x ^ 1];
}

// One half of the tile is filled while the other is read; one barrier a turn.
__global__ void double_buffered_tile(const float* x, float* y) {
  __shared__ float tile[2][64];
  tile[0][threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  float sum = 0.0f;
  for (int turn = 0; turn < 4; ++turn) {
    const int now = turn % 2;
    if (turn < 3) tile[1 - now][threadIdx.x] = x[64 * (turn + 1) + threadIdx.x];
    sum += tile[now][63 - threadIdx.x];
    __syncthreads();
  }
  y[threadIdx.x] = sum;
}

// One array, three uses, a barrier between.
__global__ void shared_array_reused(const float* x, float* y) {
  __shared__ float tile[64];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  const float reversed = tile[63 - threadIdx.x];
  __syncthreads();
  tile[threadIdx.x] = reversed;
  __syncthreads();
  const float rotated = tile[(threadIdx.x + 1) % 64];
  __syncthreads();
  tile[(threadIdx.x * 5) % 64] = rotated;
  __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x];
}

// Bytes and halves of one word written by different threads.
__global__ void neighboring_bytes(const float* x, float* y) {
  __shared__ unsigned char bytes[64];
  __shared__ unsigned short halves[64];
  bytes[threadIdx.x] = static_cast<unsigned char>(x[threadIdx.x]);
  halves[threadIdx.x] = static_cast<unsigned short>(x[threadIdx.x]);
  __syncthreads();
  y[threadIdx.x] = static_cast<float>(bytes[63 - threadIdx.x]) + halves[threadIdx.x];
}

// One instruction that reads one array in even threads and another in odd ones.
__global__ void pointer_to_either_array(const float* x, float* y) {
  __shared__ float even[64];
  __shared__ float odd[64];
  even[threadIdx.x] = x[threadIdx.x];
  odd[threadIdx.x] = -x[threadIdx.x];
  __syncthreads();
  const float* chosen = threadIdx.x % 2 == 0 ? even : odd;
  float sum = 0.0f;
  for (int turn = 0; turn < 2; ++turn) {
    sum += chosen[(threadIdx.x + turn) % 64];
    chosen = chosen == even ? odd : even;
  }
  y[threadIdx.x] = sum;
}

// Every thread overwrites an element that another one needed, after a barrier.
__global__ void reverse_in_place(float* y) {
  const float value = y[63 - threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = value;
}

// All threads add to one shared, then all blocks to one global element.
__global__ void atomic_histogram(const float* x, float* y) {
  __shared__ float bins[4];
  if (threadIdx.x < 4) bins[threadIdx.x] = 0.0f;
  __syncthreads();
  atomicAdd(&bins[static_cast<int>(x[threadIdx.x]) % 4], 1.0f);
  __syncthreads();
  if (threadIdx.x < 4) atomicAdd(&y[threadIdx.x], bins[threadIdx.x]);
}

// Whole warps leave before a collective of the warps that stay.
__global__ void whole_warps_leave(const float* x, float* y) {
  const unsigned warp = threadIdx.x / 32;
  if (warp == 1) return;
  float sum = x[threadIdx.x];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x == 0) y[0] = sum;
}

// The last block is partial: threads past the end take part in the barriers but touch nothing.
__global__ void partial_last_block(const float* x, float* y, int n) {
  __shared__ float tile[64];
  const int i = blockIdx.x * 64 + threadIdx.x;
  tile[threadIdx.x] = i < n ? x[i] : 0.0f;
  __syncthreads();
  const float sum = tile[threadIdx.x] + tile[threadIdx.x ^ 1];
  if (i < n) y[i] = sum;
}

// Loops whose number of turns, zero in block 0, is the same for all threads of a block.
__global__ void loops_of_zero_turns(float* y) {
  __shared__ float turn[64];
  float sum = 0.0f;
  for (unsigned i = 0; i < blockIdx.x; ++i) {
    turn[threadIdx.x] = static_cast<float>(i + 1);
    __syncthreads();
    sum += turn[63 - threadIdx.x];
    __syncthreads();
  }
  y[blockIdx.x * 64 + threadIdx.x] = sum;
}

// Lanes that meet at a vote of the whole warp after they ran uneven loops.
__global__ void uneven_loops_then_vote(const float* x, float* y) {
  float sum = 0.0f;
  for (unsigned i = 0; i <= threadIdx.x % 32; ++i) sum += x[i];
  const unsigned odd = __ballot_sync(0xffffffffu, static_cast<int>(sum) % 2 == 1);
  y[threadIdx.x] = sum + 1000.0f * static_cast<float>(__popc(odd));
}

// Both halves of a warp vote apart, each naming only itself.
__global__ void votes_of_half_warps(float* y) {
  unsigned votes = 0;
  if (threadIdx.x % 32 < 16) {
    votes = __ballot_sync(0x0000ffffu, threadIdx.x % 2 == 0);
  } else {
    votes = __ballot_sync(0xffff0000u, threadIdx.x % 4 == 0);
  }
  y[threadIdx.x] = static_cast<float>(__popc(votes));
}

// Many threads read one element, one of them writes it after the barrier; 16-byte accesses beside
// 4-byte ones, each element by its own thread.
__global__ void vectors_and_scalars(const float* x, float* y) {
  __shared__ float4 fours[16];
  float* scalars = reinterpret_cast<float*>(fours);
  if (threadIdx.x < 16) fours[threadIdx.x] = reinterpret_cast<const float4*>(x)[threadIdx.x];
  __syncthreads();
  const float first = scalars[0];
  __syncthreads();
  scalars[threadIdx.x] += first + 1.0f;
  __syncthreads();
  if (threadIdx.x < 16) reinterpret_cast<float4*>(y)[threadIdx.x] = fours[15 - threadIdx.x];
}

// Two arrays cut from the dynamic shared memory, used to their very last byte.
__global__ void dynamic_shared_to_the_end(const float* x, float* y) {
  float* left = dynamic_shared<float>();
  float* right = left + 64;
  left[threadIdx.x] = x[threadIdx.x];
  right[63 - threadIdx.x] = x[64 + threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = left[63 - threadIdx.x] + right[threadIdx.x];
}

// Arrays of a thread's own, indexed at run time, and passed on by address.
__device__ void add_all(const float* values, int count, float* sum) {
  for (int i = 0; i < count; ++i) *sum += values[i];
}

__global__ void arrays_of_a_thread(const float* x, float* y) {
  float own[8];
  for (int i = 0; i < 8; ++i) own[(i * 3 + threadIdx.x) % 8] = x[threadIdx.x] + i;
  float sum = 0.0f;
  add_all(own, 8, &sum);
  y[threadIdx.x] = sum;
}

template <typename Kernel, typename... Rest>
std::vector<float> run(Kernel kernel, unsigned blocks, std::size_t x_count, std::vector<float> y0,
                       Rest... rest) {
  Memory x("x", counting(x_count)), y("y", y0);
  launch(kernel, LaunchShape{dim3(blocks), dim3(64), 512}, nullptr,
         static_cast<const float*>(x.data()), y.data(), rest...);
  return y.values();
}

template <typename Kernel>
std::vector<float> run_y(Kernel kernel, unsigned blocks, std::vector<float> y0) {
  Memory y("y", y0);
  launch(kernel, LaunchShape{dim3(blocks), dim3(64)}, nullptr, y.data());
  return y.values();
}

/// function(0), ..., function(count - 1).
template <typename Function>
std::vector<float> table(int count, Function function) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i) values.push_back(static_cast<float>(function(i)));
  return values;
}

}  // namespace

std::vector<CorrectCase> correct_cases() {
  const std::vector<float> zeros(64);
  return {
      {"warp_synchronous_sum", {2016}, [] { return run(warp_synchronous_sum, 1, 64, {0}); }},
      {"order_by_shuffle", table(64, [](int t) { return t / 32 * 32 + (t ^ 1); }),
       [] { return run(order_by_shuffle, 1, 64, std::vector<float>(64)); }},
      {"double_buffered_tile", table(64, [](int t) { return 4 * (63 - t) + 64 * 6; }),
       [] { return run(double_buffered_tile, 1, 256, std::vector<float>(64)); }},
      {"shared_array_reused", table(64, [](int t) { return 63 - (t * 13 % 64 + 1) % 64; }),
       [] { return run(shared_array_reused, 1, 64, std::vector<float>(64)); }},
      {"neighboring_bytes", table(64, [](int) { return 63; }),
       [] { return run(neighboring_bytes, 1, 64, std::vector<float>(64)); }},
      {"pointer_to_either_array",
       table(64, [](int t) { return (t % 2 == 0 ? 1 : -1) * (t - (t + 1) % 64); }),
       [] { return run(pointer_to_either_array, 1, 64, std::vector<float>(64)); }},
      {"reverse_in_place", table(64, [](int t) { return 63 - t; }),
       [] { return run_y(reverse_in_place, 1, counting(64)); }},
      {"atomic_histogram",
       {48, 48, 48, 48},
       [] { return run(atomic_histogram, 3, 64, std::vector<float>(4)); }},
      {"whole_warps_leave", {496}, [] { return run(whole_warps_leave, 1, 64, {0}); }},
      {"partial_last_block", table(100, [](int i) { return i + (i ^ 1); }),
       [] { return run(partial_last_block, 2, 100, std::vector<float>(100), 100); }},
      {"loops_of_zero_turns", table(192, [](int i) { return (i / 64) * (i / 64 + 1) / 2; }),
       [] { return run_y(loops_of_zero_turns, 3, std::vector<float>(192)); }},
      {"uneven_loops_then_vote",
       table(64, [](int t) { return (t % 32) * (t % 32 + 1) / 2 + 16000; }),
       [] { return run(uneven_loops_then_vote, 1, 64, std::vector<float>(64)); }},
      {"votes_of_half_warps", table(64, [](int t) { return t % 32 < 16 ? 8 : 4; }),
       [] { return run_y(votes_of_half_warps, 1, std::vector<float>(64)); }},
      {"vectors_and_scalars", table(64, [](int i) { return (15 - i / 4) * 4 + i % 4 + 1; }),
       [] { return run(vectors_and_scalars, 1, 64, std::vector<float>(64)); }},
      {"dynamic_shared_to_the_end", table(64, [](int t) { return 2 * (63 - t) + 64; }),
       [] { return run(dynamic_shared_to_the_end, 1, 128, std::vector<float>(64)); }},
      {"arrays_of_a_thread", table(64, [](int t) { return 8 * t + 28; }),
       [] { return run(arrays_of_a_thread, 1, 64, std::vector<float>(64)); }},
  };
}

}  // namespace sevenloops::SEVENLOOPS_BUILD
