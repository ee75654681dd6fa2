#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include <kopp/not_leader_error.hpp>
#include <kopp/transport.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// Knows until when writes of the leader are safe: while no other replica can hold the lease.
///
/// A LeaderElector opens the fence when it becomes leader, for
/// LeaderElectionOptions::renew_deadline from the moment at which it *sent* the request that
/// acquired or renewed the lease, and moves that time with each renewal. Another replica waits for
/// the longer lease_duration after it has *seen* the renewal. The difference (5 s by default)
/// covers clocks that run at different rates, and requests that are still on their way when the
/// fence closes.
///
/// Thread-safe, except that one thread at a time calls Open, Extend and Close.
class WriteFence {
 public:
  /// `clock` must outlive the fence. Clock::Real() is replaced by BootTimeClock(): the fence also
  /// closes while the machine or the process is suspended. The fence is closed.
  explicit WriteFence(Clock& clock = Clock::Real());
  ~WriteFence();
  WriteFence(const WriteFence&) = delete;
  WriteFence& operator=(const WriteFence&) = delete;

  /// Opens the fence until `until`. Returns a token that is stopped when the fence closes, by a
  /// thread of the fence. Throws std::system_error if that thread cannot be started.
  std::stop_token Open(TimePoint until);
  /// Moves the time at which the fence closes. Returns false, and changes nothing, if it is closed.
  bool Extend(TimePoint until);
  /// Closes the fence now.
  void Close();

  /// Returns whether a write may be sent at this moment.
  [[nodiscard]] bool IsOpen() const;
  /// Returns the token that Open has returned, or nullopt if the fence is closed.
  [[nodiscard]] std::optional<std::stop_token> OpenToken() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// A Transport that sends writes only while a WriteFence is open. Reads (GET and HEAD) always pass.
///
///     const Client leader_client{*std::make_shared<FencedTransport>(transport, fence)};
///
/// The fence is checked when Call is called and again immediately before each try is sent (see
/// ApiRequest::before_send), so that a write that has waited for a retry, a rate limit or a
/// connection is not sent after the fence has closed. A write without a response is cancelled when
/// the fence closes; the kernel then drops what it has not sent yet. A request that has left this
/// machine cannot be recalled.
///
/// Throws NotLeaderError for a write that was not sent or was cancelled. Thread-safe.
class FencedTransport final : public Transport {
 public:
  /// `fence` must outlive the transport. `next` must call ApiRequest::before_send, as all
  /// transports of kopp do.
  FencedTransport(std::shared_ptr<Transport> next, const WriteFence& fence);

  ApiResponse Call(const ApiRequest& request, std::stop_token stop = {}) override;
  /// Opens a stream. A stream that is not a read is only checked before it is opened.
  std::unique_ptr<Stream> Open(const ApiRequest& request, std::stop_token stop = {}) override;

 private:
  const std::shared_ptr<Transport> next_;
  const WriteFence& fence_;
};

}  // namespace kopp
