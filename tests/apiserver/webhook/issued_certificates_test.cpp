// Tests a Manager that issues the certificates of its webhooks, and an API server that calls them
// over HTTPS.
#include "base/base64.hpp"
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
    Start(NewOptions());
  }
  ~IssuedCertificatesTest() override { Stop(); }

  [[nodiscard]] Options NewOptions() {
    return {.name = "shop-operator",
            .webhook = {.port = 0,
                        .host = "127.0.0.1",
                        .service = "shop/webhooks",
                        .shutdown_delay = 0s},
            .log = log_.NewLogger(),
            .transport = server_.TransportAs("operator")};
  }
  Manager& NewManager(const Options& options) {
    Manager& manager = manager_.emplace(options);
    manager.AddWebhook<ConfigMap>().Validate([](const ConfigMap& map) {
      if (!map.data.contains("color")) throw AdmissionDenied("it has no color");
    });
    return manager;
  }
  void Start(const Options& options) {
    Manager& manager = NewManager(options);
    runner_ = std::jthread([&manager](const std::stop_token& stop) { manager.Run(stop); });
  }
  void Stop() {
    runner_.request_stop();
    if (runner_.joinable()) runner_.join();
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

TEST_F(IssuedCertificatesTest, TheLeaderInstallsTheConfigurationsThatItPrints) {
  CreateConfiguration();
  log_.Await("Stored the CA of the webhooks");
  Stop();

  Options options = NewOptions();
  options.webhook.install = true;
  Start(options);
  log_.Await("Installed the webhook configurations");

  const json webhooks =
      client_.Dynamic(kConfigurations).Get({"", "webhooks.shop"})->At("/webhooks");
  ASSERT_EQ(webhooks.size(), 1);
  EXPECT_EQ(webhooks[0]["name"], "validate.v1.configmaps.core");
  EXPECT_EQ(
      webhooks[0]["clientConfig"]["caBundle"],
      detail::EncodeBase64(client_.Get<Secret>({"shop", "webhooks-cert"})->data["ca.crt"].data));
}

TEST_F(IssuedCertificatesTest, UninstallDeletesTheConfigurationsAndExits) {
  CreateConfiguration();
  Stop();

  Options options = NewOptions();
  options.action = Options::Action::kUninstallWebhooks;
  EXPECT_EQ(NewManager(options).Run(std::stop_token()), 0);
  EXPECT_EQ(client_.Dynamic(kConfigurations).Get({"", "webhooks.shop"}), std::nullopt);

  server_.Inject({.verb = "delete"});
  EXPECT_EQ(NewManager(options).Run(std::stop_token()), 1);
  log_.Await("Cannot delete the webhook configurations");
}

}  // namespace
}  // namespace kopp
