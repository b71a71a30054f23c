#pragma once
// The one error type of the project: bad input, told in one sentence.

#include <stdexcept>
#include <string>

namespace sevenloops {

/// Thrown for every input that cannot be accepted. `what()` is one sentence that names the field,
/// the value it had, and the rule it broke: "stride_h is 0, but must be at least 1".
class Error : public std::runtime_error {
 public:
  /// A complete sentence, for errors that are not about one field.
  explicit Error(const std::string& sentence) : std::runtime_error(sentence) {}

  /// `field` had `value`; `rule` completes "but must ...".
  Error(const std::string& field, const std::string& value, const std::string& rule)
      : std::runtime_error(field + " is " + value + ", but must " + rule) {}

  /// The same for an integer value.
  Error(const std::string& field, long long value, const std::string& rule)
      : Error(field, std::to_string(value), rule) {}
};

}  // namespace sevenloops
