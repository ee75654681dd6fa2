#pragma once

#include "socket.hpp"
#include "tls.hpp"

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include <kopp/transport.hpp>

namespace kopp::detail {

/// One call by cpprestsdk, as the caller and cpprestsdk's threads see it.
///
/// cpprestsdk has no deadline for a call in all, bounds neither a header nor a chunk, and when told
/// to cancel closes a socket under the hands of the thread that uses it. So the caller looks after
/// the socket itself, and where there is reason to give up shuts it down, which harms nobody:
/// cpprestsdk fails then and lets go of the call. Only when it has is the call over.
class RestProgress {
 public:
  RestProgress(const TransportOptions& options, bool tls) : options_(options), tls_(tls) {}
  RestProgress(const RestProgress&) = delete;
  RestProgress& operator=(const RestProgress&) = delete;

  // For the caller; one call after the other.

  void Begin(TimePoint deadline);

  /// Blocks until the call is over. nullopt: its kept connection was closed, and nothing was sent.
  [[nodiscard]] std::optional<Response> Await(const std::stop_token& stop);

  /// Lets Await look at its stop token. From any thread.
  void Wake();

  /// Whether the server cannot have seen anything of a call that failed.
  [[nodiscard]] bool Unsent() const;

  /// Whether a call that failed had a kept connection and no answer.
  [[nodiscard]] bool WasKeptAndUnanswered() const;

  // For cpprestsdk's threads. The first two throw to keep the call from using the socket.

  void AdoptKept(int socket);
  void AdoptNew(int socket, SSL* session);
  void TakeHead(Response head);
  void TakeBody(std::string body);
  void Complete();
  void Fail(const TransportError& error);
  void FailAt(std::string_view step, int code);  ///< in its own words, and its error code
  void End();

 private:
  struct State {
    TimePoint deadline{};
    TimePoint phase_deadline{};  // of connecting, then of the handshake
    TimePoint abandon_at = TimePoint::max();
    std::uint64_t received_before = 0;
    bool kept = false;       // the connection had served a call before
    bool stale = false;      // and was closed since
    bool connecting = true;  // as far as was looked
    bool head = false;
    bool complete = false;
    bool ended = false;
    Response response{};
    std::optional<TransportError> error{};
  };
  void Adopt(int socket);
  void Supervise(const std::stop_token& stop);
  [[nodiscard]] std::optional<TransportError> ReasonToGiveUp(const std::stop_token& stop);
  [[nodiscard]] std::optional<TransportError> LateForItsPhase(bool connecting);
  [[nodiscard]] TransportError Explained(std::string_view step, int code) const;
  [[nodiscard]] bool IsShakingHands() const { return tls_ && !state_.kept && !report_.done; }

  const TransportOptions options_;
  const bool tls_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  State state_;
  int number_ = -1;         // of the descriptor that socket_ duplicates
  Descriptor socket_;       // ours, so that shutting it down never meets another's connection
  HandshakeReport report_;  // its text: of the thread that shakes hands, until that failed
};

}  // namespace kopp::detail
