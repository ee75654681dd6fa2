#pragma once

#include "webhook/certificate_controller.hpp"
#include "webhook/certificate_issuer.hpp"
#include "webhook/webhook_installer.hpp"

#include <functional>
#include <string>

#include <kopp/client.hpp>
#include <kopp/http_server.hpp>

namespace kopp {

/// The options of IssuedCertificates.
struct IssuedCertificatesOptions {
  CertificateIssuerOptions issuer;
  const Client& client;  ///< must outlive the object
  std::function<bool()> is_leader{};
  WebhookInstaller*
      installer{};  ///< must outlive the object; null: configurations are not installed
  /// Called with each new certificate, on the thread of the object.
  std::function<void(const HttpServerTls& certificate)> apply{};
};

/// Certificates that the program issues for its own webhooks. Calls a CertificateIssuer when their
/// Secret or one of their configurations changes, and when a step is due. Each replica has one, so
/// a new certificate is served by all of them within a second.
class IssuedCertificates {
 public:
  /// Starts threads; see CertificateController.
  explicit IssuedCertificates(IssuedCertificatesOptions options);

  /// Does at once what is due. Call it when this replica becomes the leader. Thread-safe.
  void Check() { controller_.Check(); }
  /// See CertificateController::Stop.
  void Stop() { controller_.Stop(); }
  /// See CertificateController::Problem.
  [[nodiscard]] std::string Problem() const { return controller_.Problem(); }

 private:
  [[nodiscard]] CertificateState Reconcile(const Client& client);

  const IssuedCertificatesOptions options_;
  CertificateIssuer issuer_;
  WebhookCertificates applied_;
  CertificateController controller_;  // last: its thread uses everything above
};

}  // namespace kopp
