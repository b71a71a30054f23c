#include "tests/support/stage_runs.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cmath>

#include "gpu/device_buffer.hpp"
#include "reference/core/numerics.hpp"

namespace sevenloops::testing {
namespace {

// No two strides have a simple ratio, and no element neighbors another.
template <typename T>
Tensor<T> with_gaps(const Tensor<T>& dense) {
  const Extents& e = dense.extents();
  const std::int64_t row = 2 * e[3] + 1, plane = row * e[2] + 3, image = plane * e[1] + 5;
  Tensor<T> wide(e, Strides{image, plane, row, 2});
  for (T& element : wide.buffer()) element = round_to<T>(std::nan(""));
  for_each_index(e, [&](auto n, auto c, auto h, auto w) { wide(n, c, h, w) = dense(n, c, h, w); });
  return wide;
}

// Address space for a tensor one of whose indices jumps far.
class FarMemory {
 public:
  static constexpr std::int64_t kStride = (std::int64_t{1} << 31) + 64;  // in floats

  FarMemory() {
    void* const memory = mmap(nullptr, 2 * kSideBytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory != MAP_FAILED) middle_ = static_cast<unsigned char*>(memory) + kSideBytes;
  }
  ~FarMemory() {
    if (middle_ != nullptr) munmap(middle_ - kSideBytes, 2 * kSideBytes);
  }
  FarMemory(const FarMemory&) = delete;
  FarMemory& operator=(const FarMemory&) = delete;

  unsigned char* middle() const { return middle_; }

  /// For a tensor of the shape of `dense`, which has two elements on `axis`.
  AnyView view(const Tensor<float>& dense, int axis) const {
    Strides strides = dense.strides();
    strides[axis] = kStride;
    return {middle_, dense.extents(), strides};
  }

 private:
  static constexpr std::size_t kSideBytes = (kStride + 4096) * sizeof(float);
  unsigned char* middle_ = nullptr;
};

}  // namespace

const char* name_of(Storage storage) {
  switch (storage) {
    case Storage::nchw:
      return "nchw";
    case Storage::nhwc:
      return "nhwc";
    case Storage::chwn:
      return "chwn";
    default:
      return "strided with gaps";
  }
}

template <typename T>
Conv2dOperands<T> stored_operands(const Conv2dProblem& prob, Storage storage, DataKind kind,
                                  std::uint64_t seed, double alpha, double beta) {
  const Layout layout = storage == Storage::nhwc   ? Layout::nhwc
                        : storage == Storage::chwn ? Layout::chwn
                                                   : Layout::nchw;
  Conv2dOperands<T> on = make_operands<T>(prob, layout, kind, seed, alpha, beta);
  if (storage != Storage::gaps) return on;
  return {prob, with_gaps(on.x), with_gaps(on.w), with_gaps(on.y0), alpha, beta};
}

template Conv2dOperands<float> stored_operands(const Conv2dProblem&, Storage, DataKind,
                                               std::uint64_t, double, double);
template Conv2dOperands<double> stored_operands(const Conv2dProblem&, Storage, DataKind,
                                                std::uint64_t, double, double);

std::vector<Variant> plain_variants(Place place) {
  std::vector<Variant> variants = {
      {"memory held 0xFF", {.place = place}},
      {"memory held 0x00, operands one element off alignment",
       {.place = place, .poison = 0x00, .workspace_seed = 2, .base_offset = 1}},
      {"memory held 0x5A, threads in reverse",
       {.place = place,
        .emulator = {.order = simt::ThreadOrder::reverse},
        .poison = 0x5A,
        .workspace_seed = 3}},
  };
  return variants;
}

std::vector<Variant> traced_variants() {
  std::vector<Variant> variants(4);
  variants[0] = {"traced, forward", {.trace = true}};
  variants[1] = {
      "traced, reverse, one element off alignment",
      {.trace = true, .emulator = {.order = simt::ThreadOrder::reverse}, .base_offset = 1}};
  for (std::uint64_t seed : {1, 2}) {
    variants[1 + seed] = {
        "traced, shuffled by seed " + std::to_string(seed),
        {.trace = true, .emulator = {.order = simt::ThreadOrder::shuffle, .seed = seed}}};
  }
  return variants;
}

std::vector<Place> places() {
  if (gpu_available()) return {Place::emulator, Place::gpu};
  return {Place::emulator};
}

std::optional<Agreement> agreement_at_far_offsets(const Conv2dStage& stage, std::string* why_not) {
  const auto give_up = [&](const std::string& reason) {
    if (why_not != nullptr) *why_not = reason;
    return std::nullopt;
  };
  const FarMemory x, w, y;
  if (!x.middle() || !w.middle() || !y.middle()) {
    return give_up("the system grants no address space of 17 GB an operand");
  }
  // The slowest axis jumps.
  const auto operands_in = [](Layout layout) {
    return make_operands<float>(parse_conv2d(kFarProblem), layout, DataKind::exact, 1);
  };
  const auto args_of = [&](const Conv2dOperands<float>& on, int axis) {
    return Conv2dForward::Args{on.prob, x.view(on.x, axis), w.view(on.w, axis),
                               y.view(on.y0, axis)};
  };
  Conv2dOperands<float> on = operands_in(Layout::nchw);
  Conv2dForward::Args args = args_of(on, 0);
  if (!supports(stage, args, Place::emulator)) {
    on = operands_in(Layout::chwn);
    args = args_of(on, 1);
    if (const Support support = supports(stage, args, Place::emulator); !support) {
      return give_up("not supported: " + support.reason);
    }
  }
  const auto copy = [](const Tensor<float>& from, const AnyView& to) {
    for_each_index(from.extents(), [&](auto n, auto c, auto h, auto v) {
      to.as<float>()(n, c, h, v) = from(n, c, h, v);
    });
  };
  copy(on.x, args.x);
  copy(on.w, args.w);
  const std::size_t bytes = stage.workspace_bytes(args);
  const DeviceBuffer workspace(Place::emulator, std::max<std::size_t>(bytes, 1));
  if (stage.prepare != nullptr) stage.prepare(args, {workspace.data(), bytes}, nullptr);
  stage.launch(args, {workspace.data(), bytes}, nullptr);
  Tensor<float> result(on.y0.extents());
  for_each_index(result.extents(), [&](auto n, auto k, auto p, auto q) {
    result(n, k, p, q) = args.y.as<float>()(n, k, p, q);
  });
  return Judge<float>(on, DataKind::exact).judge(result, stage);
}

}  // namespace sevenloops::testing
