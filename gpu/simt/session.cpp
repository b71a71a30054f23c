#include "gpu/simt/session.hpp"

#include <memory>

namespace sevenloops::simt {

struct Session::State {
  Options options;
  Report report;
  State* outer;
  static thread_local State* innermost;
};
thread_local Session::State* Session::State::innermost = nullptr;

Session::Session(const Options& options) : state_(new State{options, {}, State::innermost}) {
  State::innermost = state_.get();
}
Session::~Session() { State::innermost = state_->outer; }
const Report& Session::report() const { return state_->report; }
Options current_options() {
  return Session::State::innermost == nullptr ? Options() : Session::State::innermost->options;
}

}  // namespace sevenloops::simt
