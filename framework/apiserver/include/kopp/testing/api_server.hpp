#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <kopp/config.hpp>
#include <kopp/testing/fault.hpp>
#include <kopp/transport.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp::testing {

struct ApiServerOptions {
  Clock& clock = Clock::Real();  ///< for timestamps, timeouts and what is kept of the past
  std::uint64_t seed = 1;        ///< of uids, generated names and faults: the same in each run
  Duration history = std::chrono::minutes(5);  ///< a version older than this is gone (410)

  /// Is given each entry of Requests, as JSON, before its answer goes out: by the thread that
  /// answers, so it is quick and safe to call from any.
  std::function<void(std::string_view)> on_request{};
};

struct ListenOptions {
  /// As Go writes it: "127.0.0.1:8080", ":8080" for all addresses of the machine. Port 0: any that
  /// is free.
  std::string address = "127.0.0.1:0";
  bool tls = false;  ///< by an authority of its own, which the Configs name

  std::size_t max_connections = 1000;                   ///< at once
  Duration request_timeout = std::chrono::seconds(10);  ///< for a request to come in whole
  Duration idle_timeout = std::chrono::seconds(90);     ///< for another one to begin
  Duration write_timeout = std::chrono::seconds(10);    ///< for a client to take what it is sent
};

/// A Kubernetes API server in memory, in this process: for tests of operators, and of what they are
/// made of. It starts in milliseconds and behaves as a kube-apiserver does.
///
///     kopp::testing::ApiServer server;
///     kopp::Client client(server.transport());
///
/// It misbehaves when told to (Inject, Restart). Nothing of it goes into production. Safe to use
/// from any thread.
class ApiServer {
 public:
  explicit ApiServer(ApiServerOptions options = {});
  ~ApiServer();
  ApiServer(const ApiServer&) = delete;
  ApiServer& operator=(const ApiServer&) = delete;

  /// To this server without a socket, as an administrator. Lives as long as the server.
  [[nodiscard]] Transport& transport();
  /// The same as another user. The server outlives it.
  [[nodiscard]] std::unique_ptr<Transport> TransportAs(const std::string& user,
                                                       const std::vector<std::string>& groups = {});
  /// As transport(), but no fault and no restart befalls it, and what it asks is not in Requests:
  /// for a test that looks at what others do. The server outlives it.
  [[nodiscard]] std::unique_ptr<Transport> TransportPastFaults();

  /// Serves HTTP, or HTTPS, from now on, once; returns how an administrator reaches it. Throws
  /// ConfigError, with the address and what to do, where it cannot listen.
  Config Listen(const ListenOptions& options = {});
  /// How somebody else reaches it, after Listen: by a bearer token of their own. Credentials travel
  /// over TLS only: over plain HTTP everyone is anonymous, who may do everything too.
  [[nodiscard]] Config ConfigFor(const std::string& user,
                                 const std::vector<std::string>& groups = {});
  /// The same by a client certificate; only over TLS.
  [[nodiscard]] Config ConfigWithCertificate(const std::string& user,
                                             const std::vector<std::string>& groups = {});

  void Inject(Fault fault);
  void ClearFaults();
  /// As if the server's process died and came back `closed` later: all connections are cut, new
  /// ones refused until then. The objects stay. Returns at once.
  void Restart(Duration closed = {});
  /// Forgets the past: watches and pages of any version until now get 410.
  void Compact();

  /// What was asked so far, the newest 64 MiB of it, in the form of a Kubernetes audit log:
  /// audit.k8s.io/v1 Events, those of writes with what was sent and what was answered. A watch is
  /// told when it begins, not when it ends.
  [[nodiscard]] std::vector<nlohmann::json> Requests() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kopp::testing
