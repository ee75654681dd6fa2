#pragma once

#include <exception>
#include <string>

namespace kopp::detail {

/// Records where this thread throws exceptions, as long as the object lives, if the program links
/// kopp::backtraces. An object that is not enabled does nothing. They must not be nested.
class ThrowTrace {
 public:
  explicit ThrowTrace(bool enabled);
  ~ThrowTrace();
  ThrowTrace(const ThrowTrace&) = delete;
  ThrowTrace& operator=(const ThrowTrace&) = delete;

  /// Returns the calls that led to `error`, one in a line, the innermost first. `addr2line` finds
  /// the line of each: "Reconcile(Foo const&)+0x1c (my-operator+0x5af0)". Returns "" if the last
  /// exception that was thrown is another one.
  [[nodiscard]] static std::string Of(const std::exception& error);
};

/// kopp::backtraces calls it before an exception is thrown.
void OnThrow(const void* exception) noexcept;

}  // namespace kopp::detail
