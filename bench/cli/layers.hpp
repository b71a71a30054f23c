#pragma once
// Convolution layers by name: the yardsticks, whole networks, published benchmarks.

#include <string>
#include <string_view>
#include <vector>

#include "reference/conv2d/problem.hpp"

namespace sevenloops {

/// One row of the tables in bench/layers, which are compiled in.
struct Layer {
  std::string set;     ///< "yardstick", "ResNet50", ...
  std::string name;    ///< "L5", "conv4_x_3x3", ...; unique in its set
  Conv2dProblem prob;  ///< fp32, at the batch of the table
  std::string source;  ///< where the numbers come from
};

/// Every layer, the yardsticks first.
const std::vector<Layer>& layers();

/// The layer called "set/name", or "name" alone if it is a yardstick's or no other set has it.
/// Throws Error that suggests the nearest name, or lists the sets to choose from.
const Layer& layer_named(std::string_view name);

/// The yardsticks of these names, or all of them when there is none. Throws Error like
/// layer_named().
std::vector<Layer> yardstick_layers(const std::vector<std::string>& names = {});

/// The rows of one table in CSV (the first line names the columns). Throws Error for a malformed
/// one.
std::vector<Layer> parse_layers(std::string_view csv);

}  // namespace sevenloops
