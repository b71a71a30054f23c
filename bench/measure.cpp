#include "bench/measure.hpp"

#include <algorithm>
#include <string>

#include "bench/full_size_check.hpp"
#include "gpu/check.hpp"
#include "gpu/conv2d/verify.hpp"
#include "gpu/device_buffer.hpp"
#include "reference/conv2d/conv2d.hpp"
#include "reference/core/error.hpp"
#include "reference/core/numerics.hpp"

namespace sevenloops {
namespace {

constexpr std::size_t kMaxWorkspaceBytes = 40'000'000'000;

// Relative to the result's root mean square: what transforms in true arithmetic stay well below,
// and products of TF32 (2^-12 and more) do not.
constexpr double kMaxRms = 1024, kMaxError = 8192;  // in units of u

// A copy on the GPU of everything a tensor's buffer holds.
template <typename T>
DeviceBuffer uploaded(const Tensor<T>& tensor, const char* name) {
  DeviceBuffer buffer(Place::gpu, tensor.buffer().size() * sizeof(T), name);
  buffer.upload(tensor.buffer().data(), buffer.bytes());
  return buffer;
}

// One set of operands on the GPU and what the definition says about it.
struct Operands {
  DeviceBuffer x, w, y0;
  double alpha, beta;
  FullSizeCheck check;

  template <typename T>
  Operands(const Conv2dOperands<T>& host, std::uint64_t seed)
      : x(uploaded(host.x, "x")),
        w(uploaded(host.w, "w")),
        alpha(host.alpha),
        beta(host.beta),
        check(host, seed) {
    if (host.beta != 0) y0 = uploaded(host.y0, "y0");
  }
};

// Fills [memory, memory + bytes) with the contents of `data` again and again.
void fill_with_copies(void* memory, std::size_t bytes, const DeviceBuffer& data) {
  for (std::size_t done = 0; done < bytes; done += data.bytes()) {
    check(cudaMemcpy(static_cast<char*>(memory) + done, data.data(),
                     std::min(data.bytes(), bytes - done), cudaMemcpyDeviceToDevice));
  }
}

}  // namespace

double Measured::tflops(const Conv2dProblem& prob) const {
  return timing.median_ms > 0 ? direct_flops(prob) / timing.median_ms / 1e9 : 0;
}

struct LayerBench::State {
  using Work = std::function<void(const Conv2dForward::Args&, Workspace, Stream)>;

  Conv2dForward::Args shape;  // without memory
  Operands exact, real;
  DeviceBuffer y;
  ColdTimer timer;

  template <typename T>
  State(const Conv2dOperands<T>& integers, const Conv2dOperands<T>& reals, std::uint64_t seed)
      : exact(integers, seed),
        real(reals, seed + 1),
        y(Place::gpu, reals.y0.buffer().size() * sizeof(T), "y") {
    shape.prob = reals.prob;
    shape.x = {nullptr, reals.x.extents(), reals.x.strides()};
    shape.w = {nullptr, reals.w.extents(), reals.w.strides()};
    shape.y = {nullptr, reals.y0.extents(), reals.y0.strides()};
    shape.alpha = reals.alpha;
    shape.beta = reals.beta;
    if (integers.x.strides() != reals.x.strides() || integers.w.strides() != reals.w.strides() ||
        integers.y0.strides() != reals.y0.strides()) {
      throw Error("operands to be timed must be dense in one layout");
    }
  }

  Conv2dForward::Args args(const Operands& on) const {
    Conv2dForward::Args bound = shape;
    bound.x.data = on.x.data();
    bound.w.data = on.w.data();
    bound.y.data = y.data();
    bound.alpha = on.alpha;
    bound.beta = on.beta;
    return bound;
  }

  void reset_y(const Operands& on) {
    if (on.beta == 0) {
      y.poison(0xFF);
    } else {
      fill_with_copies(y.data(), y.bytes(), on.y0);
    }
  }

  WeighedError error_of(const Operands& on, const Work& prepare, const Work& launch,
                        Workspace workspace) {
    reset_y(on);
    if (prepare) prepare(args(on), workspace, nullptr);
    launch(args(on), workspace, nullptr);
    return on.check.compare(Place::gpu, args(on).y);
  }

  // Fills in agreement; says what is wrong, nothing when the result can be trusted.
  std::string judge(Measured& row, bool direct_sum, const Work& prepare, const Work& launch,
                    Workspace workspace) {
    const double u = unit_roundoff(shape.prob.accumulate);
    row.exact = error_of(exact, prepare, launch, workspace).exact;
    const WeighedError error = error_of(real, prepare, launch, workspace);
    row.worst_bound_fraction = error.worst_bound_fraction;
    row.rms_error = error.rms;
    if (direct_sum && !row.exact) return "wrong: integers do not give the definition's result";
    if (direct_sum && !(error.worst_bound_fraction <= 1)) {
      return "wrong: the error is " + std::to_string(error.worst_bound_fraction) +
             " of its derived bound";
    }
    if (!direct_sum && !(error.rms <= kMaxRms * u && error.max <= kMaxError * u)) {
      return "wrong, or not in the arithmetic of " + std::string(name_of(shape.prob.accumulate)) +
             ": the error is " + std::to_string(error.rms / u) + " u rms, " +
             std::to_string(error.max / u) + " u at most";
    }
    return "";
  }

  // Verifies, then times. Every Error becomes a refusal.
  void measure(Measured& row, bool direct_sum, const Work& prepare, const Work& launch,
               const TimingOptions& options) {
    try {
      DeviceBuffer memory;
      if (row.workspace_bytes > 0) {
        memory = DeviceBuffer(Place::gpu, row.workspace_bytes, "workspace");
        memory.poison(0xFF);
      }
      const Workspace workspace{memory.data(), row.workspace_bytes};
      row.refused = judge(row, direct_sum, prepare, launch, workspace);
      if (!row.refused.empty()) return;
      const Conv2dForward::Args on = args(real);
      if (prepare) {
        const auto work = [&](Stream stream) { prepare(on, workspace, stream); };
        row.prepare_ms = timer.time(work, options).median_ms;
      }
      row.timing = timer.time([&](Stream stream) { launch(on, workspace, stream); }, options);
    } catch (const Error& error) {
      row.refused = error.what();
    }
  }

  // A part of the work: operands and result lie in the workspace.
  void measure_part(Measured& row, const Peer& peer, const TimingOptions& options) {
    try {
      DeviceBuffer memory(Place::gpu, row.workspace_bytes, "workspace");
      fill_with_copies(memory.data(), memory.bytes(), real.x);
      const Workspace workspace{memory.data(), memory.bytes()};
      const Conv2dForward::Args on = args(real);
      peer.launch(on, workspace, nullptr);
      row.refused = peer.objection(on, workspace);
      if (!row.refused.empty()) return;
      row.timing = timer.time([&](Stream stream) { peer.launch(on, workspace, stream); }, options);
    } catch (const Error& error) {
      row.refused = error.what();
    }
  }
};

namespace {

template <typename State, typename T>
std::unique_ptr<State> make_state(const Conv2dOperands<T>& reals, Layout layout,
                                  std::uint64_t seed) {
  const char* why = "";
  if (!gpu_available(&why)) throw Error(std::string("there is no GPU to measure on: ") + why);
  if (reals.prob.N == 0) throw Error("N", 0, "be at least 1 to be timed");
  const auto integers =
      make_operands<T>(reals.prob, layout, DataKind::exact, seed, reals.alpha, reals.beta);
  return std::make_unique<State>(integers, reals, seed);
}

}  // namespace

LayerBench::LayerBench(const Conv2dProblem& prob, Layout layout, std::uint64_t seed) {
  const auto make = [&](auto zero) {
    using T = decltype(zero);
    state_ =
        make_state<State, T>(make_operands<T>(prob, layout, DataKind::real, seed), layout, seed);
  };
  if (prob.dtype == Dtype::f64) {
    make(double());
  } else if (prob.dtype == Dtype::f32) {
    make(float());
  } else {
    throw Error("dtype", std::string(name_of(prob.dtype)), "be f32 or f64 to be timed");
  }
}

template <typename T>
LayerBench::LayerBench(const Conv2dOperands<T>& operands, Layout layout, std::uint64_t seed)
    : state_(make_state<State, T>(operands, layout, seed)) {}
template LayerBench::LayerBench(const Conv2dOperands<float>&, Layout, std::uint64_t);
template LayerBench::LayerBench(const Conv2dOperands<double>&, Layout, std::uint64_t);

LayerBench::~LayerBench() = default;

Measured LayerBench::stage(int index, const TimingOptions& options) {
  const Conv2dStage& stage = *conv2d_stages(Build::gpu)[index];
  Measured row;
  row.name = stage.name;
  const Conv2dForward::Args args = state_->args(state_->real);
  const Support support = stage.supports(args);
  if (!support) {
    row.refused = std::string(stage.name) + " does not support this problem: " + support.reason;
    return row;
  }
  row.workspace_bytes = stage.workspace_bytes(args);
  state_->measure(row, stage.algorithm == Algorithm::sums, stage.prepare, stage.launch, options);
  return row;
}

Measured LayerBench::peer(const Peer& peer, const TimingOptions& options) {
  Measured row;
  row.name = peer.name;
  row.library = peer.library;
  row.is_convolution = peer.is_convolution;
  row.workspace_bytes = peer.workspace_bytes;
  if (peer.is_convolution) {
    state_->measure(row, false, nullptr, peer.launch, options);
  } else {
    state_->measure_part(row, peer, options);
  }
  return row;
}

std::vector<Measured> LayerBench::peers(const TimingOptions& options) {
  std::vector<Measured> rows;
  for (const Peer& one : conv2d_peers(state_->shape, workspace_limit())) {
    rows.push_back(peer(one, options));
  }
  return rows;
}

const Measured* fastest(const std::vector<Measured>& rows) {
  const Measured* best = nullptr;
  for (const Measured& row : rows) {
    if (!row.refused.empty() || !row.is_convolution) continue;
    if (best == nullptr || row.timing.median_ms < best->timing.median_ms) best = &row;
  }
  return best;
}

std::size_t workspace_limit() {
  std::size_t free_bytes = 0, total_bytes = 0;
  if (cudaMemGetInfo(&free_bytes, &total_bytes) != cudaSuccess) return 0;
  return std::min(free_bytes / 10 * 9, kMaxWorkspaceBytes);
}

}  // namespace sevenloops
