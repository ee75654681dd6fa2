#pragma once

#include "child.hpp"
#include "support/hang_timeout.hpp"

#include <chrono>
#include <functional>
#include <stdexcept>

namespace kopp::apiserver {

/// Blocks until `condition` returns true. Throws std::runtime_error, so that the test fails, after
/// kHangTimeout, and if `child`, unless it is null, exits before the condition is true.
inline void WaitUntil(const Signals& signals, Child* child,
                      const std::function<bool()>& condition) {
  const TimePoint deadline = Clock::Real().Now() + testing::kHangTimeout;
  while (!condition()) {
    if (child != nullptr && child->exit_code() && !condition()) {
      throw std::runtime_error("the child process exited before the condition was true");
    }
    if (Clock::Real().Now() >= deadline) {
      throw std::runtime_error("timeout: the condition did not become true");
    }
    static_cast<void>(signals.Wait(std::chrono::milliseconds(1)));
  }
}

/// Blocks until `child` exits. Returns its exit code.
inline int WaitForExit(const Signals& signals, Child& child) {
  WaitUntil(signals, nullptr, [&] { return child.exit_code().has_value(); });
  return *child.exit_code();
}

}  // namespace kopp::apiserver
