// Every stage on every listed problem, in every layout, with every kind of data, in fp32 and fp64:
// in the emulator, and on the GPU where there is one.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "gpu/conv2d/verify.hpp"
#include "gpu/device_buffer.hpp"
#include "reference/core/error.hpp"
#include "reference/core/numerics.hpp"
#include "tests/support/problem_list.hpp"
#include "tests/support/stage_runs.hpp"

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

struct StageCase {
  int stage;
  ListedProblem problem;
};

// How GoogleTest prints parameters.
void PrintTo(const StageCase& test, std::ostream* out) {
  *out << conv2d_stages(Build::plain)[test.stage]->name << " on " << test.problem.text << " ("
       << test.problem.reason << ")";
}

std::string test_name(const ::testing::TestParamInfo<StageCase>& info) {
  return std::string(conv2d_stages(Build::plain)[info.param.stage]->name) + "_" +
         info.param.problem.text;
}

std::vector<StageCase> cases_of(const std::string& file) {
  std::vector<StageCase> cases;
  for (const ListedProblem& problem : listed_problems(file)) {
    for (int stage = 0; stage < static_cast<int>(conv2d_stages(Build::plain).size()); ++stage) {
      cases.push_back({stage, problem});
    }
  }
  return cases;
}

std::vector<int> all_stages() {
  std::vector<int> indices(conv2d_stages(Build::plain).size());
  for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<int>(i);
  return indices;
}

// Judges the first run; the others must give the same bits, or, from a stage that is not
// deterministic, be right too.
template <typename T>
void check_variants(int index, const Judge<T>& judge, const std::vector<Variant>& variants) {
  const Conv2dStage& stage = *conv2d_stages(Build::plain)[index];
  Tensor<T> first;
  for (const Variant& variant : variants) {
    SCOPED_TRACE(variant.name);
    const Execution<T> execution = execute(index, judge.operands(), variant.options);
    ASSERT_TRUE(is_clean(execution));
    if (variant.options.trace && judge.operands().prob.N > 0) {
      ASSERT_FALSE(execution.report.launches.empty()) << "nothing was traced";
    }
    const bool repeats = &variant != &variants.front() && stage.deterministic;
    if (repeats) {
      ASSERT_TRUE(same_bits(execution.y, first)) << "the result depends on how it was run";
    } else {
      const Agreement agreement = judge.judge(execution.y, stage);
      ASSERT_TRUE(agreement.pass) << agreement.failure;
      ASSERT_EQ(agreement.compared, execution.y.size());
      first = execution.y;
    }
  }
}

// What is run on one set of operands: `make_variants` for a place.
template <typename T>
int check_scaled(const StageCase& test, Storage storage, DataKind kind, double alpha, double beta,
                 const std::vector<std::vector<Variant>>& groups) {
  Conv2dProblem prob = test.problem.prob;
  prob.dtype = prob.accumulate = dtype_v<T>;
  const auto operands = stored_operands<T>(prob, storage, kind, kSeed, alpha, beta);
  const Support support = supports(test.stage, operands);
  if (!support) {
    EXPECT_FALSE(support.reason.empty());
    return 0;
  }
  SCOPED_TRACE(std::string(name_of(dtype_v<T>)) + ", " + testing::name_of(storage) + ", " +
               name_of(kind) + " data, alpha " + std::to_string(alpha) + ", beta " +
               std::to_string(beta));
  const Judge<T> judge(operands, kind);
  const bool scalars_are_exact = alpha == 2 || alpha == 1;
  EXPECT_EQ(judge.exact(), kind == DataKind::exact && scalars_are_exact);
  for (const auto& variants : groups) check_variants(test.stage, judge, variants);
  return 1;
}

struct Scalars {
  double alpha, beta;
};

template <typename T>
int check_dtype(const StageCase& test, const std::vector<std::vector<Variant>>& groups,
                const std::vector<Scalars>& scalars) {
  int ran = 0;
  for (Storage storage : kStorages) {
    for (DataKind kind : kKinds) {
      for (auto [alpha, beta] : scalars) {
        ran += check_scaled<T>(test, storage, kind, alpha, beta, groups);
        if (::testing::Test::HasFatalFailure()) return ran;
      }
    }
  }
  return ran;
}

class Stages : public ::testing::TestWithParam<StageCase> {
 protected:
  // Runs every combination; a stage that runs none is skipped here and counted in StageSupport.
  static void check(const std::vector<std::vector<Variant>>& groups,
                    const std::vector<Scalars>& scalars) {
    const int ran = check_dtype<float>(GetParam(), groups, scalars) +
                    check_dtype<double>(GetParam(), groups, scalars);
    if (ran > 0) return;
    const auto operands =
        make_operands<float>(GetParam().problem.prob, Layout::nchw, DataKind::exact, kSeed);
    GTEST_SKIP() << "not supported: " << supports(GetParam().stage, operands).reason;
  }

  static std::vector<std::vector<Variant>> plain() {
    std::vector<std::vector<Variant>> groups;
    for (Place place : places()) groups.push_back(plain_variants(place));
    return groups;
  }
};

class Smoke : public Stages {};
TEST_P(Smoke, IsRightHoweverItIsRun) { check(plain(), {{1, 0}, {2, -0.5}, {-0.3, 0.7}, {1, 1}}); }
TEST_P(Smoke, HasNoFaultInAnyThreadOrder) { check({traced_variants()}, {{1, 0}, {2, -0.5}}); }
INSTANTIATE_TEST_SUITE_P(, Smoke, ::testing::ValuesIn(cases_of("smoke.txt")), test_name);

class Regular : public Stages {};
TEST_P(Regular, IsRight) { check(plain(), {{1, 0}}); }
INSTANTIATE_TEST_SUITE_P(, Regular, ::testing::ValuesIn(cases_of("regular.txt")), test_name);

// Many blocks of little work: one run on exact data.
class Counts : public Stages {};
TEST_P(Counts, IsRight) {
  int ran = 0;
  for (Place place : places()) {
    ran += check_scaled<float>(GetParam(), Storage::nchw, DataKind::exact, 1, 0,
                               {{{"memory held 0xFF", {.place = place}}}});
  }
  if (ran == 0) GTEST_SKIP() << "not supported";
}
INSTANTIATE_TEST_SUITE_P(, Counts, ::testing::ValuesIn(cases_of("counts.txt")), test_name);

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
      if (!supports(stage, operands)) continue;
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

class EachStage : public ::testing::TestWithParam<int> {
 protected:
  const Conv2dStage& stage() const { return *conv2d_stages(Build::plain)[GetParam()]; }
};

std::string stage_name(const ::testing::TestParamInfo<int>& info) {
  return conv2d_stages(Build::plain)[info.param]->name;
}
INSTANTIATE_TEST_SUITE_P(, EachStage, ::testing::ValuesIn(all_stages()), stage_name);

// A stage that refuses everything would pass every other test.
TEST_P(EachStage, SupportsProblemsOrSaysWhyNot) {
  int asked = 0, ran = 0;
  std::set<std::string> reasons;
  for (const char* file : {"smoke.txt", "regular.txt", "counts.txt", "large.txt"}) {
    for (const ListedProblem& problem : listed_problems(file)) {
      Conv2dProblem prob = problem.prob;
      for (Dtype dtype : {Dtype::f32, Dtype::f64}) {
        prob.dtype = prob.accumulate = dtype;
        for (Layout layout : {Layout::nchw, Layout::nhwc, Layout::chwn}) {
          const auto view = [&](const Extents& e) {
            return AnyView{nullptr, e, strides_of(layout, e)};
          };
          const Support support = stage().supports(
              {prob, view(x_extents(prob)), view(w_extents(prob)), view(y_extents(prob))});
          ++asked;
          ran += support.yes;
          if (support.yes) continue;
          EXPECT_FALSE(support.reason.empty()) << problem.text;
          reasons.insert(support.reason);
        }
      }
    }
  }
  std::cout << stage().name << " supports " << ran << " of " << asked
            << " combinations of problem, layout and dtype\n";
  for (const std::string& reason : reasons) std::cout << "  not supported: " << reason << '\n';
  EXPECT_GE(2 * ran, asked) << "a stage that refuses most problems is hardly tested";
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
    if (!supports(GetParam(), on)) continue;
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
    EXPECT_THROW(stage().launch(args, {workspace.data(), bytes - 1}, nullptr), Error);
    EXPECT_NO_THROW(stage().launch(args, {workspace.data(), bytes}, nullptr));
  }
}

TEST_P(EachStage, AddressesWith64Bits) {
  const auto agreement = testing::agreement_at_far_offsets(stage());
  if (!agreement) GTEST_SKIP() << "the system grants no address space of 17 GB an operand";
  EXPECT_TRUE(agreement->pass) << agreement->failure;
}

}  // namespace
}  // namespace sevenloops
