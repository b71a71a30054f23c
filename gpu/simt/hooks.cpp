// The functions that compilers call in traced objects: -fsanitize=thread before each access,
// -fsanitize-coverage=trace-pc in each basic block, -fsanitize=bounds at each index out of range.
// Outside of traced lanes they do nothing.

#include <cstring>

#include "gpu/simt/tracer.hpp"
#include "gpu/simt/worker.hpp"

namespace sevenloops::simt {
namespace {

using enum AccessKind;

[[gnu::always_inline]] inline void note(const void* memory, unsigned bytes, AccessKind kind,
                                        const void* caller) {
  LaneLog* log = traced_lane;
  if (log == nullptr) return;
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  if (address - log->stack_low < log->stack_bytes) return;  // the thread's own variables
  log->tracer->access(*log, address, bytes, kind, log->tracer->pc_of(caller));
}

// Accesses to memory that is not known to be aligned, or of odd sizes, such as copies of structs:
// piece by piece as a GPU would. 16 bytes at once are a vector and must be aligned.
void note_pieces(const void* memory, std::size_t bytes, AccessKind kind, const void* caller) {
  if (traced_lane == nullptr) return;
  if (bytes == 16) return note(memory, 16, kind, caller);
  const char* at = static_cast<const char*>(memory);
  while (bytes > 0) {
    unsigned piece = 8;
    while (piece > bytes || reinterpret_cast<std::uintptr_t>(at) % piece != 0) piece /= 2;
    note(at, piece, kind, caller);
    at += piece;
    bytes -= piece;
  }
}

}  // namespace

void note_atomic(const void* memory, std::size_t bytes) {
  note(memory, static_cast<unsigned>(bytes), atomic, __builtin_return_address(0));
}

void note_fma() {
  if (traced_lane == nullptr) return;
  Tracer& tracer = *traced_lane->tracer;
  const Untraced untraced;
  tracer.count_fma(tracer.pc_of(__builtin_return_address(0)));
}

}  // namespace sevenloops::simt

using sevenloops::simt::AccessKind;
using sevenloops::simt::note;
using sevenloops::simt::note_pieces;
using sevenloops::simt::traced_lane;

extern "C" {

#define SEVENLOOPS_HOOKS(bytes)                                                 \
  void __tsan_read##bytes(void* memory) {                                       \
    note(memory, bytes, AccessKind::read, __builtin_return_address(0));         \
  }                                                                             \
  void __tsan_write##bytes(void* memory) {                                      \
    note(memory, bytes, AccessKind::write, __builtin_return_address(0));        \
  }                                                                             \
  void __tsan_unaligned_read##bytes(void* memory) {                             \
    note_pieces(memory, bytes, AccessKind::read, __builtin_return_address(0));  \
  }                                                                             \
  void __tsan_unaligned_write##bytes(void* memory) {                            \
    note_pieces(memory, bytes, AccessKind::write, __builtin_return_address(0)); \
  }
SEVENLOOPS_HOOKS(1)
SEVENLOOPS_HOOKS(2)
SEVENLOOPS_HOOKS(4)
SEVENLOOPS_HOOKS(8)
SEVENLOOPS_HOOKS(16)
#undef SEVENLOOPS_HOOKS

void __tsan_read_range(void* memory, unsigned long bytes) {
  note_pieces(memory, bytes, AccessKind::read, __builtin_return_address(0));
}
void __tsan_write_range(void* memory, unsigned long bytes) {
  note_pieces(memory, bytes, AccessKind::write, __builtin_return_address(0));
}

void __sanitizer_cov_trace_pc() {
  sevenloops::simt::LaneLog* log = traced_lane;
  if (log != nullptr)
    log->tracer->enter_block(*log, log->tracer->pc_of(__builtin_return_address(0)));
}

// Called once an object, by its constructors, and where there are virtual functions.
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}

// What clang makes of copies that it cannot see through, linked with --wrap. Other programs' calls
// come here too.
void* __real_memcpy(void* to, const void* from, unsigned long bytes) __attribute__((weak));
void* __real_memmove(void* to, const void* from, unsigned long bytes) __attribute__((weak));
void* __real_memset(void* to, int byte, unsigned long bytes) __attribute__((weak));

void* __wrap_memcpy(void* to, const void* from, unsigned long bytes) {
  note_pieces(from, bytes, AccessKind::read, __builtin_return_address(0));
  note_pieces(to, bytes, AccessKind::write, __builtin_return_address(0));
  return __real_memcpy(to, from, bytes);
}
void* __wrap_memmove(void* to, const void* from, unsigned long bytes) {
  note_pieces(from, bytes, AccessKind::read, __builtin_return_address(0));
  note_pieces(to, bytes, AccessKind::write, __builtin_return_address(0));
  return __real_memmove(to, from, bytes);
}
void* __wrap_memset(void* to, int byte, unsigned long bytes) {
  note_pieces(to, bytes, AccessKind::write, __builtin_return_address(0));
  return __real_memset(to, byte, bytes);
}

// -fsanitize=bounds. Its own runtime may be linked too, for other objects, hence --wrap.
struct SourcePlace {
  const char* file;
  unsigned line, column;
};
struct TypeDescriptor {
  unsigned short kind, info;
  char name[1];
};
struct OutOfBounds {
  SourcePlace place;
  const TypeDescriptor* array;
  const TypeDescriptor* index;
};

void __real___ubsan_handle_out_of_bounds(OutOfBounds* data, unsigned long index)
    __attribute__((weak));

void __wrap___ubsan_handle_out_of_bounds(OutOfBounds* data, unsigned long index) {
  sevenloops::simt::LaneLog* log = traced_lane;
  if (log == nullptr) {
    if (__real___ubsan_handle_out_of_bounds != nullptr) {
      __real___ubsan_handle_out_of_bounds(data, index);
    }
    return;
  }
  // Indices narrower than a register come in its low bits; bit 0 of info tells signed ones.
  const unsigned bits = 1u << (data->index->info >> 1), spare = bits < 64 ? 64 - bits : 0;
  const bool is_signed = (data->index->info & 1) != 0;
  const auto value = is_signed ? static_cast<long>(index << spare) >> spare
                               : static_cast<long>(index << spare >> spare);
  log->tracer->index_outside(*log, data->array->name, value,
                             log->tracer->pc_of(__builtin_return_address(0)));
}

}  // extern "C"
