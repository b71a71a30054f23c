#pragma once
// Results as JSON, every counter under its name.

#include <nlohmann/json.hpp>

#include "gpu/conv2d/verify.hpp"

namespace sevenloops {

using Json = nlohmann::ordered_json;

Json to_json(const simt::Counters& counters);
Json to_json(const simt::Report& report);
Json to_json(const Verdict& verdict);

/// What stage number `index` says about itself.
Json stage_json(int index);

/// Which program produced this: version, commit, compiler, hashes of the stages' sources.
Json program_json();

}  // namespace sevenloops
