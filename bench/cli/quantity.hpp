#pragma once
// Numbers as people read them: three digits and a unit.

#include <cstdint>
#include <string>

namespace sevenloops {

/// "0", "12", "1.23k", "45.6M", "7.89G", "1.20T"; small values as "0.12".
std::string quantity(double value);

/// "0", "512 B", "1.5 KiB", "23.4 MiB", "3.0 GiB".
std::string bytes_text(double bytes);

/// `value` with `digits` after the point.
std::string fixed(double value, int digits);

/// 0.123 as "12 %"; below 1 % with one more digit.
std::string percent(double fraction);

/// "5.1x"; large ratios without digits after the point.
std::string times(double ratio);

/// The fraction of a bound that an error takes: "0.12", "0.0034", "0".
std::string fraction_of_bound(double fraction);

}  // namespace sevenloops
