// Indices outside of arrays whose size the compiler knows: `first[64]` of `float first[64]`, which
// would silently land in the next shared array. -fsanitize=bounds tells of them before the access;
// the access then tells which array was meant.

#include <algorithm>

#include "gpu/simt/tracer.hpp"
#include "gpu/simt/worker.hpp"

namespace sevenloops::simt {
namespace {

constexpr int kAccessesToWait = 4;

std::size_t size_of(std::string_view type) {
  static constexpr std::pair<std::string_view, std::size_t> sizes[] = {
      {"bool", 1},  {"char", 1},    {"short", 2},  {"int", 4},    {"unsigned", 4},
      {"float", 4}, {"long", 8},    {"double", 8}, {"float2", 8}, {"int2", 8},
      {"uint2", 8}, {"float4", 16}, {"int4", 16},  {"uint4", 16}, {"double2", 16}};
  const auto last = type.find_last_of(" :");
  const std::string_view name = last == std::string_view::npos ? type : type.substr(last + 1);
  if (type == "unsigned char" || type == "signed char") return 1;
  if (type.find("long") != std::string_view::npos) return 8;
  if (type.find("short") != std::string_view::npos) return 2;
  for (const auto& [known, bytes] : sizes) {
    if (known == name) return bytes;
  }
  return 0;
}

/// "float [4][64]": bytes of the whole and of one of its 4 parts; 0 when the type is not known.
struct ArrayType {
  std::size_t bytes = 0, stride_bytes = 0;

  explicit ArrayType(std::string_view text) {
    const std::size_t bracket = text.find('[');
    if (bracket == std::string_view::npos) return;
    std::string_view element = text.substr(0, bracket);
    while (!element.empty() && element.back() == ' ') element.remove_suffix(1);
    bytes = size_of(element);
    std::size_t first_extent = 0;
    for (std::size_t at = bracket; at != std::string_view::npos; at = text.find('[', at + 1)) {
      std::size_t extent = 0;
      for (std::size_t i = at + 1; i < text.size() && text[i] != ']'; ++i) {
        extent = extent * 10 + static_cast<std::size_t>(text[i] - '0');
      }
      if (first_extent == 0) first_extent = extent;
      bytes *= extent;
    }
    stride_bytes = first_extent == 0 ? 0 : bytes / first_extent;
  }
};

}  // namespace

void Tracer::index_outside(LaneLog& log, std::string_view type, std::int64_t index,
                           std::uint32_t pc) {
  if (is_local(log, type, index, pc)) stop(log);
  log.alarm = log.next;  // the next access will be looked at
}

// Remembers the index. True: no shared array of the kernel has this size, so it is reported at
// once.
bool Tracer::is_local(LaneLog& log, std::string_view type, std::int64_t index, std::uint32_t pc) {
  const Untraced untraced;
  if (type.size() >= 2 && type.front() == '\'') type = type.substr(1, type.size() - 2);
  const ArrayType array(type);
  log.pending = {index, type, array.bytes, array.stride_bytes, pc, kAccessesToWait};
  for (const SharedArray* shared : worker_.shared_arrays()) {
    if (array.bytes > 0 && shared->bytes == array.bytes) return false;
  }
  report_pending(log);
  return true;
}

// Is this the access that was announced, or are there too many others? True: it was reported, and
// the lane must be stopped.
bool Tracer::check_pending(LaneLog& log, std::uintptr_t address) {
  const Untraced untraced;
  PendingIndex& pending = log.pending;
  const std::uintptr_t element_zero =
      address - static_cast<std::uintptr_t>(pending.index) * pending.stride_bytes;
  for (const SharedArray* array : worker_.shared_arrays()) {
    if (array->bytes != pending.array_bytes) continue;
    const std::uintptr_t base = static_low_ + array->offset - static_arrays_.first();
    if (element_zero - base >= pending.stride_bytes) continue;
    RawFault raw = fault(FaultKind::shared_overrun, pending.pc, log.lane->thread, kNoArray);
    raw.array = array->name;
    raw.story = "thread " + text(log.lane->index) + " uses index " + std::to_string(pending.index) +
                " of " + array->name + ", which is " + std::string(pending.type) + ", at {0}";
    faults_.add(std::move(raw));
    return true;
  }
  if (--pending.accesses_left > 0) return false;
  report_pending(log);
  return true;
}

void Tracer::report_pending(LaneLog& log) {
  const PendingIndex pending = log.pending;
  log.pending = {};
  report_index(*log.lane,
               "uses index " + std::to_string(pending.index) + " of an array that is " +
                   std::string(pending.type),
               pending.pc);
}

void Tracer::settle(Lane& lane) {
  LaneLog& log = log_of(lane);
  if (log.pending.accesses_left > 0 && lane.state != LaneState::log_full) report_pending(log);
}

}  // namespace sevenloops::simt
