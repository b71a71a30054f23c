#pragma once
// What one deliberately broken kernel must make the emulator say, and the memory it runs on.
//
// Each .cu file here holds one family. A kernel is a template over `kBroken`: one `if constexpr` or
// one constant is the whole difference between the fault and its repair. The lines the emulator has
// to name end with `// FAULT <name of the case>`, so that the test finds them itself.

#include <cstddef>
#include <numeric>
#include <vector>

#include "gpu/simt/emulator.hpp"
#include "gpu/simt/report.hpp"

namespace sevenloops {

struct FaultCase {
  const char* name;
  const char* file;  ///< in this folder
  simt::FaultKind kind;
  const char* kernel;                 ///< as reported when broken
  std::vector<const char*> arrays;    ///< those the faults name, together; none: no array to name
  std::vector<simt::Triple> blocks;   ///< those the faults name, together; none: any
  std::vector<simt::Triple> threads;  ///< those the faults name, together; none: any
  std::vector<float> (*run)(bool broken);  ///< returns what the kernel computed
  std::vector<simt::FaultKind> also{};     ///< what the same mistake shows as, besides `kind`
};

/// A kernel that looks suspicious and is right.
struct CorrectCase {
  const char* name;
  std::vector<float> expected;
  std::vector<float> (*run)();
};

/// Floats in the emulator's memory.
class Memory {
 public:
  /// Uninitialized to the checks.
  Memory(const char* name, std::size_t count)
      : data_(static_cast<float*>(simt::allocate(count * sizeof(float), name))), count_(count) {}

  Memory(const char* name, const std::vector<float>& values) : Memory(name, values.size()) {
    std::copy(values.begin(), values.end(), data_);
    simt::mark_initialized(data_, count_ * sizeof(float));
  }

  ~Memory() { simt::deallocate(data_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  float* data() const { return data_; }
  std::vector<float> values() const { return {data_, data_ + count_}; }

 private:
  float* data_;
  std::size_t count_;
};

/// 0, 1, 2, ...
inline std::vector<float> counting(std::size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

/// The families, once per compilation.
#define SEVENLOOPS_FAULT_FAMILIES(build)            \
  namespace build {                                 \
  std::vector<FaultCase> shared_race_cases();       \
  std::vector<FaultCase> barrier_cases();           \
  std::vector<FaultCase> shared_memory_cases();     \
  std::vector<FaultCase> global_memory_cases();     \
  std::vector<FaultCase> global_race_cases();       \
  std::vector<FaultCase> collective_cases();        \
  std::vector<FaultCase> async_copy_cases();        \
  std::vector<FaultCase> impossible_launch_cases(); \
  std::vector<FaultCase> index_range_cases();       \
  std::vector<CorrectCase> correct_cases();         \
  }
SEVENLOOPS_FAULT_FAMILIES(build_plain)
SEVENLOOPS_FAULT_FAMILIES(build_traced)
SEVENLOOPS_FAULT_FAMILIES(build_gpu)
#undef SEVENLOOPS_FAULT_FAMILIES

}  // namespace sevenloops
