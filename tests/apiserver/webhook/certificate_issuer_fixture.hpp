#pragma once

#include "base/base64.hpp"
#include "net/certificate.hpp"
#include "webhook/certificate_issuer.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/dynamic_client.hpp>
#include <kopp/kinds.hpp>
#include <kopp/testing/api_server.hpp>
#include <kopp/testing/fake_clock.hpp>

namespace kopp {

/// An API server with the configuration of the webhooks at the Service shop/webhooks, which have no
/// certificate yet.
class CertificateIssuerTest : public ::testing::Test {
 protected:
  static constexpr Kind kConfigurations{"admissionregistration.k8s.io/v1",
                                        "ValidatingWebhookConfiguration",
                                        "validatingwebhookconfigurations", Scope::kCluster};

  CertificateIssuerTest() {
    client_.Create(Namespace{.metadata = {.name = "shop"}});
    CreateConfiguration({Webhook("/a"), Webhook("/b")});
  }

  static nlohmann::json Webhook(const std::string& path, const std::string& service = "webhooks") {
    return {
        {"name", path.substr(1) + ".shop.example.com"},
        {"admissionReviewVersions", {"v1"}},
        {"sideEffects", "None"},
        {"clientConfig", {{"service", {{"namespace", "shop"}, {"name", service}, {"path", path}}}}},
        {"rules",
         {{{"operations", {"CREATE"}},
           {"apiGroups", {""}},
           {"apiVersions", {"v1"}},
           {"resources", {"configmaps"}}}}}};
  }
  void CreateConfiguration(const std::vector<nlohmann::json>& webhooks) const {
    client_.Dynamic(kConfigurations)
        .Create({{"metadata", {{"name", "webhooks.shop"}}}, {"webhooks", webhooks}});
  }
  [[nodiscard]] nlohmann::json Configuration() const {
    return client_.Dynamic(kConfigurations).Get({"", "webhooks.shop"})->Json();
  }
  /// Returns the CAs that the API server trusts, in PEM.
  [[nodiscard]] static std::string CaBundleOf(const nlohmann::json& configuration, int index = 0) {
    const nlohmann::json& webhook = configuration["webhooks"].at(static_cast<std::size_t>(index));
    return detail::DecodeBase64(webhook["clientConfig"].value("caBundle", "")).value();
  }
  [[nodiscard]] std::string CaBundle(int index = 0) const {
    return CaBundleOf(Configuration(), index);
  }
  /// Stores another caBundle in each webhook, as another program does.
  void ReplaceCaBundle(const std::string& base64) const {
    nlohmann::json configuration = Configuration();
    for (nlohmann::json& webhook : configuration["webhooks"]) {
      webhook["clientConfig"]["caBundle"] = base64;
    }
    client_.Dynamic(kConfigurations).Update(configuration);
  }
  [[nodiscard]] std::optional<Secret> StoredSecret() const {
    return client_.Get<Secret>({"shop", "webhooks-cert"});
  }
  [[nodiscard]] CertificateIssuerOptions IssuerOptions() { return IssuerOptions(clock_); }
  [[nodiscard]] static CertificateIssuerOptions IssuerOptions(Clock& clock) {
    return {.service = {"shop", "webhooks"},
            .configuration_kinds = {&kConfigurations},
            .log = Logger({.write = [](std::string_view) {}}),
            .clock = clock};
  }
  /// Returns why an API server with this caBundle rejects a served certificate at `now`, or "".
  [[nodiscard]] static std::string WhyRejected(const std::string& certificate,
                                               const std::string& ca_bundle, WallTime now) {
    return detail::WhyRejected(detail::ReadCertificates(certificate),
                               detail::ReadCertificates(ca_bundle), {"webhooks.shop.svc"}, now);
  }

  testing::FakeClock clock_{WallTime{std::chrono::seconds(1'700'000'000)}};
  testing::ApiServer server_{{.clock = clock_}};
  const Client client_{server_.transport(), "test"};
};

}  // namespace kopp
