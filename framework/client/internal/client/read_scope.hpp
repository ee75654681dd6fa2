#pragma once

#include <stop_token>
#include <utility>

namespace kopp {

/// While it exists, the reads of caches on this thread that wait end with an exception when `stop`
/// is requested: those of a reconcile end with its API calls. Scopes may be nested; the innermost
/// applies.
class ReadScope {
 public:
  explicit ReadScope(std::stop_token stop) : outer_(std::exchange(current, std::move(stop))) {}
  ~ReadScope() { current = std::move(outer_); }
  ReadScope(const ReadScope&) = delete;
  ReadScope& operator=(const ReadScope&) = delete;

  /// Returns the token of this thread; outside of all scopes, it is never stopped.
  [[nodiscard]] static const std::stop_token& stop() { return current; }

 private:
  inline static thread_local std::stop_token current{};
  std::stop_token outer_;
};

}  // namespace kopp
