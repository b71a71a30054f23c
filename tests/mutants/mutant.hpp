#pragma once
// Kernels that are wrong on purpose, one difference each: what checks the stages must catch them.
//
// Each .cu file here holds one kernel as a template over what is wrong with it. Its `right` variant
// must pass every check, so that it is the difference which is caught.

#include <vector>

#include "gpu/conv2d/stages.hpp"

namespace sevenloops {

/// One mutant as stages see it; `stage.name` says what is wrong, "right..." that nothing is.
using Mutant = Conv2dStage;

#define SEVENLOOPS_MUTANTS(build)      \
  namespace build {                    \
  std::vector<Mutant> index_mutants(); \
  std::vector<Mutant> tile_mutants();  \
  }
SEVENLOOPS_MUTANTS(build_plain)
SEVENLOOPS_MUTANTS(build_traced)
SEVENLOOPS_MUTANTS(build_gpu)
#undef SEVENLOOPS_MUTANTS

}  // namespace sevenloops
