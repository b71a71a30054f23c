#include "bench/cli/tensors.hpp"

#include <filesystem>

#include "bench/cli/memory.hpp"
#include "reference/conv2d/conv2d.hpp"
#include "reference/core/error.hpp"
#include "reference/core/npy.hpp"
#include "reference/core/numerics.hpp"

namespace sevenloops {
namespace {

template <typename T>
Tensor<T> in_layout(Tensor<T> tensor, Layout layout) {
  if (layout == Layout::nchw) return tensor;
  return converted<T>(TensorView<const T>(tensor.view()), layout);
}

}  // namespace

Dtype common_dtype(const std::vector<NamedFile>& files) {
  Dtype dtype{};
  for (const NamedFile& file : files) {
    const Dtype own = npy_dtype(file.path);
    require_memory(static_cast<double>(std::filesystem::file_size(file.path)), file.path);
    if (&file == &files.front()) {
      dtype = own;
    } else if (own != dtype) {
      throw Error(file.path + " (" + file.option + ") holds " + std::string(name_of(own)) +
                  ", but must hold " + std::string(name_of(dtype)) + " like " + files.front().path +
                  " (" + files.front().option + ")");
    }
  }
  return dtype;
}

Conv2dProblem problem_of(const Parameters& parameters, Dtype dtype, const Extents& x,
                         const Extents& w) {
  Conv2dProblem prob = parameters.problem();
  prob.dtype = dtype;
  prob.accumulate = size_in_bytes(dtype) < 4 ? Dtype::f32 : dtype;
  prob.N = x[0];
  prob.C = x[1];
  prob.H = x[2];
  prob.W = x[3];
  prob.K = w[0];
  prob.R = w[2];
  prob.S = w[3];
  validate(prob);
  require_extents("w", w, w_extents(prob),
                  "K x C/groups x R x S for C = " + std::to_string(prob.C) +
                      " channels of x and groups = " + std::to_string(prob.groups));
  return prob;
}

void require_extents(const std::string& option, const Extents& got, const Extents& expected,
                     const std::string& meaning) {
  if (got == expected) return;
  throw Error("the shape of " + option, text_of(got),
              "be " + text_of(expected) + " (" + meaning + ")");
}

template <typename T>
Conv2dOperands<T> read_operands(const NamedFile& x, const NamedFile& w, const NamedFile& y,
                                const Parameters& parameters) {
  const Layout layout = layout_of(parameters.layout);
  Conv2dOperands<T> operands;
  operands.alpha = number_of("--alpha", parameters.alpha);
  operands.beta = number_of("--beta", parameters.beta);
  if (operands.beta != 0 && y.path.empty()) {
    throw Error("--beta is " + parameters.beta + ", but " + y.option +
                " gives no tensor to be multiplied by it");
  }
  operands.x = read_npy<T>(x.path, 4, Empty::allowed);
  operands.w = read_npy<T>(w.path, 4, Empty::allowed);
  operands.prob = problem_of(parameters, dtype_v<T>, operands.x.extents(), operands.w.extents());
  const Extents extents = y_extents(operands.prob);
  if (y.path.empty()) {
    double bytes = sizeof(T);
    for (const std::int64_t extent : extents) bytes *= static_cast<double>(extent);
    require_memory(bytes, "y, " + text_of(extents) + " elements,");
    operands.y0 = Tensor<T>(extents, layout);
  } else {
    operands.y0 = in_layout(read_npy<T>(y.path, 4, Empty::allowed), layout);
    require_extents(y.option, operands.y0.extents(), extents, "N x K x P x Q");
  }
  operands.x = in_layout(std::move(operands.x), layout);
  operands.w = in_layout(std::move(operands.w), layout);
  return operands;
}

template Conv2dOperands<double> read_operands(const NamedFile&, const NamedFile&, const NamedFile&,
                                              const Parameters&);
template Conv2dOperands<float> read_operands(const NamedFile&, const NamedFile&, const NamedFile&,
                                             const Parameters&);
template Conv2dOperands<Half> read_operands(const NamedFile&, const NamedFile&, const NamedFile&,
                                            const Parameters&);

}  // namespace sevenloops
