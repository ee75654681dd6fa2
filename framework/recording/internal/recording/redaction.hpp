#pragma once

#include <string>
#include <string_view>

namespace kopp {

/// Replaces the secret values in requests and responses: `data`, `stringData` and the annotation of
/// kubectl apply of Secrets, and the tokens of TokenRequests and TokenReviews. Thread-safe.
///
/// A value becomes "redacted-" and 16 hexadecimal digits, in Base64 in the field `data`. Equal
/// values have the same placeholder, so that a replay can compare them. The digits are a hash with
/// a random key that is not stored: nobody can find a value by hashing guesses.
class Redactor {
 public:
  /// Draws the key.
  Redactor();

  /// Returns the body of a request to `target`, or of its response, without secret values. A body
  /// that may have some and is not valid JSON is replaced as a whole.
  [[nodiscard]] std::string Redact(std::string_view target, const std::string& body) const;

  /// Returns whether the bodies of `target` may have secret values.
  [[nodiscard]] static bool IsSecret(std::string_view target);

 private:
  const std::string key_;
};

/// Returns whether `text` is a placeholder of a Redactor, plain or in Base64.
[[nodiscard]] bool IsRedacted(const std::string& text);

}  // namespace kopp
