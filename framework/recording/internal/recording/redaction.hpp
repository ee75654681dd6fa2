#pragma once

#include <map>
#include <string>
#include <string_view>

#include <kopp/workqueue/guarded.hpp>

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

  /// The same for the response to a request with the body `request`. If it is an error whose
  /// message quotes a secret value of the request, that value is replaced.
  [[nodiscard]] std::string RedactResponse(std::string_view target, const std::string& request,
                                           const std::string& response);

  /// Returns `text`, such as that of an exception, with the messages of errors as they are in the
  /// recorded responses.
  [[nodiscard]] std::string RedactText(std::string text) const;

  /// Returns whether the bodies of `target` may have secret values.
  [[nodiscard]] static bool IsSecret(std::string_view target);

 private:
  const std::string key_;
  mutable detail::Guarded<std::map<std::string, std::string>>
      messages_;  // that were replaced, by original
};

/// Returns whether `text` is a placeholder of a Redactor, plain or in Base64.
[[nodiscard]] bool IsRedacted(const std::string& text);

}  // namespace kopp
