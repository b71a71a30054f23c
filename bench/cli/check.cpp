#include "bench/cli/check.hpp"

#include <cstring>
#include <iostream>

#include "bench/cli/commands.hpp"
#include "bench/cli/quantity.hpp"
#include "bench/cli/table.hpp"
#include "reference/core/error.hpp"

namespace sevenloops {
namespace {

// Extents pairwise different, everything that can be asymmetric is.
constexpr const char* kStandardProblem = "n2c6h13w11_k8r3s2_p1x2x0x1_u2x1_d1x2_g2";

constexpr const char* kExamples = R"(Examples:
  sevenloops check conv2d
  sevenloops check conv2d --stage direct --problem n2c3h7w9_k4r3s3_p1_u2
  sevenloops check conv2d --stage direct --layer R7 --layout nhwc --only exact
Exit code 1 when a check fails.)";

struct CheckOptions {
  SubjectOptions subject;
  std::string only;
};

// The checks of one stage, each by its name.
template <typename T>
class Checks {
 public:
  Checks(const Subject& subject, int index) : subject_(subject), index_(index) {
    traced_.place = plain_.place = subject.place;
    traced_.trace = subject.place == Place::emulator;
  }

  CheckResult run(const std::string& name) const {
    if (name == "exact") return result_of(name, on(DataKind::exact, traced_));
    if (name == "scaled") return result_of(name, on(DataKind::exact, plain_, 2, -1));
    if (name == "real") return result_of(name, on(DataKind::real, traced_));
    if (name == "adversarial") return result_of(name, on(DataKind::adversarial, plain_));
    if (name == "layouts") return layouts(name);
    if (name == "offset") return offset(name);
    if (name == "memory") return memory(name);
    return orders(name);
  }

  static std::vector<std::string> names() {
    return {"exact", "scaled", "real", "adversarial", "layouts", "offset", "memory", "orders"};
  }

  static std::string meaning(const std::string& name) {
    if (name == "exact") return "integers, bit for bit; accesses, races, barriers";
    if (name == "scaled") return "integers with alpha 2 and beta -1, bit for bit";
    if (name == "real") return "real data, error under the derived bound";
    if (name == "adversarial") return "NaN, infinities, subnormals, signed zeros";
    if (name == "layouts") return "the other memory orders, bit for bit";
    if (name == "offset") return "operands one element off alignment";
    if (name == "memory") return "the same bits whatever memory held before";
    return "the same bits in every thread order";
  }

 private:
  Conv2dOperands<T> data(DataKind kind, double alpha = 1, double beta = 0) const {
    return make_operands<T>(subject_.prob, subject_.layout, kind, subject_.seed, alpha, beta);
  }

  Verdict on(DataKind kind, const ExecuteOptions& options, double alpha = 1,
             double beta = 0) const {
    return verify(index_, data(kind, alpha, beta), kind, options);
  }

  CheckResult layouts(const std::string& name) const {
    int ran = 0;
    for (const Layout layout : {Layout::nchw, Layout::nhwc, Layout::chwn}) {
      if (layout == subject_.layout) continue;
      const auto operands = make_operands<T>(subject_.prob, layout, DataKind::exact, subject_.seed);
      if (!supports(index_, operands, subject_.place)) continue;
      ++ran;
      const Verdict verdict = verify(index_, operands, DataKind::exact, plain_);
      if (!verdict.pass) {
        return {name, false, "in " + std::string(name_of(layout)) + ": " + verdict.failure};
      }
    }
    return {name, true, std::to_string(ran) + " of 2 are supported, and right"};
  }

  CheckResult offset(const std::string& name) const {
    ExecuteOptions options = traced_;
    options.base_offset = 1;
    return result_of(name, on(DataKind::exact, options));
  }

  // Runs on the same data with something varied; all results must be the same bits.
  CheckResult same_bits(const std::string& name, const std::vector<ExecuteOptions>& variants,
                        const std::string& what) const {
    const Conv2dOperands<T> operands = data(DataKind::real);
    const Tensor<T> first = execute(index_, operands, plain_).y;
    for (const ExecuteOptions& options : variants) {
      const Tensor<T> other = execute(index_, operands, options).y;
      std::string difference;
      for_each_index(first.extents(), [&](auto n, auto k, auto p, auto q) {
        const T a = first(n, k, p, q), b = other(n, k, p, q);
        if (!difference.empty() || std::memcmp(&a, &b, sizeof a) == 0) return;
        difference = "y[n=" + std::to_string(n) + ",k=" + std::to_string(k) +
                     ",p=" + std::to_string(p) + ",q=" + std::to_string(q) + "] depends on " +
                     what + ": " + std::to_string(a) + " or " + std::to_string(b);
      });
      if (!difference.empty()) return {name, false, difference};
    }
    return {name, true, std::to_string(variants.size() + 1) + " runs are alike"};
  }

  CheckResult memory(const std::string& name) const {
    std::vector<ExecuteOptions> variants(2, plain_);
    variants[0].poison = 0x00;
    variants[1].poison = 0x5A;
    variants[1].workspace_seed = 2;
    return same_bits(name, variants, "what memory held before");
  }

  CheckResult orders(const std::string& name) const {
    if (subject_.place == Place::gpu) return same_bits(name, {plain_, plain_}, "the run");
    std::vector<ExecuteOptions> variants(3, plain_);
    variants[0].emulator.order = simt::ThreadOrder::reverse;
    variants[1].emulator.order = variants[2].emulator.order = simt::ThreadOrder::shuffle;
    variants[1].emulator.seed = subject_.seed;
    variants[2].emulator.seed = subject_.seed + 1;
    return same_bits(name, variants, "the order of threads");
  }

  const Subject& subject_;
  int index_;
  ExecuteOptions plain_, traced_;
};

// Prints a line for each check; returns how many failed.
template <typename T>
int check_stage(const Subject& subject, int index, const std::vector<std::string>& names) {
  const Conv2dStage& stage = *conv2d_stages(Build::plain)[index];
  std::cout << '\n' << inked(stage.name, Ink::strong) << '\n';
  const Support support = supports(stage, shapes_of(subject.prob, subject.layout), subject.place);
  if (!support) {
    std::cout << "  not run: " << support.reason << '\n';
    return 0;
  }
  Table table({{"  check", Align::left},
               {"", Align::left},
               {"what it is", Align::left},
               {"found", Align::left}});
  std::vector<CheckResult> failed;
  {
    Progress progress(static_cast<int>(names.size()));
    for (const std::string& name : names) {
      if (name == "orders" && !stage.deterministic) continue;
      progress.begin(std::string(stage.name) + ": " + Checks<T>::meaning(name));
      const CheckResult result = Checks<T>(subject, index).run(name);
      if (!result.pass) failed.push_back(result);
      table.add({"  " + name, result.pass ? Cell("pass", Ink::good) : Cell("FAIL", Ink::bad),
                 Checks<T>::meaning(name), result.pass ? result.detail : "see below"});
    }
  }
  table.print(std::cout);
  for (const CheckResult& result : failed) {
    std::cout << inked("  " + result.name + ": ", Ink::bad) << result.detail
              << "\n  repeat: " << repeat_command(subject, stage.name, result.name) << '\n';
  }
  return static_cast<int>(failed.size());
}

int check(const CheckOptions& options) {
  const Subject subject = subject_of(options.subject, "", kStandardProblem);
  std::vector<std::string> names = Checks<float>::names();
  if (!options.only.empty()) names = {names[word_of("--only", options.only, names)]};
  const bool on_gpu = subject.place == Place::gpu;
  std::cout << (on_gpu ? "On the GPU: " : "In the emulator: ") << subject.description() << '\n';
  int failed = 0, ran = 0;
  std::string refused;
  for (const int index : subject.stages) {
    const Conv2dStage& stage = *conv2d_stages(Build::plain)[index];
    const Support support = supports(stage, shapes_of(subject.prob, subject.layout), subject.place);
    ran += support.yes;
    if (!support) refused = std::string(stage.name) + " does not support it: " + support.reason;
    failed += subject.prob.dtype == Dtype::f64 ? check_stage<double>(subject, index, names)
                                               : check_stage<float>(subject, index, names);
  }
  if (ran == 0) throw Error("nothing was checked: " + refused);
  std::cout << '\n'
            << (failed == 0 ? inked("All checks pass.", Ink::good)
                            : inked(std::to_string(failed) +
                                        (failed == 1 ? " check fails." : " checks fail."),
                                    Ink::bad))
            << '\n';
  return failed == 0 ? 0 : 1;
}

}  // namespace

CheckResult result_of(const std::string& name, const Verdict& verdict) {
  if (!verdict.pass) return {name, false, verdict.failure};
  const Agreement& a = verdict.agreement;
  std::string detail = std::to_string(a.compared) + " elements, ";
  if (a.bitwise) {
    detail += "bit for bit";
  } else {
    detail += "error at most " + fraction_of_bound(a.worst_bound_fraction) + " of the bound";
  }
  const auto& launches = verdict.report.launches;
  if (!launches.empty()) {
    detail += "; no fault in " + std::to_string(launches.size()) +
              (launches.size() == 1 ? " traced launch" : " traced launches");
  }
  return {name, true, detail};
}

std::string repeat_command(const Subject& subject, const std::string& stage,
                           const std::string& check) {
  std::string line =
      "sevenloops check conv2d --stage " + stage + " --problem " + print(subject.prob);
  if (subject.place == Place::emulator && affordable_batch(subject.prob) < subject.prob.N) {
    line += " --batch " + std::to_string(subject.prob.N);
  }
  if (subject.layout != Layout::nchw) line += " --layout " + std::string(name_of(subject.layout));
  if (subject.place == Place::gpu) line += " --on gpu";
  return line + " --seed " + std::to_string(subject.seed) + " --only " + check;
}

void add_check(CLI::App& app, Action& action) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* const command =
      app.add_subcommand("check", "Prove that a stage is right, tier by tier");
  command->footer(kExamples);
  options->subject.add_to(*command, "--stage");
  std::string names;
  for (const std::string& name : Checks<float>::names())
    names += (names.empty() ? "" : ", ") + name;
  command->add_option("--only,--data", options->only, "one check alone: " + names);
  command->callback([options, &action] { action = [options] { return check(*options); }; });
}

}  // namespace sevenloops
