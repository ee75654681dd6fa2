#pragma once

#include "webhook/certificate_rotation.hpp"
#include "webhook/certificate_state.hpp"
#include "webhook/stored_configuration.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <kopp/client.hpp>
#include <kopp/informer/object.hpp>
#include <kopp/kinds.hpp>
#include <kopp/log.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// The field manager of the caBundles.
inline constexpr const char* kCertificateFieldManager = "kopp-webhook-certificates";

/// Returns the Secret with the certificates of the webhooks at `service`.
[[nodiscard]] ObjectKey CertificateSecretOf(const ObjectKey& service);

/// Returns the names at which API servers and other Pods call `service`.
[[nodiscard]] std::vector<std::string> HostsOf(const ObjectKey& service);

/// Returns the certificates in `secret`. Throws ConfigError if the Secret has another type, so that
/// it is not one that kopp has created.
[[nodiscard]] WebhookCertificates CertificatesIn(const Secret& secret);

/// The options of a CertificateIssuer.
struct CertificateIssuerOptions {
  ObjectKey service{};  ///< of the webhooks
  /// The kinds of their configurations, which are constants; see ConfigurationKindsOf.
  std::vector<const Kind*> configuration_kinds{};
  /// Whether the program installs its configurations: one that is absent is then no problem.
  bool installs_configurations = false;
  CertificateLifetimes lifetimes{};
  Logger log{};
  Clock& clock = Clock::Real();  ///< must outlive the issuer
};

/// Issues the certificates of webhooks into their Secret, and stores the CAs in the caBundle of
/// their configurations, of which it owns no other field. Reads everything at each call, and each
/// write requires the resourceVersion that was read, so several replicas may call it at once. Not
/// thread-safe.
class CertificateIssuer {
 public:
  /// The result of Reconcile: the state before it. There is a problem if no certificates can be
  /// used, or a configuration is absent or does not trust them, and an error if a configuration
  /// could not be changed.
  struct State : CertificateState {
    std::optional<WebhookCertificates> certificates{};  ///< nullopt: they cannot be used
  };

  explicit CertificateIssuer(CertificateIssuerOptions options);

  /// Does the next step, if one is due, and returns the state before it. A replica that is not
  /// the leader does only what is urgent: without it, the API server cannot call the webhooks.
  /// Throws as Client does, with IsConflict() or IsAlreadyExists() if another replica was faster;
  /// ConfigError if the Secret is not kopp's.
  State Reconcile(const Client& client, bool is_leader);

 private:
  struct StoredAuthorities {
    std::string authorities{};
    TimePoint at{};
  };
  [[nodiscard]] bool MakeAllTrust(const Client& client,
                                  const std::vector<StoredConfiguration>& configurations,
                                  const WebhookCertificates& stored, bool is_leader, State& state);
  [[nodiscard]] bool StoreAuthorities(const Client& client,
                                      const StoredConfiguration& configuration,
                                      const std::string& authorities);
  void StoreSecret(const Client& client, std::optional<Secret> secret, const CertificateStep& step);

  const CertificateIssuerOptions options_;
  const CertificateRotation rotation_;
  std::map<std::string, StoredAuthorities> stored_;  // by the uid of the configuration
  std::string trusted_authorities_;  // what all configurations had at the last call; "": differed
  TimePoint trusted_since_{};
  std::optional<TimePoint> repaired_at_{};  // the last urgent step
};

}  // namespace kopp
