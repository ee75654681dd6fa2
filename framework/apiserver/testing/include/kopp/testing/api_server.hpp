#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <kopp/config.hpp>
#include <kopp/testing/fault.hpp>
#include <kopp/testing/listen_options.hpp>
#include <kopp/testing/service_address.hpp>
#include <kopp/testing/webhook_call.hpp>
#include <kopp/transport.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp::testing {

/// Decides which requests of a user an API server allows.
enum class AuthorizationMode {
  kAlwaysAllow,
  kRbac,  ///< by Roles, ClusterRoles and their bindings. The administrator may do everything.
};

struct ApiServerOptions {
  Clock& clock = Clock::Real();  ///< for timestamps, timeouts and the age of old versions
  std::uint64_t seed = 1;        ///< the same seed gives the same uids, generated names and faults
  /// How long old resourceVersions stay available. A request for an older one gets 410 Gone.
  Duration history = std::chrono::minutes(5);
  AuthorizationMode authorization = AuthorizationMode::kAlwaysAllow;
  /// Rejects owner references that the user has no permission for, as the admission plugin
  /// OwnerReferencesPermissionEnforcement does, which is on in OpenShift: a reference with
  /// blockOwnerDeletion needs `update` on the finalizers of the owner, and changes of the
  /// references of an existing object need `delete` on it. Has no effect without kRbac.
  bool checks_owner_references = false;

  /// Optional. Called for each entry of Requests(), as JSON text, before the response is sent. The
  /// thread that handles the request makes the call, so it must be quick and thread-safe.
  std::function<void(std::string_view)> on_request{};

  /// Optional. Calls the admission webhooks of the stored configurations, instead of HTTPS requests
  /// to their URLs. The thread that handles the write makes the call, and waits for it.
  WebhookCaller call_webhook{};

  /// Where HTTPS requests to the webhooks at Services go. Other Services need a ready endpoint in
  /// an EndpointSlice, or an external name.
  std::vector<ServiceAddress> resolve{};
};

/// A Kubernetes API server in memory, in this process, for tests of operators. It starts within
/// milliseconds and responds as kube-apiserver does. It can inject faults (Inject, Restart). Not
/// for production.
///
///     kopp::testing::ApiServer server;
///     kopp::Client client(server.transport());
///
/// Thread-safe. The server must outlive all clients, transports and managers that use it.
class ApiServer {
 public:
  /// Throws ConfigError if an address in ApiServerOptions::resolve is not valid.
  explicit ApiServer(ApiServerOptions options = {});
  ~ApiServer();
  ApiServer(const ApiServer&) = delete;
  ApiServer& operator=(const ApiServer&) = delete;

  /// Returns a transport to this server without a socket, authenticated as an administrator. The
  /// server owns it.
  [[nodiscard]] Transport& transport();
  /// Same as transport(), authenticated as another user.
  [[nodiscard]] std::unique_ptr<Transport> TransportAs(const std::string& user,
                                                       const std::vector<std::string>& groups = {});
  /// Same as transport(), but restarts and faults, except those of webhooks, do not affect it, and
  /// Requests() does not contain its requests. For a test that inspects the objects of the server.
  [[nodiscard]] std::unique_ptr<Transport> FaultFreeTransport();

  /// Starts to serve HTTP or HTTPS. Call it at most once. Returns the Config of an administrator.
  /// Throws ConfigError if it cannot listen: the text has the address and what to do. Throws
  /// std::logic_error on a second call.
  Config Listen(const ListenOptions& options = {});
  /// Returns the Config of another user, authenticated by a bearer token. Credentials are sent over
  /// TLS only: over plain HTTP each client is the anonymous user. Throws std::logic_error before
  /// Listen.
  [[nodiscard]] Config ConfigFor(const std::string& user,
                                 const std::vector<std::string>& groups = {});
  /// Same as ConfigFor, authenticated by a client certificate. Needs ListenOptions::tls.
  [[nodiscard]] Config ConfigWithCertificate(const std::string& user,
                                             const std::vector<std::string>& groups = {});

  /// Adds a fault. Throws std::invalid_argument for a fault that is not valid; see Fault.
  void Inject(Fault fault);
  /// Removes all faults.
  void ClearFaults();
  /// Behaves as if the server process died and started again after `downtime`: closes all
  /// connections and refuses new ones for that time. The objects are kept. Returns without waiting
  /// for `downtime`.
  void Restart(Duration downtime = {});
  /// Discards the history of all objects: watches and paged lists that continue at an older
  /// resourceVersion get 410 Gone.
  void Compact();

  /// Returns the requests that the server has responded to, oldest first, as audit.k8s.io/v1 Events
  /// of a Kubernetes audit log. Entries of writes contain the request and response bodies. A watch
  /// is logged when it starts. At most the newest 64 MiB are kept.
  [[nodiscard]] std::vector<nlohmann::json> Requests() const;

 protected:
  class Impl;
  explicit ApiServer(std::unique_ptr<Impl> impl);

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace kopp::testing
