#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// The certificates that a program issues for its own webhooks, in PEM: what their Secret stores.
struct WebhookCertificates {
  /// ca.crt: the CAs that API servers must trust. The first one is the newest; it issues.
  std::string authorities{};
  std::string authority_key{};  ///< ca.key: of the newest CA
  std::string certificate{};    ///< tls.crt: the certificate that the webhooks are served with
  std::string key{};            ///< tls.key

  friend bool operator==(const WebhookCertificates&, const WebhookCertificates&) = default;
};

/// How long certificates are valid. A certificate is replaced after two thirds of its life.
struct CertificateLifetimes {
  std::chrono::seconds authority = std::chrono::years(5);
  std::chrono::seconds certificate = std::chrono::days(90);
  /// The time after which each API server uses a caBundle that is stored. They watch the
  /// configurations and do not confirm what they use.
  std::chrono::seconds propagation = std::chrono::minutes(2);
};

/// The next step of a rotation.
struct CertificateStep {
  std::optional<WebhookCertificates>
      next{};            ///< to be stored instead; nullopt: nothing before `at`
  std::string reason{};  ///< why: "the certificate is due for renewal"
  /// API servers reject the certificate until the step is done, or soon will. Any replica may do
  /// an urgent step.
  bool is_urgent = false;
  bool is_usable = false;  ///< API servers that trust the CAs accept the current certificate
  WallTime at{};           ///< the next time at which there may be something to be done
};

/// Decides when certificates are replaced, and issues them: P-256 keys and random serial numbers.
/// Each step is a function of what is stored, so another replica may do it after a crash.
///
/// A CA is replaced in three steps, so that each API server trusts each served certificate:
/// 1. A new CA is trusted besides the old one. It issues nothing yet.
/// 2. When all configurations have had both CAs for CertificateLifetimes::propagation, the new CA
///    issues a certificate. Replicas that do not know it serve the old one.
/// 3. When the last certificate of the old CA has expired, the old CA is removed.
class CertificateRotation {
 public:
  /// The certificates are valid for `hosts`, at least one.
  explicit CertificateRotation(std::vector<std::string> hosts, CertificateLifetimes lifetimes = {});

  /// Returns the next step at `now`. `trusted_for`: how long all configurations have had
  /// current.authorities; nullopt: they have not. Throws std::runtime_error if OpenSSL fails.
  [[nodiscard]] CertificateStep Next(const WebhookCertificates& current,
                                     std::optional<Duration> trusted_for, WallTime now) const;

  [[nodiscard]] const std::vector<std::string>& hosts() const { return hosts_; }

 private:
  const std::vector<std::string> hosts_;
  const CertificateLifetimes lifetimes_;
};

}  // namespace kopp
