#include "gpu/conv2d/execute.hpp"

#include <algorithm>
#include <cstring>
#include <random>

#include "gpu/guarded_buffer.hpp"
#include "reference/conv2d/conv2d.hpp"
#include "reference/core/error.hpp"
#include "reference/core/numerics.hpp"

namespace sevenloops {
namespace {

template <typename T>
void require_shape(const char* name, const Tensor<T>& tensor, const Extents& expected) {
  if (tensor.extents() != expected) {
    throw Error("the shape of " + std::string(name), text_of(tensor.extents()),
                "be " + text_of(expected) + " for this problem");
  }
}

template <typename T>
void require_operands(const Conv2dOperands<T>& operands) {
  validate(operands.prob);
  if (operands.prob.dtype != dtype_v<T>) {
    throw Error("the problem's dtype", std::string(name_of(operands.prob.dtype)),
                "be that of the data, " + std::string(name_of(dtype_v<T>)));
  }
  require_shape("x", operands.x, x_extents(operands.prob));
  require_shape("w", operands.w, w_extents(operands.prob));
  require_shape("y", operands.y0, y_extents(operands.prob));
}

// Which elements of y's buffer belong to y? The others are gaps.
template <typename T>
std::vector<bool> elements_of(const Tensor<T>& y) {
  std::vector<bool> is_element(y.buffer().size());
  for_each_index(y.extents(), [&](auto n, auto k, auto p, auto q) {
    const std::int64_t offset = y.view().offset(n, k, p, q);
    if (is_element[offset]) {
      throw Error("the strides of y put two elements at one place: y[" + std::to_string(n) + "," +
                  std::to_string(k) + "," + std::to_string(p) + "," + std::to_string(q) +
                  "] shares its memory with another element");
    }
    is_element[offset] = true;
  });
  return is_element;
}

template <typename T>
bool same_bytes(const Tensor<T>& a, const Tensor<T>& b) {
  return std::memcmp(a.buffer().data(), b.buffer().data(), a.buffer().size() * sizeof(T)) == 0;
}

template <typename T>
AnyView any_view(const Tensor<T>& tensor, void* data) {
  return {data, tensor.extents(), tensor.strides()};
}

const Conv2dStage& stage_at(int index, Build build) {
  const auto stages = conv2d_stages(build);
  const auto count = static_cast<int>(conv2d_stages(Build::plain).size());
  if (index < 0 || index >= count) {
    throw Error("the number of the stage", index, "lie in [0, " + std::to_string(count) + ")");
  }
  if (stages.empty()) throw Error("there is no GPU to run on: this program was built without CUDA");
  return *stages[index];
}

Guards guards_for(Build build) { return build == Build::traced ? Guards::none : Guards::around; }

// Member number `index` of a grid or block, x fastest: "(1,0,0)".
std::string place_in(const simt::Triple& extents, std::uint64_t index) {
  return "(" + std::to_string(index % extents[0]) + "," +
         std::to_string(index / extents[0] % extents[1]) + "," +
         std::to_string(index / extents[0] / extents[1]) + ")";
}

// The device memory of one run.
template <typename T>
class Run {
 public:
  Run(const Conv2dStage& stage, Build build, const Conv2dOperands<T>& operands,
      const std::vector<bool>& is_element, const ExecuteOptions& options)
      : stage_(stage),
        operands_(operands),
        is_element_(is_element),
        y_before_(operands.y0),
        x_(buffer("x", operands.x.buffer().size(), build, options)),
        w_(buffer("w", operands.w.buffer().size(), build, options)),
        y_(buffer("y", operands.y0.buffer().size(), build, options)),
        args_{operands.prob,
              any_view(operands.x, x_.data()),
              any_view(operands.w, w_.data()),
              any_view(operands.y0, y_.data()),
              operands.alpha,
              operands.beta},
        workspace_(options.place, "workspace", stage.workspace_bytes(args_), 0, guards_for(build),
                   options.poison) {
    x_.upload(operands.x.buffer().data());
    w_.upload(operands.w.buffer().data());
    x_.set_read_only();
    w_.set_read_only();
    prepare_y(options);
    prepare_workspace(options);
  }

  void launch() {
    const Workspace workspace{workspace_.data(), workspace_.bytes()};
    if (stage_.prepare != nullptr) stage_.prepare(args_, workspace, nullptr);
    stage_.launch(args_, workspace, nullptr);
  }

  Tensor<T> take_y(std::vector<std::string>& violations) {
    for (const GuardedBuffer* buffer : {&x_, &w_, &y_, &workspace_}) {
      buffer->check_guards(violations);
    }
    check_unchanged("x", x_, operands_.x, violations);
    check_unchanged("w", w_, operands_.w, violations);
    Tensor<T> y(operands_.y0.extents(), operands_.y0.strides());
    y_.download(y.buffer().data());
    for (std::size_t i = 0; i < is_element_.size(); ++i) {
      if (!is_element_[i] && std::memcmp(&y.buffer()[i], &y_before_.buffer()[i], sizeof(T)) != 0) {
        violations.push_back("a gap of y was written, " + std::to_string(i) +
                             " elements after its first");
        break;
      }
    }
    return y;
  }

  std::size_t workspace_bytes() const { return workspace_.bytes(); }

  // Who wrote y(n, k, p, q) in the launches of `report`.
  std::string writer_of(const std::array<std::int64_t, 4>& i, const simt::Report& report) const {
    const std::optional<simt::Writer> writer =
        simt::last_writer(&args_.y.template as<const T>()(i[0], i[1], i[2], i[3]));
    for (const simt::LaunchReport& launch : report.launches) {
      if (!writer || launch.number != writer->launch) continue;
      return "thread " + place_in(launch.block, writer->thread) + " of block " +
             place_in(launch.grid, writer->block) + " of " + launch.kernel;
    }
    return "nobody";
  }

 private:
  static GuardedBuffer buffer(const char* name, std::size_t count, Build build,
                              const ExecuteOptions& options) {
    return {options.place,     name,          count * sizeof(T), options.base_offset * sizeof(T),
            guards_for(build), options.poison};
  }

  // Poison, or for beta != 0 the elements of y0 with poison in the gaps.
  void prepare_y(const ExecuteOptions& options) {
    for (std::size_t i = 0; i < is_element_.size(); ++i) {
      if (is_element_[i]) continue;
      std::memset(static_cast<void*>(&y_before_.buffer()[i]), options.poison, sizeof(T));
    }
    if (operands_.beta != 0) y_.upload(y_before_.buffer().data());
  }

  void prepare_workspace(const ExecuteOptions& options) {
    if (workspace_.bytes() == 0) return;
    std::mt19937_64 random(options.workspace_seed);
    std::vector<std::uint64_t> contents(workspace_.bytes() / sizeof(std::uint64_t) + 1);
    for (auto& word : contents) word = random();
    workspace_.upload(contents.data());
    // Blocks that a sampled run leaves out may be those that write what others read.
    if (options.place == Place::emulator && options.emulator.sample_blocks == 0) {
      simt::mark_uninitialized(workspace_.data(), workspace_.bytes());
    }
  }

  static void check_unchanged(const char* name, const GuardedBuffer& buffer,
                              const Tensor<T>& before, std::vector<std::string>& violations) {
    std::vector<T> now(before.buffer().size());
    buffer.download(now.data());
    for (std::size_t i = 0; i < now.size(); ++i) {
      if (std::memcmp(&now[i], &before.buffer()[i], sizeof(T)) != 0) {
        violations.push_back(std::string(name) + " was written, " + std::to_string(i) +
                             " elements after its first");
        return;
      }
    }
  }

  const Conv2dStage& stage_;
  const Conv2dOperands<T>& operands_;
  const std::vector<bool>& is_element_;
  Tensor<T> y_before_;  // what the gaps (and for beta != 0 the elements) hold
  GuardedBuffer x_, w_, y_;
  Conv2dForward::Args args_;
  GuardedBuffer workspace_;
};

template <typename T>
Support supports_operands(const Conv2dStage& stage, const Conv2dOperands<T>& operands,
                          Place place) {
  require_operands(operands);
  return supports(stage,
                  {operands.prob, any_view(operands.x, nullptr), any_view(operands.w, nullptr),
                   any_view(operands.y0, nullptr), operands.alpha, operands.beta},
                  place);
}

}  // namespace

template <typename T>
Support supports(int index, const Conv2dOperands<T>& operands, Place place) {
  return supports_operands(stage_at(index, Build::plain), operands, place);
}

template <typename T>
Execution<T> execute(int index, const Conv2dOperands<T>& operands, const ExecuteOptions& options) {
  if (options.place == Place::gpu) {
    const char* why = nullptr;
    if (!gpu_available(&why)) throw Error(why);
    return execute(stage_at(index, Build::gpu), nullptr, operands, options);
  }
  return execute(stage_at(index, Build::plain), &stage_at(index, Build::traced), operands, options);
}

template <typename T>
Execution<T> execute(const Conv2dStage& stage, const Conv2dStage* traced,
                     const Conv2dOperands<T>& operands, const ExecuteOptions& options) {
  if (const Support support = supports_operands(stage, operands, options.place); !support) {
    throw Error(std::string(stage.name) + " does not support this problem: " + support.reason);
  }
  const std::vector<bool> is_element = elements_of(operands.y0);
  Execution<T> execution;
  const auto run = [&](const Conv2dStage& compiled, Build build) {
    const simt::Session session(options.emulator);
    Run<T> once(compiled, build, operands, is_element, options);
    once.launch();
    execution.workspace_bytes = once.workspace_bytes();
    execution.y = once.take_y(execution.violations);
    if (build != Build::traced) return;
    execution.report = session.report();
    if (options.who_wrote) {
      execution.writer = once.writer_of(*options.who_wrote, execution.report);
    }
  };
  if (options.place == Place::emulator && options.trace && traced != nullptr) {
    run(*traced, Build::traced);
    if (!execution.report.faults.empty()) return execution;
  }
  const bool compare =
      stage.deterministic && !execution.y.buffer().empty() && options.emulator.sample_blocks == 0;
  const Tensor<T> traced_y = std::move(execution.y);
  run(stage, options.place == Place::gpu ? Build::gpu : Build::plain);
  if (compare && !same_bytes(traced_y, execution.y)) {
    execution.violations.push_back("two runs on the same operands gave different y");
  }
  return execution;
}

#define SEVENLOOPS_INSTANTIATE(T)                                                                 \
  template Support supports(int index, const Conv2dOperands<T>&, Place);                          \
  template Execution<T> execute(int index, const Conv2dOperands<T>&, const ExecuteOptions&);      \
  template Execution<T> execute(const Conv2dStage&, const Conv2dStage*, const Conv2dOperands<T>&, \
                                const ExecuteOptions&);
SEVENLOOPS_INSTANTIATE(float)
SEVENLOOPS_INSTANTIATE(double)
SEVENLOOPS_INSTANTIATE(Half)
SEVENLOOPS_INSTANTIATE(Bfloat16)
#undef SEVENLOOPS_INSTANTIATE

}  // namespace sevenloops
