#pragma once
// Is a stage right? The tiers of docs/numerics.md for one stage and one problem.

#include <map>
#include <string>
#include <vector>

#include "gpu/conv2d/execute.hpp"
#include "reference/conv2d/conv2d.hpp"
#include "reference/conv2d/transform_magnitude.hpp"
#include "reference/core/agreement.hpp"

namespace sevenloops {

/// exact: integers, bit for bit. real: uniform [-1,1) under the derived bound (and bit for bit
/// against the twin where the stage keeps the reference's order). adversarial: NaN, infinities,
/// subnormals, signed zeros, large magnitudes; judged like real.
enum class DataKind { exact, real, adversarial };

const char* name_of(DataKind kind);

/// Operands of `prob` filled with `kind`, in `layout` (x and y; w in its analogue). The same seed
/// gives the same numbers in every layout. y0 has values only when beta != 0. Exact data stay exact
/// for alpha and beta that are fractions of few binary digits; others round the scaled result.
template <typename T>
Conv2dOperands<T> make_operands(const Conv2dProblem& prob, Layout layout, DataKind kind,
                                std::uint64_t seed, double alpha = 1, double beta = 0);

/// The command that repeats a check: "sevenloops check conv2d --stage direct --problem ...".
std::string repeat_line(const char* stage, const Conv2dProblem& prob, Layout layout, DataKind kind,
                        std::uint64_t seed);

/// What a stage says about its results, and is held to.
struct Promises {
  Algorithm algorithm = Algorithm::sums;
  Order order = Order::own;
  Padding padding = Padding::skipped;
};

inline Promises promises_of(const Conv2dStage& stage) {
  return {stage.algorithm, stage.order, stage.padding};
}

/// What is right for some operands: computed once, asked about any number of results.
///
/// Up to about 1 GFLOP, and always where operands are not finite, the seven loops say it, and their
/// float twin says it to the bit. Beyond, the GEMM oracle in fp64 says it, on |x| and |w| for the
/// magnitudes, and the loops and the twin say it for some whole planes (n, k): the first, the last,
/// and random ones. Not for several threads at once: what only transforms need is computed when the
/// first of them asks.
template <typename T>
class Judge {
 public:
  /// `operands` must live as long as the judge.
  Judge(const Conv2dOperands<T>& operands, DataKind kind);

  /// How `y`, computed by a stage with these promises, agrees.
  ///
  /// Sums. Exact data: bit for bit. Other data: within the bound, and bit for bit with the twin if
  /// the order is the reference's. With Padding::multiplied, an output that has taps in the padding
  /// may also be NaN if its filter holds infinities or NaN, and zeros have no sign.
  ///
  /// Transforms. Bit for bit where they are exact (see exact()), elsewhere within their own bound,
  /// and free to spread NaN and infinity as far as the transform reaches: see docs/numerics.md.
  Agreement judge(const Tensor<T>& y, const Promises& promises) const;
  Agreement judge(const Tensor<T>& y, const Conv2dStage& stage) const {
    return judge(y, promises_of(stage));
  }

  const Conv2dOperands<T>& operands() const { return *operands_; }

  /// Must results of `algorithm` be right to the bit? For sums, if exact data were asked for and
  /// the operands are integers whose sums, scaled, are exact in the accumulation type in any order.
  /// For Winograd's algorithms, if besides all their numbers are: quarters for F(2x2); for F(4x4)
  /// whole numbers, which takes filters of multiples of 576. Never for Fourier transforms; there an
  /// integer result is known once the bound is below 1/2.
  bool exact(Algorithm algorithm = Algorithm::sums) const;

 private:
  // A box of y with what is right there.
  struct Part {
    Extents begin{};
    ReferenceResult reference;
    Tensor<T> twin;  // empty where there is none
    Tensor<double> y0;
  };

  void add_by_definition(const Extents& begin, const Extents& extents);
  void add_by_oracle();
  bool sums_are_exact() const;
  Agreement judge_sums(const Part& part, const Tensor<T>& y, const Promises& promises) const;
  Agreement judge_transform(const Part& part, const Tensor<T>& y, Algorithm algorithm) const;
  void excuse_padding(const Part& part, Tensor<T>& y, TensorView<const T> expected) const;
  BoundTerms terms() const;
  Alarm alarm() const;

  // How a transform algorithm does on these operands.
  struct Transform {
    TransformMagnitude magnitude;
    Tensor<unsigned char> spread;  // 1 where NaN or infinity may come from elsewhere
    bool exact = false;
  };
  const Transform& transform(Algorithm algorithm) const;

  const Conv2dOperands<T>* operands_;
  DataKind kind_;
  double alpha_, beta_;           // as the accumulation type holds them
  std::vector<bool> non_finite_;  // filters that hold infinities or NaN
  bool sums_are_exact_ = false;
  std::vector<Part> parts_;  // the first is all of y
  mutable std::map<Algorithm, Transform> transforms_;
};

struct Verdict {
  bool pass = false;
  Agreement agreement;
  simt::Report report;  ///< counters and faults when traced
  std::size_t workspace_bytes = 0;
  std::string failure;  ///< one sentence; decoded to n,k,p,q, block and thread where possible
};

/// Runs stage number `index` on the judge's operands and judges it: no faults, nothing touched but
/// the elements of y, and those right.
template <typename T>
Verdict verify(int index, const Judge<T>& judge, const ExecuteOptions& options);

/// The same for operands of one use (a user's or make_operands').
template <typename T>
Verdict verify(int index, const Conv2dOperands<T>& operands, DataKind kind,
               const ExecuteOptions& options);

/// The same for a stage that is in no list, as compiled plain and (null: not) traced.
template <typename T>
Verdict verify(const Conv2dStage& plain, const Conv2dStage* traced, const Judge<T>& judge,
               const ExecuteOptions& options);

}  // namespace sevenloops
