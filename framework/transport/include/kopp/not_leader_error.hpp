#pragma once

#include <string>

#include <kopp/transport_error.hpp>

namespace kopp {

/// Thrown by a FencedTransport instead of sending a write, or if a write was cancelled, because
/// this replica may have lost the leader's lease. kind() is kCancelled.
class NotLeaderError : public TransportError {
 public:
  NotLeaderError(const std::string& what, bool sent)
      : TransportError(Kind::kCancelled, what), sent_(sent) {}
  /// False: the API server has not received the write. True: it may or may not have executed it.
  [[nodiscard]] bool sent() const { return sent_; }

 private:
  bool sent_;
};

}  // namespace kopp
