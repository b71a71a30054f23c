#include "gpu/simt/index_error.hpp"

#include <string>

#include "gpu/simt/tracer.hpp"
#include "gpu/simt/worker.hpp"
#include "reference/core/tensor_view.hpp"

namespace sevenloops::simt {
namespace {

IndexErrorHandler outside_of_kernels = nullptr;

// Apart from handle(), which never returns: what is on its stack then is lost.
void report(Lane& lane, int axis, std::int64_t index, std::int64_t extent, const void* caller) {
  LaneLog* log = traced_lane;
  const Untraced untraced;
  static const char* const names[] = {"N", "C", "H", "W"};
  const std::string sentence = std::string("uses index ") + std::to_string(index) + " on axis " +
                               names[axis] + ", but it must lie in [0, " + std::to_string(extent) +
                               ")";
  if (log != nullptr) {
    Tracer& tracer = lane.worker->tracer();
    tracer.report_index(lane, sentence, tracer.pc_of(caller));
  } else {
    lane.worker->launch().fail(block_index(), lane.index, sentence);
  }
}

void handle(int axis, std::int64_t index, std::int64_t extent) {
  Lane* lane = current_lane;
  if (lane == nullptr) {
    outside_of_kernels(axis, index, extent);
    return;
  }
  report(*lane, axis, index, extent, __builtin_return_address(0));
  lane->worker->stop(*lane);
}

}  // namespace

void install_index_error_handler() {
  static const bool installed = [] {
    outside_of_kernels = on_index_error;
    on_index_error = handle;
    return true;
  }();
  (void)installed;
}

}  // namespace sevenloops::simt
