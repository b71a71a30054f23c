#pragma once
// Threads of a kernel as fibers: stacks of their own, switched by hand on one OS thread.

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace sevenloops::simt {

/// One stack with a suspended computation on it. All fibers of a pool run `entry(fiber)`, which
/// must never return.
struct Fiber {
  boost::context::detail::fcontext_t context = nullptr;
  std::uintptr_t stack_low = 0;
  std::size_t stack_bytes = 0;
  void* fake_stack = nullptr;  // address sanitizer's, while suspended
};

/// The fibers of one worker. Stacks are kept, their pages stay warm between launches.
class FiberPool {
 public:
  explicit FiberPool(void (*entry)(Fiber&)) : entry_(entry) {}
  ~FiberPool();
  FiberPool(const FiberPool&) = delete;
  FiberPool& operator=(const FiberPool&) = delete;

  /// A fiber that waits at the start of its entry, or where it was put back.
  Fiber* take();
  /// Gives back a fiber that is suspended and may go on with other work.
  void put_back(Fiber* fiber) { free_.push_back(fiber); }
  /// Gives back a fiber that must not go on: whatever is on its stack is forgotten.
  void abandon(Fiber* fiber);

  /// From the worker: runs `fiber` until it calls suspend().
  void resume(Fiber& fiber);
  /// On a fiber: back to the worker.
  void suspend(Fiber& fiber);

 private:
  static void start(boost::context::detail::transfer_t transfer);
  void prepare(Fiber& fiber);

  void (*entry_)(Fiber&);
  boost::context::detail::fcontext_t worker_ = nullptr;
  [[maybe_unused]] const void* worker_stack_ = nullptr;  // for the address sanitizer
  [[maybe_unused]] std::size_t worker_stack_bytes_ = 0;
  std::vector<std::unique_ptr<Fiber>> all_;
  std::vector<Fiber*> free_;
};

}  // namespace sevenloops::simt
