#pragma once

#include <regex>
#include <string>

namespace kopp::apiserver {

/// A regular expression for text of clients, in the dialect of ECMAScript. It needs no more stack
/// for a long text than for a short one. Safe to use from any thread.
class Pattern {
 public:
  enum class Letters { kAsTheyAre, kOfBothCases };

  /// Throws std::invalid_argument where `text` is none, or a longer one than it can follow.
  explicit Pattern(const std::string& text, Letters letters = Letters::kAsTheyAre);

  /// Whether `text` is of the form, from its beginning to its end.
  [[nodiscard]] bool IsAllOf(const std::string& text) const;
  /// Whether a part of it is.
  [[nodiscard]] bool IsIn(const std::string& text) const;

 private:
  std::regex regex_;
};

}  // namespace kopp::apiserver
