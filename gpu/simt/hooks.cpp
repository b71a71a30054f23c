#include "gpu/simt/faults.hpp"
#include "gpu/simt/runtime.hpp"
#include "gpu/simt/session.hpp"
#include "gpu/simt/tracer.hpp"
namespace sevenloops::simt {
__thread LaneLog* traced_lane = nullptr;
void record_impossible_launch(const LaunchState&, const std::string&) {}
void record_launch(const LaunchState&, std::size_t) {}
void note_atomic(const void*, std::size_t) {}
void note_fma() {}

}  // namespace sevenloops::simt
extern "C" {
#define ACCESS(name) \
  void __tsan_##name(void*) {}
ACCESS(read1)
ACCESS(read2) ACCESS(read4) ACCESS(read8) ACCESS(read16) ACCESS(write1) ACCESS(write2)
    ACCESS(write4) ACCESS(write8) ACCESS(write16) ACCESS(unaligned_read2) ACCESS(unaligned_read4)
        ACCESS(unaligned_read8) ACCESS(unaligned_read16) ACCESS(unaligned_write2)
            ACCESS(unaligned_write4) ACCESS(unaligned_write8)
                ACCESS(unaligned_write16) void __tsan_read_range(void*, unsigned long) {}
void __tsan_write_range(void*, unsigned long) {}
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __sanitizer_cov_trace_pc() {}
}
