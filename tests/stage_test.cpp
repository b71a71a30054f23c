// Every stage on every listed problem, in every layout, with every kind of data, in fp32 and fp64:
// in the emulator, and on the GPU where there is one. Which of the combinations are run, and why
// those suffice, stands at pairwise_combinations() and rotating_combinations().

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gpu/conv2d/verify.hpp"
#include "gpu/device_buffer.hpp"
#include "reference/core/error.hpp"
#include "reference/core/numerics.hpp"
#include "tests/support/problem_list.hpp"
#include "tests/support/stage_runs.hpp"
#include "tests/support/transform_convolutions.hpp"

namespace sevenloops {
namespace {

using testing::is_clean;
using testing::kStorages;
using testing::listed_problems;
using testing::ListedProblem;
using testing::places;
using testing::plain_variants;
using testing::same_bits;
using testing::Storage;
using testing::stored_operands;
using testing::traced_variants;
using testing::Variant;

constexpr DataKind kKinds[] = {DataKind::exact, DataKind::real, DataKind::adversarial};
constexpr std::uint64_t kSeed = 20;

struct Scalars {
  double alpha, beta;
};

// What a stage is run on, but for the problem.
struct Combination {
  Dtype dtype;
  Storage storage;
  DataKind kind;
  Scalars scalars;
  int thread_order = kNotTraced;  // number of one of traced_variants()
  bool once = false;              // run in one way only

  static constexpr int kNotTraced = -1;

  std::string text() const {
    return std::string(name_of(dtype)) + ", " + testing::name_of(storage) + ", " +
           sevenloops::name_of(kind) + " data, alpha " + std::to_string(scalars.alpha) + ", beta " +
           std::to_string(scalars.beta);
  }
};

// For problems that are traced. All 384 combinations of storage, kind of data, scalars, thread
// order and type would tell little more than these 16, in which every value of one meets every
// value of every other: a fault that needs three of them and the problem to come together, and
// shows in none of the other problems, is hardly to be expected. The rows are those of an
// orthogonal array, from the lines of the plane over the field of four elements (where + is ^, and
// times(b) below is times a third element). Integers take two of four places; fp64, where code
// differs by the type's name, one of four. Source: Hedayat, Sloane, Stufken, Orthogonal Arrays,
// chapter 3.
std::vector<Combination> pairwise_combinations() {
  constexpr Storage storages[] = {Storage::nchw, Storage::nhwc, Storage::chwn, Storage::gaps};
  constexpr DataKind kinds[] = {DataKind::exact, DataKind::real, DataKind::adversarial,
                                DataKind::exact};
  constexpr Scalars scalars[] = {{1, 0}, {2, -0.5}, {-0.3, 0.7}, {1, 1}};
  constexpr int times[] = {0, 2, 3, 1}, times_again[] = {0, 3, 1, 2};
  std::vector<Combination> all;
  for (int a = 0; a < 4; ++a) {
    for (int b = 0; b < 4; ++b) {
      const bool wide = (a ^ times_again[b]) == 3;
      all.push_back(
          {wide ? Dtype::f64 : Dtype::f32, storages[a], kinds[b], scalars[a ^ b], a ^ times[b]});
    }
  }
  return all;
}

// For the longer list, problem number `number` of it: every storage in both types, which is where
// addresses differ. Kinds of data and scalars, which addresses do not depend on, take turns: all of
// them meet each problem, and each other over twelve problems.
std::vector<Combination> rotating_combinations(int number) {
  constexpr Scalars scalars[] = {{1, 0}, {2, -0.5}, {1, 0}, {1, 1}};
  std::vector<Combination> all;
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    int turn = number + (dtype == Dtype::f64 ? 1 : 0);
    for (const Storage storage : kStorages) {
      all.push_back({dtype, storage, kKinds[turn % 3], scalars[turn % 4]});
      ++turn;
    }
  }
  return all;
}

// So that the claim above stays true: each pair of values of two axes is in some combination.
TEST(Combinations, HoldEveryPairOfValues) {
  const std::vector<Combination> all = pairwise_combinations();
  EXPECT_EQ(all.size(), 16u);
  const auto axes_of = [](const Combination& c) {
    return std::array{static_cast<int>(c.dtype), static_cast<int>(c.storage),
                      static_cast<int>(c.kind),
                      static_cast<int>(8 * c.scalars.alpha + 100 * c.scalars.beta), c.thread_order};
  };
  const std::size_t values[] = {2, 4, 3, 4, 4};
  for (int i = 0; i < 5; ++i) {
    for (int j = 0; j < i; ++j) {
      std::set<std::pair<int, int>> pairs;
      for (const Combination& c : all) pairs.emplace(axes_of(c)[i], axes_of(c)[j]);
      EXPECT_EQ(pairs.size(), values[i] * values[j]) << "axes " << i << " and " << j;
    }
  }
  EXPECT_EQ(testing::traced_variants().size(), 4u);
}

std::vector<int> all_stages() {
  std::vector<int> indices(conv2d_stages(Build::plain).size());
  for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<int>(i);
  return indices;
}

// What is wrong when the stage is run in these ways, or nothing. Judges the first run; the others
// must give the same bits, or, from a stage that is not deterministic, be right too.
template <typename T>
std::string failure_of(int index, const Judge<T>& judge, const std::vector<Variant>& variants) {
  const Conv2dStage& stage = *conv2d_stages(Build::plain)[index];
  Tensor<T> first;
  for (const Variant& variant : variants) {
    const std::string where = variant.name + ": ";
    const Execution<T> execution = execute(index, judge.operands(), variant.options);
    if (const auto clean = is_clean(execution); !clean) return where + clean.message();
    if (variant.options.trace && judge.operands().prob.N > 0 && execution.report.launches.empty()) {
      return where + "nothing was traced";
    }
    if (&variant != &variants.front() && stage.deterministic) {
      if (!same_bits(execution.y, first)) return where + "the result depends on how it was run";
      continue;
    }
    const Agreement agreement = judge.judge(execution.y, stage);
    if (!agreement.pass) return where + agreement.failure;
    if (agreement.compared != execution.y.size()) return where + "not every element was compared";
    first = execution.y;
  }
  return "";
}

// Runs one stage on many operands, at every place where it supports them.
class StageRuns {
 public:
  explicit StageRuns(int index) : index_(index) {}

  void run(const ListedProblem& problem, const std::vector<Combination>& combinations) {
    const std::string stage = conv2d_stages(Build::plain)[index_]->name;
    for (const Combination& combination : combinations) {
      std::string failure;
      try {
        failure = combination.dtype == Dtype::f64 ? failure_on<double>(problem, combination)
                                                  : failure_on<float>(problem, combination);
      } catch (const Error& error) {
        failure = error.what();
      }
      if (failure.empty()) continue;
      ++failed_problems_;
      ADD_FAILURE() << stage << " on " << problem.text << " (" << problem.reason << "), "
                    << combination.text() << ", " << failure;
      return;  // the problem's other combinations would say the same
    }
  }

  // So many sentences are enough to see what is wrong.
  bool failed_often() const { return failed_problems_ >= 4; }

  int ran() const { return ran_; }
  const std::string& reason() const { return reason_; }

 private:
  template <typename T>
  std::string failure_on(const ListedProblem& problem, const Combination& how) {
    Conv2dProblem prob = problem.prob;
    prob.dtype = prob.accumulate = dtype_v<T>;
    const auto [alpha, beta] = how.scalars;
    const auto operands = stored_operands<T>(prob, how.storage, how.kind, kSeed, alpha, beta);
    const Judge<T> judge(operands, how.kind);
    const bool exact = how.kind == DataKind::exact && (alpha == 1 || alpha == 2);
    if (judge.exact() != exact) return "the judge takes exact data for others, or the reverse";
    for (const Place place : places()) {
      if (const Support support = supports(index_, operands, place); !support) {
        if (support.reason.empty()) return "refused without a reason";
        reason_ = support.reason;
        continue;
      }
      ++ran_;
      std::vector<Variant> variants = plain_variants(place);
      if (how.once) variants.resize(1);
      if (place == Place::emulator && how.thread_order >= 0) {
        variants.push_back(traced_variants()[how.thread_order]);
      }
      const std::string failure = failure_of(index_, judge, variants);
      if (!failure.empty()) {
        return (place == Place::gpu ? "on the GPU, " : "in the emulator, ") + failure;
      }
    }
    return "";
  }

  int index_, ran_ = 0, failed_problems_ = 0;
  std::string reason_;  // why the last refused combination was
};

// One case a stage, not one a problem too: what is common to many stages (the references) takes
// less time than so many processes.
class EachStage : public ::testing::TestWithParam<int> {
 protected:
  const Conv2dStage& stage() const { return *conv2d_stages(Build::plain)[GetParam()]; }

  // `combinations(number)` are those for a problem of the list.
  template <typename Combinations>
  void check(const std::string& file, Combinations&& combinations) const {
    StageRuns runs(GetParam());
    int number = 0;
    for (const ListedProblem& problem : listed_problems(file)) {
      runs.run(problem, combinations(number++));
      if (runs.failed_often()) return;
    }
    std::cout << stage().name << " ran on " << runs.ran() << " sets of operands\n";
    if (runs.ran() == 0) GTEST_SKIP() << "supports nothing here: " << runs.reason();
  }
};

std::string stage_name(const ::testing::TestParamInfo<int>& info) {
  return conv2d_stages(Build::plain)[info.param]->name;
}
INSTANTIATE_TEST_SUITE_P(, EachStage, ::testing::ValuesIn(all_stages()), stage_name);

TEST_P(EachStage, IsRightHoweverItIsRun) {
  check("smoke.txt", [](int) { return pairwise_combinations(); });
}

TEST_P(EachStage, IsRightOnEveryProblem) { check("regular.txt", rotating_combinations); }

// Many blocks of little work: one set of exact data.
TEST_P(EachStage, CountsBeyond16Bits) {
  check("counts.txt", [](int) {
    return std::vector<Combination>{
        {Dtype::f32, Storage::nchw, DataKind::exact, {1, 0}, Combination::kNotTraced, true}};
  });
}

// Full-size problems, on a GPU only, where programs are built for one. All stages share what is
// right.
class Large : public ::testing::TestWithParam<ListedProblem> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Large);

std::vector<ListedProblem> large_problems() {
  if (conv2d_stages(Build::gpu).empty()) return {};
  return listed_problems("large.txt");
}

// The operands, their copies in fp64, and what is right for each output.
double host_bytes(const Conv2dProblem& prob) {
  const auto count = [](const Extents& e) { return 1.0 * e[0] * e[1] * e[2] * e[3]; };
  return 32 * (count(x_extents(prob)) + count(w_extents(prob)) + count(y_extents(prob)));
}

TEST_P(Large, IsRightOnTheGpu) {
  const char* why = nullptr;
  if (!gpu_available(&why)) GTEST_SKIP() << "only on a GPU: " << why;
  const Conv2dProblem& prob = GetParam().prob;
  const double memory = 1.0 * sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
  if (host_bytes(prob) > 0.7 * memory) GTEST_SKIP() << "too large for this machine's memory";
  for (DataKind kind : {DataKind::exact, DataKind::real}) {
    const auto operands = make_operands<float>(prob, Layout::nchw, kind, kSeed);
    const Judge<float> judge(operands, kind);
    EXPECT_EQ(judge.exact(), kind == DataKind::exact);
    int ran = 0;
    for (int stage : all_stages()) {
      if (!supports(stage, operands, Place::gpu)) continue;
      ++ran;
      const Verdict verdict = verify(stage, judge, {.place = Place::gpu});
      EXPECT_TRUE(verdict.pass) << verdict.failure;
    }
    EXPECT_GT(ran, 0) << "no stage supports " << GetParam().text;
  }
}

INSTANTIATE_TEST_SUITE_P(, Large, ::testing::ValuesIn(large_problems()),
                         [](const auto& info) { return info.param.text; });

TEST(Places, SaysWhetherTheGpuTakesPart) {
  const char* why = nullptr;
  if (!gpu_available(&why)) GTEST_SKIP() << "stages run in the emulator only: " << why;
}

// A stage that refuses everything would pass every other test. Some can do little (3 x 3 filters of
// stride 1), but the lists hold enough of that.
TEST_P(EachStage, SupportsEnoughProblemsAndSaysWhyNotOthers) {
  constexpr int kLeastTraced = 3, kLeast = 20;
  const Place place = stage().gpu_library != nullptr ? Place::gpu : Place::emulator;
  std::set<std::string> reasons;
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    int supported = 0, traced = 0, asked = 0;
    for (const char* file : {"smoke.txt", "regular.txt", "counts.txt", "large.txt"}) {
      for (const ListedProblem& problem : listed_problems(file)) {
        Conv2dProblem prob = problem.prob;
        prob.dtype = prob.accumulate = dtype;
        bool in_any_layout = false;
        for (const Layout layout : {Layout::nchw, Layout::nhwc, Layout::chwn}) {
          const auto view = [&](const Extents& e) {
            return AnyView{nullptr, e, strides_of(layout, e)};
          };
          const Support support = supports(
              stage(), {prob, view(x_extents(prob)), view(w_extents(prob)), view(y_extents(prob))},
              place);
          in_any_layout |= support.yes;
          if (support.yes) continue;
          EXPECT_FALSE(support.reason.empty()) << problem.text;
          reasons.insert(support.reason);
        }
        ++asked;
        supported += in_any_layout;
        traced += in_any_layout && file == std::string("smoke.txt");
      }
    }
    std::cout << stage().name << " supports " << supported << " of " << asked
              << " listed problems in " << name_of(dtype) << '\n';
    EXPECT_GE(supported, kLeast) << "a stage that refuses nearly everything is hardly tested";
    EXPECT_GE(traced, kLeastTraced) << "hardly any of the problems that are traced is supported";
  }
  for (const std::string& reason : reasons) std::cout << "  not supported: " << reason << '\n';
}

TEST_P(EachStage, RefusesTypesItDoesNotHave) {
  Conv2dProblem prob = parse_conv2d("n2c3h7w9_k4r3s3_f16");
  const auto operands = make_operands<Half>(prob, Layout::nchw, DataKind::exact, kSeed);
  const Support support = supports(GetParam(), operands);
  if (support) {
    EXPECT_TRUE(verify(GetParam(), operands, DataKind::exact, {}).pass);
  } else {
    EXPECT_FALSE(support.reason.empty());
    EXPECT_THROW(execute(GetParam(), operands, {}), Error);
  }
}

TEST_P(EachStage, RefusesAWorkspaceOneByteTooSmall) {
  for (const ListedProblem& problem : listed_problems("smoke.txt")) {
    const auto on = make_operands<float>(problem.prob, Layout::nchw, DataKind::exact, kSeed);
    if (!supports(GetParam(), on, Place::emulator)) continue;
    const auto upload = [](const Tensor<float>& tensor) {
      const std::size_t bytes = tensor.buffer().size() * sizeof(float);
      DeviceBuffer buffer(Place::emulator, std::max<std::size_t>(bytes, 1));
      buffer.upload(tensor.buffer().data(), bytes);
      return buffer;
    };
    const DeviceBuffer x = upload(on.x), w = upload(on.w), y = upload(on.y0);
    const Conv2dForward::Args args{on.prob,
                                   {x.data(), on.x.extents(), on.x.strides()},
                                   {w.data(), on.w.extents(), on.w.strides()},
                                   {y.data(), on.y0.extents(), on.y0.strides()}};
    const std::size_t bytes = stage().workspace_bytes(args);
    if (bytes == 0) continue;
    const DeviceBuffer workspace(Place::emulator, bytes);
    if (stage().prepare != nullptr) {
      EXPECT_THROW(stage().prepare(args, {workspace.data(), bytes - 1}, nullptr), Error);
      EXPECT_NO_THROW(stage().prepare(args, {workspace.data(), bytes}, nullptr));
    }
    EXPECT_THROW(stage().launch(args, {workspace.data(), bytes - 1}, nullptr), Error);
    EXPECT_NO_THROW(stage().launch(args, {workspace.data(), bytes}, nullptr));
  }
}

TEST_P(EachStage, AddressesWith64Bits) {
  std::string why_not;
  const auto agreement = testing::agreement_at_far_offsets(stage(), &why_not);
  if (!agreement) GTEST_SKIP() << why_not;
  EXPECT_TRUE(agreement->pass) << agreement->failure;
}

// Stages whose terms are not the definition's.
class TransformStages : public EachStage {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TransformStages);

std::vector<int> transform_stages() {
  std::vector<int> indices;
  for (const int index : all_stages()) {
    if (conv2d_stages(Build::plain)[index]->algorithm != Algorithm::sums) indices.push_back(index);
  }
  return indices;
}
INSTANTIATE_TEST_SUITE_P(, TransformStages, ::testing::ValuesIn(transform_stages()), stage_name);

// Zeros are transformed with the rest, and nothing is added in the definition's order.
TEST_P(TransformStages, PromiseNoMoreThanTransformsKeep) {
  EXPECT_EQ(stage().order, Order::own);
  EXPECT_EQ(stage().padding, Padding::multiplied);
}

// What is wrong on integers on which Winograd's numbers are exact, or nothing; adds to the counts.
template <typename T>
std::string failure_on_integers(int index, const ListedProblem& problem, int& ran, int& exact) {
  const Algorithm algorithm = conv2d_stages(Build::plain)[index]->algorithm;
  Conv2dProblem prob = problem.prob;
  prob.dtype = prob.accumulate = dtype_v<T>;
  for (const Layout layout : {Layout::nchw, Layout::chwn}) {
    const auto on = algorithm == Algorithm::winograd_4x4
                        ? testing::operands_exact_for_4x4<T>(prob, layout, kSeed)
                        : make_operands<T>(prob, layout, DataKind::exact, kSeed);
    for (const Place place : places()) {
      if (!supports(index, on, place)) continue;
      const Judge<T> judge(on, DataKind::exact);
      ++ran;
      exact += judge.exact(algorithm);
      const Verdict verdict = verify(index, judge, {.place = place});
      if (!verdict.pass) return verdict.failure;
    }
  }
  return "";
}

TEST_P(TransformStages, AreExactOnIntegersWhereTheirNumbersAre) {
  if (stage().algorithm == Algorithm::fourier) {
    GTEST_SKIP() << "Fourier transforms are never exact; their bound shows the nearest integer";
  }
  int ran = 0, exact = 0, failed = 0;
  for (const char* file : {"smoke.txt", "regular.txt"}) {
    for (const ListedProblem& problem : listed_problems(file)) {
      std::string failure = failure_on_integers<float>(GetParam(), problem, ran, exact);
      if (failure.empty()) {
        failure = failure_on_integers<double>(GetParam(), problem, ran, exact);
      }
      EXPECT_EQ(failure, "") << problem.text << " (" << problem.reason << ")";
      failed += !failure.empty();
      if (failed == 4) return;
    }
  }
  if (ran == 0) GTEST_SKIP() << "supports nothing here";
  std::cout << "held to the bit on " << exact << " of " << ran << " sets of integers\n";
  EXPECT_GE(10 * exact, 9 * ran) << "the integers are too large for most problems";
}

}  // namespace
}  // namespace sevenloops
