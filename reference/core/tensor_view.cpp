#include "reference/core/tensor_view.hpp"

#include <string>

#include "reference/core/error.hpp"

namespace sevenloops {
namespace {

[[noreturn]] void throw_index_error(int axis, std::int64_t index, std::int64_t extent) {
  static const char* const names[] = {"N", "C", "H", "W"};
  throw Error(std::string("index on axis ") + names[axis], index,
              "lie in [0, " + std::to_string(extent) + ")");
}

}  // namespace

IndexErrorHandler on_index_error = throw_index_error;

}  // namespace sevenloops
