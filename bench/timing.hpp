#pragma once
// Times on a GPU: device events, warm-up, L2 cold before every run, the median of many.

#include <functional>
#include <memory>

#include "reference/core/stage.hpp"

namespace sevenloops {

/// The times of several runs of the same work.
struct Timing {
  double median_ms = 0, p10_ms = 0, p90_ms = 0;
  int runs = 0;

  /// Width of the middle 80 % of the runs as a fraction of the median.
  double spread() const { return median_ms > 0 ? (p90_ms - p10_ms) / median_ms : 0; }
};

/// When to stop measuring: after `max_runs`, or once `min_runs` were made and their times add up to
/// `budget_ms`. Work of which one run takes longer than `slow_ms` is run once and that time counts.
struct TimingOptions {
  int min_runs = 11, max_runs = 101;
  double budget_ms = 300;
  double slow_ms = 200;
};

/// Measures on the current GPU. Before every timed run the whole L2 is read full of other data, so
/// that no run finds its operands there; the timed part holds nothing but the work.
class ColdTimer {
 public:
  /// Throws Error when there is no GPU or no memory for the data that displaces L2's (four times
  /// its size).
  ColdTimer();
  ~ColdTimer();

  /// Times `work`, which must only enqueue on the given stream. Runs it once more, untimed, before.
  /// Throws Error when the work, or a launch before it, left an error on the device.
  Timing time(const std::function<void(Stream)>& work, const TimingOptions& options = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sevenloops
