#include "gpu/conv2d/verify.hpp"

#include <limits>

#include "reference/conv2d/problem.hpp"
#include "reference/core/data.hpp"
#include "reference/core/numerics.hpp"

namespace sevenloops {
namespace {

std::string index_text(const std::array<std::int64_t, 4>& i) {
  return "n=" + std::to_string(i[0]) + " k=" + std::to_string(i[1]) + " p=" + std::to_string(i[2]) +
         " q=" + std::to_string(i[3]);
}

// A judge's sentence speaks of "element (1, 2, 3, 4)"; here the axes have names.
std::string with_axes(const Agreement& agreement) {
  const std::string plain = "element (";
  if (agreement.wrong == 0 || !agreement.failure.starts_with(plain)) return agreement.failure;
  return "y at " + index_text(agreement.first_wrong) +
         agreement.failure.substr(agreement.failure.find(')') + 1);
}

// A kernel that is right stores its results: counters without a store were not counted.
bool counted_nothing(const ExecuteOptions& options, const simt::Report& report,
                     const Conv2dProblem& prob) {
  return options.trace && options.place == Place::emulator && prob.N > 0 &&
         simt::total(report).global_store.requests == 0;
}

// Runs, judges, and where a value is wrong in the emulator asks once more who wrote it.
// `run(options)` executes the stage.
template <typename T, typename Run>
Verdict verdict_of(const Conv2dStage& stage, const Judge<T>& judge, ExecuteOptions options,
                   Run&& run) {
  Execution<T> execution = run(options);
  Verdict verdict;
  verdict.workspace_bytes = execution.workspace_bytes;
  verdict.agreement = judge.judge(execution.y, stage);
  const auto& faults = execution.report.faults;
  if (!faults.empty()) {
    verdict.failure = faults.front().message;
    if (faults.size() > 1) {
      verdict.failure += " (and " + std::to_string(faults.size() - 1) + " other faults)";
    }
  } else if (!execution.violations.empty()) {
    verdict.failure = execution.violations.front();
  } else if (counted_nothing(options, execution.report, judge.operands().prob)) {
    verdict.failure = "the traced run counted no store to global memory, so nothing was checked";
  } else if (!verdict.agreement.pass) {
    verdict.failure = with_axes(verdict.agreement);
    if (verdict.agreement.wrong > 0 && options.place == Place::emulator) {
      options.trace = true;
      options.emulator.sample_blocks = 0;
      options.who_wrote = verdict.agreement.first_wrong;
      const std::string writer = run(options).writer;
      if (!writer.empty()) verdict.failure += "; written by " + writer;
    }
  }
  verdict.report = std::move(execution.report);
  verdict.pass = verdict.failure.empty();
  if (!verdict.pass) verdict.failure = std::string(stage.name) + ": " + verdict.failure;
  return verdict;
}

}  // namespace

const char* name_of(DataKind kind) {
  switch (kind) {
    case DataKind::exact:
      return "exact";
    case DataKind::real:
      return "real";
    default:
      return "adversarial";
  }
}

template <typename T>
Conv2dOperands<T> make_operands(const Conv2dProblem& prob, Layout layout, DataKind kind,
                                std::uint64_t seed, double alpha, double beta) {
  validate(prob);
  Conv2dOperands<T> on{prob,
                       Tensor<T>(x_extents(prob), layout),
                       Tensor<T>(w_extents(prob), layout),
                       Tensor<T>(y_extents(prob), layout),
                       alpha,
                       beta};
  const std::int64_t taps = prob.channels_per_group() * prob.R * prob.S;
  ExactRange range = exact_range(prob.dtype, prob.accumulate, taps, alpha, beta);
  if (range.largest == 0) range = exact_range(prob.dtype, prob.accumulate, taps);
  const auto fill = [&](Tensor<T>& tensor, std::uint64_t stream, std::int64_t sums_of) {
    const std::uint64_t own_seed = split_seed(seed, stream);
    if (kind == DataKind::exact) {
      fill_exact_sparse(tensor.view(), own_seed, range.largest, sums_of);
    } else if (kind == DataKind::real) {
      fill_real(tensor.view(), own_seed);
    } else {
      fill_adversarial(tensor.view(), own_seed, {taps, prob.accumulate});
    }
  };
  const std::int64_t all = std::numeric_limits<std::int64_t>::max();
  fill(on.x, 0, all);
  fill(on.w, 1, range.taps);
  if (beta != 0) fill(on.y0, 2, all);
  return on;
}

std::string repeat_line(const char* stage, const Conv2dProblem& prob, Layout layout, DataKind kind,
                        std::uint64_t seed) {
  return "sevenloops check conv2d --stage " + std::string(stage) + " --problem " + print(prob) +
         " --layout " + std::string(name_of(layout)) + " --data " + name_of(kind) + " --seed " +
         std::to_string(seed);
}

template <typename T>
Verdict verify(const Conv2dStage& stage, const Conv2dStage* traced, const Judge<T>& judge,
               const ExecuteOptions& options) {
  return verdict_of(stage, judge, options, [&](const ExecuteOptions& with) {
    return execute(stage, traced, judge.operands(), with);
  });
}

template <typename T>
Verdict verify(int index, const Judge<T>& judge, const ExecuteOptions& options) {
  (void)supports(index, judge.operands(), options.place);  // throws when there is no such stage
  const Conv2dStage& stage = *conv2d_stages(Build::plain)[index];
  return verdict_of(stage, judge, options, [&](const ExecuteOptions& with) {
    return execute(index, judge.operands(), with);
  });
}

template <typename T>
Verdict verify(int index, const Conv2dOperands<T>& operands, DataKind kind,
               const ExecuteOptions& options) {
  return verify(index, Judge<T>(operands, kind), options);
}

#define SEVENLOOPS_VERIFY(T)                                                                      \
  template Conv2dOperands<T> make_operands(const Conv2dProblem&, Layout, DataKind, std::uint64_t, \
                                           double, double);                                       \
  template Verdict verify(int, const Judge<T>&, const ExecuteOptions&);                           \
  template Verdict verify(int, const Conv2dOperands<T>&, DataKind, const ExecuteOptions&);        \
  template Verdict verify(const Conv2dStage&, const Conv2dStage*, const Judge<T>&,                \
                          const ExecuteOptions&);
SEVENLOOPS_VERIFY(float)
SEVENLOOPS_VERIFY(double)
SEVENLOOPS_VERIFY(Half)
SEVENLOOPS_VERIFY(Bfloat16)
#undef SEVENLOOPS_VERIFY

}  // namespace sevenloops
