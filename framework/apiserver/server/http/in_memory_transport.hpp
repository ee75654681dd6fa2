#pragma once

#include "api/response.hpp"
#include "http/server_lifecycle.hpp"
#include "storage/server_context.hpp"

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

/// A Transport that calls the server in the calling thread, without a socket. Injected faults and
/// restarts of the server have the same effects as on a connection, except that all waits are by
/// the server's clock. Thread-safe. The context, the server and the lifecycle must outlive it.
class InMemoryTransport final : public Transport {
 public:
  InMemoryTransport(ServerContext& context, RequestHandler& server, ServerLifecycle& lifecycle,
                    User user, std::string user_agent)
      : context_(context),
        server_(server),
        lifecycle_(lifecycle),
        user_(std::move(user)),
        user_agent_(std::move(user_agent)) {}

  ApiResponse Call(const ApiRequest& request, std::stop_token stop) override;
  std::unique_ptr<Stream> Open(const ApiRequest& request, std::stop_token stop) override;

 private:
  [[nodiscard]] ServerRequest ToServerRequest(const ApiRequest& request) const;
  /// Returns the response when its first byte would arrive. Throws TransportError.
  ServerResponse Exchange(const ApiRequest& request, InMemoryConnection& connection);

  ServerContext& context_;
  RequestHandler& server_;
  ServerLifecycle& lifecycle_;
  const User user_;
  const std::string user_agent_;
};

}  // namespace kopp::apiserver
