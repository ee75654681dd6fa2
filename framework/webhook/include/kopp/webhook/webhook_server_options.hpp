#pragma once

#include <chrono>
#include <string>

#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// How a Manager serves webhooks. The API server accepts only HTTPS.
struct WebhookServerOptions {
  int port = 9443;     ///< --webhook-port; -1: webhooks are not served
  std::string host{};  ///< the address to listen at; empty: all addresses

  /// --webhook-cert-path: the folder of the certificate, which cert-manager or a mounted Secret
  /// provides. The files are read again every 10 seconds. Empty: the program issues certificates
  /// into the Secret SERVICE-cert in the namespace of the Service, renews them, and stores its CA
  /// in the caBundle of the configurations.
  std::string cert_path{};
  std::string cert_name = "tls.crt";  ///< --webhook-cert-name: PEM, the leaf first
  std::string cert_key = "tls.key";   ///< --webhook-cert-key: PEM
  /// --webhook-client-ca-name: a file in `cert_path`, in PEM. If set, only clients with a
  /// certificate of one of these CAs can connect; a change is used as that of the certificate is.
  /// kube-apiserver must be configured to present one. controller-runtime:
  /// webhook.Options.ClientCAName.
  std::string client_ca_name{};

  /// --webhook-service: the Service of the webhooks as NAMESPACE/NAME; empty:
  /// PROGRAM-webhook-service in the namespace of the Pod. Both configurations have the name
  /// NAME.NAMESPACE. With `cert_path`, the configurations are read only if it is set.
  std::string service{};
  /// --install-webhooks: the leader creates and updates the configurations, after the Service has a
  /// ready endpoint.
  bool install = false;
  /// --webhook-cert-manager: --print-webhooks also prints a Certificate of cert-manager and its
  /// issuer, and cert-manager adds the CA to the configurations.
  bool cert_manager = false;

  /// --webhook-shutdown-delay: how long webhooks are served after a stop request. The Pod is not
  /// ready from the stop request on, but API servers and load balancers notice this a little later.
  /// Then running requests are answered. It is a part of Options::graceful_shutdown_timeout.
  Duration shutdown_delay = std::chrono::seconds(10);
};

}  // namespace kopp
