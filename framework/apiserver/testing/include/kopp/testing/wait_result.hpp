#pragma once

#include <concepts>
#include <ostream>
#include <string>
#include <utility>

namespace kopp::testing {

namespace detail {

/// A type with the interface of GoogleTest's AssertionResult. Avoids a dependency on GoogleTest.
template <typename R>
concept AssertionResult =
    std::constructible_from<R, bool> && requires(R result, const std::string& text) {
      { result << text } -> std::same_as<R&>;
      { result.failure_message() } -> std::convertible_to<const char*>;
    };

}  // namespace detail

/// The result of Environment::Eventually or Recording::Replay: success, or failure with a message.
/// It converts to bool and to GoogleTest's AssertionResult, and has an operator<<, so that
/// assertions of GoogleTest, Catch2 and doctest print the message.
///
///     EXPECT_TRUE(env.EventuallyGone<kopp::Pod>({"default", "web"}));
class [[nodiscard]] WaitResult {
 public:
  /// Creates a success.
  WaitResult() = default;
  /// Creates a failure with this message.
  explicit WaitResult(std::string message) : success_(false), message_(std::move(message)) {}

  /// Returns whether this is a success.
  explicit operator bool() const { return success_; }
  /// Returns the message of a failure, or "" on success.
  [[nodiscard]] const std::string& message() const { return message_; }

  template <detail::AssertionResult R>
  operator R() const {  // NOLINT: implicit on purpose, for EXPECT_TRUE
    R result(success_);
    result << message_;
    return result;
  }

  friend std::ostream& operator<<(std::ostream& out, const WaitResult& result) {
    return out << (result.success_ ? "success" : result.message_);
  }

 private:
  bool success_ = true;
  std::string message_;
};

}  // namespace kopp::testing
