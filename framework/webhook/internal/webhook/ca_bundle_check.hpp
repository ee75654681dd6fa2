#pragma once

#include "webhook/certificate_controller.hpp"
#include "webhook/webhook_installer.hpp"

#include <string>
#include <vector>

#include <kopp/client.hpp>
#include <kopp/informer/object.hpp>
#include <kopp/log.hpp>
#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {

/// The options of a CaBundleCheck.
struct CaBundleCheckOptions {
  ObjectKey service{};  ///< of the webhooks
  /// The kinds of their configurations, which are constants; see ConfigurationKindsOf.
  std::vector<const Kind*> configuration_kinds{};
  const Client& client;  ///< must outlive the check
  WebhookInstaller*
      installer{};  ///< must outlive the check; null: configurations are not installed
  Logger log{};
  Clock& clock = Clock::Real();  ///< must outlive the check
};

/// Checks whether the API server can call webhooks whose certificate comes from files: verifies the
/// certificate against the caBundles of their configurations, when one of them changes. A failure
/// to read a configuration is no reason against calls: it is logged, and the former result stays.
class CaBundleCheck {
 public:
  /// `certificate`: the served chain in PEM. Starts threads; see CertificateController.
  CaBundleCheck(CaBundleCheckOptions options, const std::string& certificate);

  /// Checks at once. Call it when this replica becomes the leader. Thread-safe.
  void Check() { controller_.Check(); }
  /// Sets the chain that the webhooks are served with from now on. Thread-safe.
  void SetCertificate(const std::string& certificate);
  /// See CertificateController::Stop.
  void Stop() { controller_.Stop(); }
  /// See CertificateController::Problem.
  [[nodiscard]] std::string Problem() const { return controller_.Problem(); }

 private:
  [[nodiscard]] CertificateState Reconcile(const Client& client);

  const CaBundleCheckOptions options_;
  detail::Guarded<std::string> certificate_;
  CertificateController controller_;  // last: its thread uses everything above
};

}  // namespace kopp
