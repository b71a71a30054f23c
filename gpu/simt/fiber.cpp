#include "gpu/simt/fiber.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "reference/core/error.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define SEVENLOOPS_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SEVENLOOPS_ASAN
#endif
#endif
#ifdef SEVENLOOPS_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace sevenloops::simt {
namespace {

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

#ifdef SEVENLOOPS_ASAN
constexpr std::size_t kStackBytes = 256 * 1024;  // its frames have red zones
#else
constexpr std::size_t kStackBytes = 64 * 1024;
#endif

// Stack tops that lie a power of two apart compete for the same cache sets.
std::size_t stagger(std::size_t number) { return number * 192 % 16384; }

struct Start {
  FiberPool* pool;
  Fiber* fiber;
};

}  // namespace

FiberPool::~FiberPool() {
  const std::size_t guard = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  for (const auto& fiber : all_) {
    munmap(reinterpret_cast<void*>(fiber->stack_low - guard), guard + kStackBytes);
  }
}

Fiber* FiberPool::take() {
  if (free_.empty()) {
    // Below each stack lies a page that must not be touched.
    const std::size_t guard = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    void* memory = mmap(nullptr, guard + kStackBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw Error("there is no memory for the stacks of emulated threads");
    mprotect(memory, guard, PROT_NONE);
    auto fiber = std::make_unique<Fiber>();
    fiber->stack_low = reinterpret_cast<std::uintptr_t>(memory) + guard;
    fiber->stack_bytes = kStackBytes - stagger(all_.size());
    prepare(*fiber);
    free_.push_back(fiber.get());
    all_.push_back(std::move(fiber));
  }
  Fiber* fiber = free_.back();
  free_.pop_back();
  return fiber;
}

void FiberPool::prepare(Fiber& fiber) {
  fiber.context = make_fcontext(reinterpret_cast<void*>(fiber.stack_low + fiber.stack_bytes),
                                fiber.stack_bytes, start);
  fiber.fake_stack = nullptr;
}

void FiberPool::abandon(Fiber* fiber) {
#ifdef SEVENLOOPS_ASAN
  __asan_unpoison_memory_region(reinterpret_cast<void*>(fiber->stack_low), fiber->stack_bytes);
#endif
  prepare(*fiber);
  free_.push_back(fiber);
}

void FiberPool::resume(Fiber& fiber) {
  Start here{this, &fiber};
#ifdef SEVENLOOPS_ASAN
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, reinterpret_cast<void*>(fiber.stack_low),
                                 fiber.stack_bytes);
#endif
  fiber.context = jump_fcontext(fiber.context, &here).fctx;
#ifdef SEVENLOOPS_ASAN
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
}

void FiberPool::suspend(Fiber& fiber) {
#ifdef SEVENLOOPS_ASAN
  __sanitizer_start_switch_fiber(&fiber.fake_stack, worker_stack_, worker_stack_bytes_);
#endif
  worker_ = jump_fcontext(worker_, nullptr).fctx;
#ifdef SEVENLOOPS_ASAN
  __sanitizer_finish_switch_fiber(fiber.fake_stack, &worker_stack_, &worker_stack_bytes_);
#else
  (void)fiber;
#endif
}

void FiberPool::start(transfer_t transfer) {
  const Start here = *static_cast<Start*>(transfer.data);
  here.pool->worker_ = transfer.fctx;
#ifdef SEVENLOOPS_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &here.pool->worker_stack_,
                                  &here.pool->worker_stack_bytes_);
#endif
  here.pool->entry_(*here.fiber);
}

}  // namespace sevenloops::simt
