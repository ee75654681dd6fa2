#pragma once

#include <concepts>
#include <ostream>
#include <string>
#include <utility>

namespace kopp::testing {

namespace detail {

/// What GoogleTest's AssertionResult can do, so that its header is not needed.
template <typename R>
concept AssertionResult =
    std::constructible_from<R, bool> && requires(R result, const std::string& text) {
      { result << text } -> std::same_as<R&>;
      { result.failure_message() } -> std::convertible_to<const char*>;
    };

}  // namespace detail

/// Whether what a test waited for came to be, and what was seen instead. An assertion prints it:
/// GoogleTest's, and those that print what has an operator<< (Catch2, doctest).
///
///     EXPECT_TRUE(env.EventuallyGone<kopp::Pod>({"default", "web"}));
class [[nodiscard]] Verdict {
 public:
  Verdict() = default;  ///< it came to be
  explicit Verdict(std::string seen) : good_(false), message_(std::move(seen)) {}

  explicit operator bool() const { return good_; }
  [[nodiscard]] const std::string& message() const { return message_; }

  template <detail::AssertionResult R>
  operator R() const {  // NOLINT: meant to convert
    R result(good_);
    result << message_;
    return result;
  }

  friend std::ostream& operator<<(std::ostream& out, const Verdict& verdict) {
    return out << (verdict.good_ ? "it came to be" : verdict.message_);
  }

 private:
  bool good_ = true;
  std::string message_;
};

}  // namespace kopp::testing
