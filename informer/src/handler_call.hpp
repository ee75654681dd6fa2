#pragma once

#include "handler_queue.hpp"

#include <utility>

namespace kopp::informer::detail {

/// While it exists, this thread calls a handler with `event`. Calls may be nested.
class HandlerCall {
 public:
  /// `event` must outlive the object.
  explicit HandlerCall(const HandlerEvent& event) : outer_(std::exchange(current, &event)) {}
  ~HandlerCall() { current = outer_; }
  HandlerCall(const HandlerCall&) = delete;
  HandlerCall& operator=(const HandlerCall&) = delete;

  /// Returns the event of the innermost call; null outside of calls.
  [[nodiscard]] static const HandlerEvent* Current() { return current; }

 private:
  inline static thread_local const HandlerEvent* current = nullptr;
  const HandlerEvent* outer_;
};

}  // namespace kopp::informer::detail
