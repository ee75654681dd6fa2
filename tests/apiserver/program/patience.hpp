#pragma once

#include "child.hpp"

#include <chrono>
#include <functional>
#include <stdexcept>

namespace kopp::apiserver {

constexpr Duration kPatience = std::chrono::seconds(20);

/// Until `holds`. Throws, so that the test fails, when that takes too long; with a `child`, also
/// when it ends before that.
inline void AwaitThat(const Signals& signals, Child* child, const std::function<bool()>& holds) {
  const TimePoint deadline = Clock::Real().Now() + kPatience;
  while (!holds()) {
    if (child != nullptr && child->code() && !holds()) throw std::runtime_error("it has ended");
    if (Clock::Real().Now() >= deadline) throw std::runtime_error("it takes too long");
    static_cast<void>(signals.Wait(std::chrono::milliseconds(1)));
  }
}

/// The exit code of `child`, once it has ended.
inline int AwaitCode(const Signals& signals, Child& child) {
  AwaitThat(signals, nullptr, [&] { return child.code().has_value(); });
  return *child.code();
}

}  // namespace kopp::apiserver
