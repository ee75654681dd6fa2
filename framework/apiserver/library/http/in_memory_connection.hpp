#pragma once

#include "http/server_lifecycle.hpp"

#include <condition_variable>
#include <functional>
#include <stop_token>
#include <string>

#include <kopp/transport.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::apiserver {

/// Stands in for the connection of one request: it breaks when the server's run ends or when its
/// stop token is requested to stop. Used by one thread, except for Wake. The clock must outlive it.
class InMemoryConnection {
 public:
  InMemoryConnection(Clock& clock, const ServerLifecycle& lifecycle, const ApiRequest& request,
                     std::stop_token stop);

  /// Throws `error` with the request's method and target in front.
  [[noreturn]] void Fail(const TransportError& error) const;
  /// Throws if a stop was requested; throws `error` if the server's run has ended.
  void Check(const TransportError& error) const;

  /// Ends the current WaitUntil, or the next one unless ResetWake is called before it. Thread-safe.
  void Wake();
  /// Forgets earlier calls of Wake. Call it before reading the state that a wait is for.
  void ResetWake() { wake_.Lock()->requested = false; }
  /// Blocks until Wake, until Check would throw, or until `deadline`.
  void WaitUntil(TimePoint deadline);
  /// Blocks for `duration`. Throws as Check does.
  void Sleep(Duration duration, const TransportError& error);

 private:
  struct WakeState {
    bool requested = false;
  };

  Clock& clock_;
  const std::string request_;  // "GET /path: ", for errors
  const std::stop_token stop_;
  const std::stop_token run_;
  detail::Guarded<WakeState> wake_;
  std::condition_variable changed_;
  std::stop_callback<std::function<void()>> on_stop_;
  std::stop_callback<std::function<void()>> on_run_end_;
};

}  // namespace kopp::apiserver
