#pragma once

#include "net/socket.hpp"
#include "net/tls.hpp"

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include <kopp/transport.hpp>

namespace kopp::detail {

/// The state of one cpprestsdk call, shared by the caller and the threads of cpprestsdk.
/// Thread-safe.
///
/// cpprestsdk has no deadline for a whole call, does not limit the size of a header or chunk, and
/// closes a socket that another thread still uses when a call is cancelled. Therefore the caller
/// supervises the socket in WaitForResponse. To abort a call it shuts the socket down, which is
/// safe for other threads: cpprestsdk then fails and releases the call. Only after that is the call
/// finished.
class CpprestProgress {
 public:
  CpprestProgress(const TransportOptions& options, bool tls) : options_(options), tls_(tls) {}
  CpprestProgress(const CpprestProgress&) = delete;
  CpprestProgress& operator=(const CpprestProgress&) = delete;

  // For the caller. One object serves several calls, one after the other.

  /// Resets the state for a new call. On a reused connection, the call times out at
  /// `silence_deadline` if no byte has arrived until then.
  void StartCall(TimePoint deadline, TimePoint silence_deadline = TimePoint::max());

  /// Blocks until the call is finished. Returns nullopt if the reused connection was closed before
  /// the request was sent. Throws TransportError if the call failed.
  [[nodiscard]] std::optional<ApiResponse> WaitForResponse(const std::stop_token& stop);

  /// Makes WaitForResponse check its stop token. Any thread may call it.
  void Wake();

  /// After a failed call: returns whether it is certain that no byte was sent to the server.
  [[nodiscard]] bool NothingWasSent() const;

  /// After a failed call: returns whether it used a reused connection and received no response
  /// head.
  [[nodiscard]] bool ReusedConnectionWithoutResponse() const;

  /// After a failed call: returns whether it timed out or was cancelled on a reused connection that
  /// had received no byte.
  [[nodiscard]] bool ReusedConnectionWasSilent() const;

  /// Returns when the socket was opened.
  [[nodiscard]] TimePoint opened() const;

  // For the threads of cpprestsdk. AttachReusedSocket and AttachNewSocket throw to prevent the call
  // from using the socket.

  void AttachReusedSocket(int socket);
  void AttachNewSocket(int socket, SSL* session);
  void SetHead(ApiResponse head);
  void SetBody(std::string body);
  void SetBodyComplete();
  void Fail(const TransportError& error);
  /// `message` and `code` come from an exception of cpprestsdk.
  void FailWithCpprestError(std::string_view message, int code);
  void Finish();

 private:
  struct State {
    TimePoint deadline{};
    TimePoint silence_deadline{};
    TimePoint phase_deadline{};  // of connecting, then of the handshake
    TimePoint abandon_at = TimePoint::max();
    std::uint64_t received_before = 0;
    bool reused = false;     // the connection has served an earlier call
    bool silent = false;     // the call was aborted on a reused connection without a byte
    bool stale = false;      // the reused connection is closed or has unread bytes
    bool connecting = true;  // when last checked
    bool has_head = false;
    bool has_body = false;
    bool finished = false;
    ApiResponse response{};
    std::optional<TransportError> error{};
  };
  void AttachSocket(int socket);
  void AbortIfNeeded(const std::stop_token& stop);
  [[nodiscard]] std::optional<TransportError> FindAbortReason(const std::stop_token& stop);
  [[nodiscard]] std::optional<TransportError> CheckPhaseTimeout(bool connecting);
  [[nodiscard]] TransportError ExplainCpprestError(std::string_view message, int code) const;
  [[nodiscard]] bool IsInHandshake() const { return tls_ && !state_.reused && !handshake_.done; }

  const TransportOptions options_;
  const bool tls_;
  mutable std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  State state_;
  TimePoint opened_{};         // the socket
  int original_fd_ = -1;       // cpprestsdk's descriptor of the socket
  FileDescriptor duplicate_;   // stays valid after cpprestsdk closes its descriptor, so that the
                               // shutdown cannot hit another connection
  HandshakeResult handshake_;  // verify_error: only for the handshake thread until it fails
};

}  // namespace kopp::detail
