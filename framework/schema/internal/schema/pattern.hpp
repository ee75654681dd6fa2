#pragma once

#include <memory>
#include <string_view>

namespace re2 {
class RE2;
}

namespace kopp::schema {

/// A regular expression in RE2 syntax, which is also the syntax of Go's regexp package. Matching
/// takes time linear in the length of the text. Patterns and texts of untrusted clients are
/// therefore safe. Thread-safe; copies share the compiled expression.
class Pattern {
 public:
  enum class Case {
    kSensitive,
    kInsensitive,  ///< ignores the case of ASCII letters; bytes above 0x7f are not decoded
  };

  /// Throws std::invalid_argument, with the message of Go's regexp package, if `expression` is
  /// not valid.
  explicit Pattern(std::string_view expression, Case letter_case = Case::kSensitive);

  /// Returns whether the whole of `text` matches.
  [[nodiscard]] bool FullMatch(std::string_view text) const;
  /// Returns whether any part of `text` matches.
  [[nodiscard]] bool PartialMatch(std::string_view text) const;

 private:
  std::shared_ptr<const re2::RE2> regex_;
};

}  // namespace kopp::schema
