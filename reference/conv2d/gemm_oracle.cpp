// Lowering works on whole runs of output columns: for a fixed tap the input columns of a run lie at
// a constant distance, and those inside the image form one interval. No index is tested one by one.

#include "reference/conv2d/gemm_oracle.hpp"

#include <algorithm>
#include <array>

#include "reference/core/eigen_view.hpp"
#include "reference/core/error.hpp"

namespace sevenloops {
namespace {

using Index = Eigen::Index;

// Memory for one block of the lowered input: small enough to stay near the processor, large enough
// for the matrix product to run at full speed.
constexpr Index kBlockBytes = Index{32} << 20;

// Outputs first .. last-1 read inputs start + i * step for some tap; the others read padding.
struct Run {
  Index first, last, start, step;
};

Index ceil_div(Index a, Index b) { return a >= 0 ? (a + b - 1) / b : -(-a / b); }

Run run_of(Index outputs, Index inputs, Index tap_offset, Index step) {
  const Index first = std::clamp(ceil_div(-tap_offset, step), Index{0}, outputs);
  const Index last = std::clamp(ceil_div(inputs - tap_offset, step), first, outputs);
  return {first, last, tap_offset, step};
}

// What each tap of one axis reads.
std::vector<Run> runs_of(Index outputs, Index inputs, Index taps, Index pad, Index step,
                         Index dilation, bool rotated) {
  std::vector<Run> runs;
  for (Index tap = 0; tap < taps; ++tap) {
    const Index position = rotated ? taps - 1 - tap : tap;
    runs.push_back(run_of(outputs, inputs, position * dilation - pad, step));
  }
  return runs;
}

// The problem as matrix products, one for each group: y (filters x N P Q) = w (filters x taps)
// times the lowered x (taps x N P Q). Columns are handled in blocks of whole output rows (n, p).
template <typename T>
class Lowering {
 public:
  explicit Lowering(const Conv2dProblem& prob)
      : prob_(prob),
        channels_(prob.C / prob.groups),
        filters_(prob.K / prob.groups),
        rows_(prob.P()),
        columns_(prob.Q()) {
    const bool rotated = prob.mode == ConvMode::convolution;
    vertical_ =
        runs_of(rows_, prob.H, prob.R, prob.pad_top, prob.stride_h, prob.dilation_h, rotated);
    horizontal_ =
        runs_of(columns_, prob.W, prob.S, prob.pad_left, prob.stride_w, prob.dilation_w, rotated);
    const Index row_bytes = taps() * columns_ * static_cast<Index>(sizeof(T));
    block_rows_ = std::clamp<Index>(kBlockBytes / row_bytes, 1, std::max<Index>(prob.N * rows_, 1));
  }

  Index filters() const { return filters_; }
  Index taps() const { return channels_ * prob_.R * prob_.S; }
  Index columns(Index lines) const { return lines * columns_; }

  // Calls f(first, lines) for blocks of output rows (n, p), counted through the batch.
  template <typename F>
  void for_each_block(F&& f) const {
    const Index total = prob_.N * rows_;
    for (Index first = 0; first < total; first += block_rows_) {
      f(first, std::min(block_rows_, total - first));
    }
  }

  // The filters of `group` as rows.
  RowMatrix<T> filter_matrix(const TensorView<const T>& w, Index group) const {
    RowMatrix<T> matrix(filters_, taps());
    for (Index k = 0; k < filters_; ++k) {
      for (Index c = 0; c < channels_; ++c) {
        Eigen::Map<RowMatrix<T>>(&matrix(k, c * prob_.R * prob_.S), prob_.R, prob_.S) =
            plane(w, group * filters_ + k, c);
      }
    }
    return matrix;
  }

  // Lowers: row (c, r, s), column (line, q) of `matrix` becomes the element of x that is read
  // there.
  void gather(const TensorView<const T>& x, Index group, Index first, Index lines,
              RowMatrix<T>& matrix) const {
    matrix.resize(taps(), columns(lines));
#pragma omp parallel for
    for (Index tap = 0; tap < taps(); ++tap) {
      T* const to = matrix.row(tap).data();
      std::fill(to, to + matrix.cols(), T(0));
      const Index channel = group * channels_ + tap / (prob_.R * prob_.S);
      for_each_run(tap, first, lines, [&](Index n, Index line, Index row, const Run& run) {
        const T* const from = x.data + x.offset(n, channel, row, run.start + run.first * run.step);
        const Index stride = x.stride(3) * run.step, length = run.last - run.first;
        T* const run_to = to + line * columns_ + run.first;
        if (stride == 1) {
          std::copy(from, from + length, run_to);
        } else {
          for (Index i = 0; i < length; ++i) run_to[i] = from[i * stride];
        }
      });
    }
  }

  // The transpose of gather(): adds every element of `matrix` to where it was read.
  void scatter_add(const RowMatrix<T>& matrix, Index group, Index first, Index lines,
                   Tensor<T>& dx) const {
    const TensorView<T> view = dx.view();
#pragma omp parallel for
    for (Index c = 0; c < channels_; ++c) {
      for (Index tap = c * prob_.R * prob_.S; tap < (c + 1) * prob_.R * prob_.S; ++tap) {
        const T* const from = matrix.row(tap).data();
        for_each_run(tap, first, lines, [&](Index n, Index line, Index row, const Run& run) {
          T* const to = &view(n, group * channels_ + c, row, run.start + run.first * run.step);
          const T* const run_from = from + line * columns_ + run.first;
          for (Index i = 0; i < run.last - run.first; ++i) to[i * run.step] += run_from[i];
        });
      }
    }
  }

  // Rows: the filters of `group`; columns: the outputs (n, p, q) of the block.
  RowMatrix<T> output_matrix(const TensorView<const T>& y, Index group, Index first,
                             Index lines) const {
    RowMatrix<T> matrix(filters_, columns(lines));
    for_each_output_line(
        group, first, lines, [&](Index k, Index line, Index n, Index channel, Index p) {
          matrix.row(k).segment(line * columns_, columns_) = plane(y, n, channel).row(p);
        });
    return matrix;
  }

  void store_output(const RowMatrix<T>& matrix, Index group, Index first, Index lines,
                    Tensor<T>& y) const {
    const TensorView<T> view = y.view();
    for_each_output_line(
        group, first, lines, [&](Index k, Index line, Index n, Index channel, Index p) {
          plane(view, n, channel).row(p) = matrix.row(k).segment(line * columns_, columns_);
        });
  }

 private:
  // Calls f(n, line, row, run) for the lines of the block whose tap lies inside the image: it reads
  // `row` of image n, and there the columns of `run`.
  template <typename F>
  void for_each_run(Index tap, Index first, Index lines, F&& f) const {
    const Run& down = vertical_[tap / prob_.S % prob_.R];
    const Run& across = horizontal_[tap % prob_.S];
    if (across.first == across.last) return;
    for (Index line = 0; line < lines; ++line) {
      const Index p = (first + line) % rows_;
      if (p < down.first || p >= down.last) continue;
      f((first + line) / rows_, line, down.start + p * down.step, across);
    }
  }

  // Calls f(k, line, n, channel, p) for every line of y that the block computes.
  template <typename F>
  void for_each_output_line(Index group, Index first, Index lines, F&& f) const {
#pragma omp parallel for collapse(2)
    for (Index k = 0; k < filters_; ++k) {
      for (Index line = 0; line < lines; ++line) {
        f(k, line, (first + line) / rows_, group * filters_ + k, (first + line) % rows_);
      }
    }
  }

  const Conv2dProblem& prob_;
  Index channels_, filters_;  // of one group
  Index rows_, columns_;      // of y
  Index block_rows_;
  std::vector<Run> vertical_, horizontal_;
};

template <typename T>
void require_shape(const char* name, const TensorView<const T>& view, const Extents& shape) {
  if (view.extents == shape) return;
  throw Error(std::string(name) + " does not have the shape that the problem says");
}

}  // namespace

template <typename T>
Tensor<T> gemm_oracle_forward(const Conv2dProblem& prob, TensorView<const T> x,
                              TensorView<const T> w) {
  validate(prob);
  require_shape("x", x, {prob.N, prob.C, prob.H, prob.W});
  require_shape("w", w, {prob.K, prob.C / prob.groups, prob.R, prob.S});
  const Lowering<T> lowering(prob);
  Tensor<T> y({prob.N, prob.K, prob.P(), prob.Q()});
  RowMatrix<T> lowered, product;
  for (Index group = 0; group < prob.groups; ++group) {
    const RowMatrix<T> filters = lowering.filter_matrix(w, group);
    lowering.for_each_block([&](Index first, Index lines) {
      lowering.gather(x, group, first, lines, lowered);
      product.noalias() = filters * lowered;
      lowering.store_output(product, group, first, lines, y);
    });
  }
  return y;
}

template <typename T>
Tensor<T> gemm_oracle_backward_data(const Conv2dProblem& prob, TensorView<const T> dy,
                                    TensorView<const T> w) {
  validate(prob);
  require_shape("dy", dy, {prob.N, prob.K, prob.P(), prob.Q()});
  require_shape("w", w, {prob.K, prob.C / prob.groups, prob.R, prob.S});
  const Lowering<T> lowering(prob);
  Tensor<T> dx({prob.N, prob.C, prob.H, prob.W});
  RowMatrix<T> lowered;
  for (Index group = 0; group < prob.groups; ++group) {
    const RowMatrix<T> filters = lowering.filter_matrix(w, group);
    lowering.for_each_block([&](Index first, Index lines) {
      lowered.noalias() = filters.transpose() * lowering.output_matrix(dy, group, first, lines);
      lowering.scatter_add(lowered, group, first, lines, dx);
    });
  }
  return dx;
}

template <typename T>
Tensor<T> gemm_oracle_backward_filter(const Conv2dProblem& prob, TensorView<const T> x,
                                      TensorView<const T> dy) {
  validate(prob);
  require_shape("x", x, {prob.N, prob.C, prob.H, prob.W});
  require_shape("dy", dy, {prob.N, prob.K, prob.P(), prob.Q()});
  const Lowering<T> lowering(prob);
  Tensor<T> dw({prob.K, prob.C / prob.groups, prob.R, prob.S});
  RowMatrix<T> lowered;
  for (Index group = 0; group < prob.groups; ++group) {
    // The filters of a group lie one after another in a dense tensor.
    Eigen::Map<RowMatrix<T>> gradient(
        dw.buffer().data() + group * lowering.filters() * lowering.taps(), lowering.filters(),
        lowering.taps());
    lowering.for_each_block([&](Index first, Index lines) {
      lowering.gather(x, group, first, lines, lowered);
      gradient.noalias() += lowering.output_matrix(dy, group, first, lines) * lowered.transpose();
    });
  }
  return dw;
}

template Tensor<float> gemm_oracle_forward(const Conv2dProblem&, TensorView<const float>,
                                           TensorView<const float>);
template Tensor<double> gemm_oracle_forward(const Conv2dProblem&, TensorView<const double>,
                                            TensorView<const double>);
template Tensor<float> gemm_oracle_backward_data(const Conv2dProblem&, TensorView<const float>,
                                                 TensorView<const float>);
template Tensor<double> gemm_oracle_backward_data(const Conv2dProblem&, TensorView<const double>,
                                                  TensorView<const double>);
template Tensor<float> gemm_oracle_backward_filter(const Conv2dProblem&, TensorView<const float>,
                                                   TensorView<const float>);
template Tensor<double> gemm_oracle_backward_filter(const Conv2dProblem&, TensorView<const double>,
                                                    TensorView<const double>);

}  // namespace sevenloops
