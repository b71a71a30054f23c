#include "gpu/conv2d/stages.hpp"

#include <algorithm>
#include <limits>

#include "reference/core/error.hpp"

namespace sevenloops {

#define SEVENLOOPS_STAGE(name) extern const Conv2dStage conv2d_##name;
namespace build_plain {
#include "gpu/conv2d/stages.def"
}
namespace build_traced {
#include "gpu/conv2d/stages.def"
}
namespace build_gpu {
#include "gpu/conv2d/stages.def"
}
#undef SEVENLOOPS_STAGE

std::span<const Conv2dStage* const> conv2d_stages(Build build) {
#define SEVENLOOPS_STAGE(name) &build_plain::conv2d_##name,
  static constexpr const Conv2dStage* plain[] = {
#include "gpu/conv2d/stages.def"
  };
#undef SEVENLOOPS_STAGE
#define SEVENLOOPS_STAGE(name) &build_traced::conv2d_##name,
  static constexpr const Conv2dStage* traced[] = {
#include "gpu/conv2d/stages.def"
  };
#undef SEVENLOOPS_STAGE
  if (build == Build::plain) return plain;
  if (build == Build::traced) return traced;
#ifdef SEVENLOOPS_HAS_CUDA
#define SEVENLOOPS_STAGE(name) &build_gpu::conv2d_##name,
  static constexpr const Conv2dStage* gpu[] = {
#include "gpu/conv2d/stages.def"
  };
#undef SEVENLOOPS_STAGE
  return gpu;
#else
  return {};
#endif
}

Support supports(const Conv2dStage& stage, const Conv2dForward::Args& args, Place place) {
  if (stage.gpu_library != nullptr && place == Place::emulator) {
    return Support::no("it calls " + std::string(stage.gpu_library) + ", which runs on a GPU only");
  }
  return stage.supports(args);
}

Support within_limits(const Conv2dProblem& prob, std::int64_t blocks) {
  constexpr std::int64_t kLargest = std::numeric_limits<std::int32_t>::max();
  if (prob.dtype != Dtype::f32 && prob.dtype != Dtype::f64) {
    return Support::no("the data are " + std::string(name_of(prob.dtype)) +
                       ", but must be f32 or f64");
  }
  if (prob.accumulate != prob.dtype) {
    return Support::no("the sum is to be formed in " + std::string(name_of(prob.accumulate)) +
                       ", but is formed in the type of the data, " +
                       std::string(name_of(prob.dtype)));
  }
  const std::int64_t longest = std::max({prob.H + prob.pad_top + prob.pad_bottom, prob.stride_h,
                                         prob.W + prob.pad_left + prob.pad_right, prob.stride_w});
  if (longest > kLargest) {
    return Support::no("a padded extent or stride is " + std::to_string(longest) +
                       ", but positions are counted in 32 bits");
  }
  if (blocks > kLargest) {
    return Support::no("it needs " + std::to_string(blocks) +
                       " blocks of threads, but a grid holds at most " + std::to_string(kLargest));
  }
  return {};
}

Support within_matrix_limits(const Conv2dProblem& prob, std::int64_t blocks) {
  constexpr std::int64_t kLargest = 1 << 30;
  const std::int64_t columns = prob.N * prob.P() * prob.Q();
  if (std::max({row_count(prob), prob.K, columns}) > kLargest) {
    return Support::no("C*R*S is " + std::to_string(row_count(prob)) + ", K " +
                       std::to_string(prob.K) + " and N*P*Q " + std::to_string(columns) +
                       ", but a matrix has at most 2^30 rows or columns");
  }
  return within_limits(prob, blocks);
}

void require_workspace(const char* stage, Workspace workspace, std::size_t bytes) {
  if (workspace.bytes >= bytes) return;
  throw Error("the workspace of " + std::string(stage) + " in bytes", workspace.bytes,
              "be at least " + std::to_string(bytes));
}

}  // namespace sevenloops
