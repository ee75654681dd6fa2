#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <kopp/client.hpp>
#include <kopp/informer/object.hpp>
#include <kopp/webhook/webhook_builder.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// cert-manager stores its CA in configurations with one of the annotations with this prefix.
inline constexpr const char* kInjectCa = "cert-manager.io/inject-";

/// A webhook configuration as the API server stores it, with its webhooks at one Service.
struct StoredConfiguration {
  const Kind* kind{};
  std::string name{};
  ObjectKey service{};
  nlohmann::json object{};                 ///< null: there is no configuration
  std::vector<nlohmann::json> webhooks{};  ///< those that lead to `service`

  /// Returns the kind and the quoted name.
  [[nodiscard]] std::string Description() const;
  /// Returns whether cert-manager stores its CA in the configuration.
  [[nodiscard]] bool IsOfCertManager() const;
  /// Returns whether each webhook has this caBundle, in Base64.
  [[nodiscard]] bool Has(const std::string& ca_bundle) const;
  /// Returns why API servers cannot call a webhook of the configuration, in a sentence; "" if they
  /// can. `certificate` is the served chain in PEM. If it cannot be read, it is not verified.
  [[nodiscard]] std::string WhyUncallable(const std::string& certificate, WallTime now) const;
  /// Returns a sentence for each of `expected` that is not stored, or one if the configuration is
  /// absent.
  [[nodiscard]] std::vector<std::string> MissingWebhooks(
      const std::vector<KindWebhook>& expected) const;

 private:
  [[nodiscard]] std::string AbsenceProblem() const;
};

/// Reads the configurations of the webhooks at `service`, one of each of `kinds`. Throws as Client
/// does.
[[nodiscard]] std::vector<StoredConfiguration> ReadConfigurations(
    const Client& client, const std::vector<const Kind*>& kinds, const ObjectKey& service);

/// Returns whether `pem` has certificates, and each of them can be read.
[[nodiscard]] bool HasCertificates(const std::string& pem);

}  // namespace kopp
