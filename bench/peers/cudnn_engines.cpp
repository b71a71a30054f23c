// cuDNN's graph API: one operation, the engines its heuristics propose, a plan for each.

#include <algorithm>
#include <memory>
#include <set>
#include <string>

#include "bench/peers/cudnn.hpp"
#include "reference/core/error.hpp"

namespace sevenloops::cudnn {
namespace {

constexpr std::int64_t kMaxProposals = 64;  // of one heuristic
constexpr std::int64_t kUidX = 'x', kUidW = 'w', kUidY = 'y';

// A descriptor of the graph API, owned.
class Descriptor {
 public:
  explicit Descriptor(cudnnBackendDescriptorType_t type) {
    require(cudnnBackendCreateDescriptor(type, &raw_), "to create a descriptor");
  }
  ~Descriptor() {
    if (raw_ != nullptr) cudnnBackendDestroyDescriptor(raw_);
  }
  Descriptor(Descriptor&& other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
  Descriptor& operator=(Descriptor&&) = delete;

  cudnnBackendDescriptor_t raw() const { return raw_; }

  template <typename T>
  Descriptor& set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                  const T* values, std::int64_t count) {
    require(cudnnBackendSetAttribute(raw_, name, type, count, values), "to set an attribute");
    return *this;
  }
  template <typename T>
  Descriptor& set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, T value) {
    return set(name, type, &value, 1);
  }
  Descriptor& set(cudnnBackendAttributeName_t name, const Descriptor& other) {
    return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, other.raw_);
  }
  Descriptor& set(cudnnBackendAttributeName_t name, cudnnHandle_t handle) {
    return set(name, CUDNN_TYPE_HANDLE, &handle, 1);
  }
  bool try_finalize() { return cudnnBackendFinalize(raw_) == CUDNN_STATUS_SUCCESS; }
  void finalize(const char* what) { require(cudnnBackendFinalize(raw_), what); }

  /// Up to `room` values into `values`; how many there are (0 when there is no such attribute).
  template <typename T>
  std::int64_t get(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, T* values,
                   std::int64_t room) const {
    std::int64_t count = 0;
    const auto status = cudnnBackendGetAttribute(raw_, name, type, room, &count, values);
    return status == CUDNN_STATUS_SUCCESS ? count : 0;
  }

 private:
  cudnnBackendDescriptor_t raw_ = nullptr;
};

// Descriptors for the library to fill.
std::vector<Descriptor> empty(cudnnBackendDescriptorType_t type, std::int64_t count) {
  std::vector<Descriptor> descriptors;
  for (std::int64_t i = 0; i < count; ++i) descriptors.emplace_back(type);
  return descriptors;
}

std::vector<cudnnBackendDescriptor_t> raws(const std::vector<Descriptor>& descriptors) {
  std::vector<cudnnBackendDescriptor_t> raw;
  for (const Descriptor& descriptor : descriptors) raw.push_back(descriptor.raw());
  return raw;
}

Descriptor tensor(const AnyView& view, Dtype dtype, std::int64_t uid) {
  Descriptor tensor(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  tensor.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, data_type(dtype))
      .set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, view.extents.data(), 4)
      .set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, view.strides.data(), 4)
      .set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, uid)
      .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, std::int64_t{16});
  tensor.finalize("to describe a tensor");
  return tensor;
}

Descriptor convolution(const Conv2dProblem& prob) {
  const std::int64_t pre[] = {prob.pad_top, prob.pad_left};
  const std::int64_t post[] = {prob.pad_bottom, prob.pad_right};
  const std::int64_t strides[] = {prob.stride_h, prob.stride_w};
  const std::int64_t dilations[] = {prob.dilation_h, prob.dilation_w};
  Descriptor descriptor(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  descriptor.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, data_type(prob.accumulate))
      .set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, mode_of(prob.mode))
      .set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, std::int64_t{2})
      .set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, pre, 2)
      .set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, post, 2)
      .set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, strides, 2)
      .set(CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, dilations, 2);
  descriptor.finalize("to describe the convolution");
  return descriptor;
}

// The graph of the one operation, with everything it refers to.
struct Graph {
  Descriptor x, w, y, convolution,
      operation{CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR};
  Descriptor graph{CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR};

  explicit Graph(const Conv2dForward::Args& args)
      : x(tensor(args.x, args.prob.dtype, kUidX)),
        w(tensor(args.w, args.prob.dtype, kUidW)),
        y(tensor(args.y, args.prob.dtype, kUidY)),
        convolution(cudnn::convolution(args.prob)) {
    operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, convolution)
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, x)
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, w)
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, y);
    const auto scalar = [&](cudnnBackendAttributeName_t name, double value) {
      if (args.prob.accumulate == Dtype::f64) {
        operation.set(name, CUDNN_TYPE_DOUBLE, value);
      } else {
        operation.set(name, CUDNN_TYPE_FLOAT, static_cast<float>(value));
      }
    };
    scalar(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, args.alpha);
    scalar(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, args.beta);
    operation.finalize("to describe the operation");
    graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, handle())
        .set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operation);
    graph.finalize("to describe the graph");
  }
};

std::vector<Descriptor> proposals(const Graph& graph, cudnnBackendHeurMode_t mode) {
  Descriptor heuristic(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristic.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph.graph)
      .set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode);
  if (!heuristic.try_finalize()) return {};
  const std::int64_t offered = heuristic.get<cudnnBackendDescriptor_t>(
      CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, nullptr, 0);
  std::vector<Descriptor> configs =
      empty(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, std::min(offered, kMaxProposals));
  std::vector<cudnnBackendDescriptor_t> raw = raws(configs);
  const auto room = static_cast<std::int64_t>(raw.size());
  const std::int64_t count =
      heuristic.get(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, raw.data(), room);
  while (static_cast<std::int64_t>(configs.size()) > count) configs.pop_back();
  return configs;
}

Descriptor engine_of(const Descriptor& config) {
  Descriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  cudnnBackendDescriptor_t raw = engine.raw();
  config.get(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, &raw, 1);
  return engine;
}

// Is the engine known, and does it compute in the dtype, without rounding its inputs or products to
// less?
bool is_true_arithmetic(const Descriptor& engine) {
  std::int64_t index = -1;
  if (engine.get(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, &index, 1) != 1) return false;
  cudnnBackendNumericalNote_t notes[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
  const std::int64_t count = engine.get(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                                        notes, CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
  for (std::int64_t i = 0; i < count; ++i) {
    if (notes[i] == CUDNN_NUMERICAL_NOTE_TENSOR_CORE ||
        notes[i] == CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS ||
        notes[i] == CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION) {
      return false;
    }
  }
  return true;
}

// "engine 12 k2=5 k13=1": the engine's number and its knobs that are set.
std::string name_of(const Descriptor& engine, const Descriptor& config) {
  std::int64_t index = -1;
  engine.get(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, &index, 1);
  std::string name = "engine " + std::to_string(index);
  const std::vector<Descriptor> knobs =
      empty(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, CUDNN_KNOB_TYPE_COUNTS);
  std::vector<cudnnBackendDescriptor_t> raw = raws(knobs);
  const std::int64_t count =
      config.get(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR, raw.data(),
                 CUDNN_KNOB_TYPE_COUNTS);
  for (std::int64_t i = 0; i < count; ++i) {
    cudnnBackendKnobType_t type{};
    std::int64_t value = 0;
    knobs[i].get(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, &type, 1);
    knobs[i].get(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, &value, 1);
    name += " k" + std::to_string(static_cast<int>(type)) + "=" + std::to_string(value);
  }
  return name;
}

void launch_plan(const Descriptor& plan, const Conv2dForward::Args& args, Workspace workspace,
                 Stream stream) {
  const std::int64_t uids[] = {kUidX, kUidW, kUidY};
  void* const pointers[] = {args.x.data, args.w.data, args.y.data};
  Descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, uids, 3)
      .set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, pointers, 3)
      .set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, workspace.data);
  pack.finalize("to bind the operands");
  require(cudnnBackendExecute(handle(stream), plan.raw(), pack.raw()), "to run an engine");
}

}  // namespace

std::vector<Peer> engines(const Conv2dForward::Args& args, std::size_t workspace_limit) {
  std::shared_ptr<Graph> graph;
  try {
    graph = std::make_shared<Graph>(args);
  } catch (const Error&) {
    return {};  // a shape that cuDNN does not take at all
  }
  std::vector<Peer> peers;
  std::set<std::string> seen;
  for (const auto mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_B, CUDNN_HEUR_MODE_FALLBACK}) {
    for (Descriptor& proposed : proposals(*graph, mode)) {
      const auto config = std::make_shared<Descriptor>(std::move(proposed));
      const Descriptor engine = engine_of(*config);
      const std::string name = name_of(engine, *config);
      if (!is_true_arithmetic(engine) || !seen.insert(name).second) continue;
      const auto plan = std::make_shared<Descriptor>(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
      plan->set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, handle())
          .set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, *config);
      if (!plan->try_finalize()) continue;
      std::int64_t workspace_bytes = 0;
      plan->get(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, &workspace_bytes, 1);
      if (static_cast<std::size_t>(workspace_bytes) > workspace_limit) continue;
      Peer peer;
      peer.library = "cuDNN";
      peer.name = "cuDNN " + name;
      peer.workspace_bytes = static_cast<std::size_t>(workspace_bytes);
      peer.launch = [graph, config, plan](const Conv2dForward::Args& given, Workspace workspace,
                                          Stream stream) {
        launch_plan(*plan, given, workspace, stream);
      };
      peers.push_back(std::move(peer));
    }
  }
  return peers;
}

}  // namespace sevenloops::cudnn
