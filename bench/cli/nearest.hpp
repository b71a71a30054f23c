#pragma once
// What somebody who mistyped a name may have meant.

#include <string>
#include <string_view>
#include <vector>

namespace sevenloops {

/// Insertions, deletions and replacements of one letter, upper and lower case alike, that turn one
/// word into the other. Source: Wagner and Fischer, The string-to-string correction problem (1974).
int edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to `name`, the first among equals; empty when there is none.
std::string nearest(std::string_view name, const std::vector<std::string>& candidates);

/// "there is no <kind> \"<name>\"; the nearest is \"<candidate>\"<hint>"
std::string unknown(const std::string& kind, std::string_view name,
                    const std::vector<std::string>& candidates, const std::string& hint = "");

}  // namespace sevenloops
