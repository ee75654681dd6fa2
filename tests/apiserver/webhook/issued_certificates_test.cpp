// Tests a Manager that issues the certificates of its webhooks, and an API server that calls them
// over HTTPS.
#include "support/log_recorder.hpp"

#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/dynamic_client.hpp>
#include <kopp/kinds.hpp>
#include <kopp/manager.hpp>
#include <kopp/testing/api_server.hpp>

namespace kopp {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;
using ::testing::HasSubstr;

/// Fixture with a manager whose webhook denies ConfigMaps without a color. Its Service
/// shop/webhooks leads to this machine.
class IssuedCertificatesTest : public ::testing::Test {
 protected:
  static constexpr Kind kConfigurations{"admissionregistration.k8s.io/v1",
                                        "ValidatingWebhookConfiguration",
                                        "validatingwebhookconfigurations", Scope::kCluster};

  IssuedCertificatesTest() {
    client_.Create(Namespace{.metadata = {.name = "shop"}});
    client_.Create<Service>(
        json{{"metadata", {{"name", "webhooks"}, {"namespace", "shop"}}},
             {"spec", {{"type", "ExternalName"}, {"externalName", "localhost"}}}});
    manager_.emplace(Options{.name = "shop-operator",
                             .webhook = {.port = 0,
                                         .host = "127.0.0.1",
                                         .service = "shop/webhooks",
                                         .shutdown_delay = 0s},
                             .log = log_.NewLogger(),
                             .transport = server_.TransportAs("operator")});
    manager_->AddWebhook<ConfigMap>().Validate([](const ConfigMap& map) {
      if (!map.data.contains("color")) throw AdmissionDenied("it has no color");
    });
    runner_ = std::jthread([this](const std::stop_token& stop) { manager_->Run(stop); });
  }
  ~IssuedCertificatesTest() override {
    runner_.request_stop();
    runner_.join();
  }

  /// Creates the configuration, without a caBundle.
  void CreateConfiguration() {
    const int port = std::stoi(log_.Await("\"Serving webhooks\" address=\"127.0.0.1:"));
    const json webhook{{"name", "colors.shop.example.com"},
                       {"admissionReviewVersions", {"v1"}},
                       {"sideEffects", "None"},
                       {"clientConfig",
                        {{"service",
                          {{"namespace", "shop"},
                           {"name", "webhooks"},
                           {"port", port},
                           {"path", "/validate--v1-configmap"}}}}},
                       {"rules",
                        {{{"operations", {"CREATE"}},
                          {"apiGroups", {""}},
                          {"apiVersions", {"v1"}},
                          {"resources", {"configmaps"}}}}}};
    client_.Dynamic(kConfigurations)
        .Create({{"metadata", {{"name", "webhooks.shop"}}}, {"webhooks", {webhook}}});
  }
  /// Expects that the webhook decides about ConfigMaps.
  void ExpectCalled(const std::string& name) {
    const auto create = [&](const StringMap& data) {
      client_.Create(ConfigMap{.metadata = {.name = name, .ns = "default"}, .data = data});
    };
    try {
      create({});
      ADD_FAILURE() << "the webhook was not called";
    } catch (const ApiError& error) {
      EXPECT_THAT(error.what(), HasSubstr("denied the request: it has no color"));
    }
    create({{"color", "red"}});
  }

  testing::ApiServer server_;
  const Client client_{server_.transport(), "test"};
  testing::LogRecorder log_;
  std::optional<Manager> manager_;
  std::jthread runner_;
};

TEST_F(IssuedCertificatesTest, AProgramWithoutCertificateFilesIsCalled) {
  log_.Await("Updated current TLS certificate");
  CreateConfiguration();
  log_.Await("Stored the CA of the webhooks");

  ExpectCalled("a");
}

TEST_F(IssuedCertificatesTest, ADeletedSecretIsReplacedWithoutARestart) {
  CreateConfiguration();
  log_.Await("Stored the CA of the webhooks");
  log_.Await("Updated current TLS certificate");

  client_.Delete<Secret>({"shop", "webhooks-cert"});
  log_.Await("Updated current TLS certificate", 2);
  log_.Await("Stored the CA of the webhooks", 2);

  ExpectCalled("a");
}

TEST_F(IssuedCertificatesTest, AConfigurationThatIsCreatedAgainGetsTheCa) {
  CreateConfiguration();
  log_.Await("Stored the CA of the webhooks");
  log_.Await("Updated current TLS certificate");

  client_.Dynamic(kConfigurations).Delete({"", "webhooks.shop"});
  CreateConfiguration();
  log_.Await("Stored the CA of the webhooks", 2);

  ExpectCalled("a");
}

}  // namespace
}  // namespace kopp
