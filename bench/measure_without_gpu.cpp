// What bench/measure.hpp and bench/ceiling.hpp say in a build without CUDA.

#include "bench/ceiling.hpp"
#include "bench/measure.hpp"
#include "reference/core/error.hpp"

namespace sevenloops {
namespace {

[[noreturn]] void refuse() { throw Error("there is no GPU to measure on: this build has no CUDA"); }

}  // namespace

struct LayerBench::State {};

double Measured::tflops(const Conv2dProblem&) const { return 0; }

LayerBench::LayerBench(const Conv2dProblem&, Layout, std::uint64_t) { refuse(); }
template <typename T>
LayerBench::LayerBench(const Conv2dOperands<T>&, Layout, std::uint64_t) {
  refuse();
}
template LayerBench::LayerBench(const Conv2dOperands<float>&, Layout, std::uint64_t);
template LayerBench::LayerBench(const Conv2dOperands<double>&, Layout, std::uint64_t);
LayerBench::~LayerBench() = default;

Measured LayerBench::stage(int, const TimingOptions&) { refuse(); }
Measured LayerBench::peer(const Peer&, const TimingOptions&) { refuse(); }
std::vector<Measured> LayerBench::peers(const TimingOptions&) { refuse(); }

const Measured* fastest(const std::vector<Measured>&) { return nullptr; }
std::size_t workspace_limit() { return 0; }
std::vector<std::pair<std::string, std::string>> gpu_facts() { return {}; }

const Ceilings& measured_ceilings() { refuse(); }

std::vector<Peer> conv2d_peers(const Conv2dForward::Args&, std::size_t) { return {}; }
std::vector<std::pair<std::string, std::string>> peer_versions() { return {}; }

}  // namespace sevenloops
