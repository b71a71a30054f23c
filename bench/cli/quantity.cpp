#include "bench/cli/quantity.hpp"

#include <cmath>
#include <cstdio>

namespace sevenloops {
namespace {

// `value` with three digits in all.
std::string three_digits(double value) {
  const double size = std::abs(value);
  return fixed(value, size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}

}  // namespace

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string quantity(double value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "NaN" : "inf";
  const char* const units[] = {"", "k", "M", "G", "T", "P", "E"};
  int unit = 0;
  while (unit < 6 && std::abs(value) >= 999.5) {
    value /= 1000;
    ++unit;
  }
  if (unit == 0 && value == std::floor(value)) return fixed(value, 0);
  return three_digits(value) + units[unit];
}

std::string bytes_text(double bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  int unit = 0;
  while (unit < 6 && bytes >= 1023.5) {
    bytes /= 1024;
    ++unit;
  }
  if (bytes == 0) return "0";
  return fixed(bytes, unit == 0 ? 0 : 1) + " " + units[unit];
}

std::string percent(double fraction) {
  if (!std::isfinite(fraction)) return "-";
  const double value = 100 * fraction;
  return fixed(value, value > 0 && value < 0.995 ? 1 : 0) + " %";
}

std::string times(double ratio) {
  if (!std::isfinite(ratio)) return "-";
  return (ratio < 9.95 ? fixed(ratio, ratio < 0.1 ? 2 : 1) : quantity(std::round(ratio))) + "x";
}

std::string fraction_of_bound(double fraction) {
  if (std::isnan(fraction)) return "NaN";
  if (fraction == 0) return "0";
  if (fraction < 0.0001) return "<0.0001";
  if (fraction >= 9.995) return quantity(fraction);
  return fixed(fraction, fraction < 0.00995 ? 4 : fraction < 0.0995 ? 3 : 2);
}

}  // namespace sevenloops
