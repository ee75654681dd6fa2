// Tests a Manager that issues the certificates of its webhooks, and an API server that calls them
// over HTTPS.
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
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
                             .log = Logger({.write = [this](std::string_view line) { Log(line); }}),
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

  void Log(std::string_view line) {
    {
      const std::lock_guard guard{mutex_};
      log_ += line;
    }
    logged_.notify_all();
  }
  /// Blocks until the log has `text` `count` times. Returns what follows the last of them.
  std::string AwaitLog(const std::string& text, int count = 1) {
    std::unique_lock lock{mutex_};
    std::size_t end = 0;
    logged_.wait(lock, [&] {
      end = 0;
      for (int i = 0; i < count; ++i) {
        const auto found = log_.find(text, end);
        if (found == std::string::npos) return false;
        end = found + text.size();
      }
      return true;
    });
    return log_.substr(end);
  }
  /// Creates the configuration, without a caBundle.
  void CreateConfiguration() {
    const int port = std::stoi(AwaitLog("\"Serving webhooks\" address=\"127.0.0.1:"));
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
  std::mutex mutex_;
  std::condition_variable logged_;
  std::string log_;
  std::optional<Manager> manager_;
  std::jthread runner_;
};

TEST_F(IssuedCertificatesTest, AProgramWithoutCertificateFilesIsCalled) {
  AwaitLog("Updated current TLS certificate");
  CreateConfiguration();
  AwaitLog("Stored the CA of the webhooks");

  ExpectCalled("a");
}

TEST_F(IssuedCertificatesTest, ADeletedSecretIsReplacedWithoutARestart) {
  CreateConfiguration();
  AwaitLog("Stored the CA of the webhooks");
  AwaitLog("Updated current TLS certificate");

  client_.Delete<Secret>({"shop", "webhooks-cert"});
  AwaitLog("Updated current TLS certificate", 2);
  AwaitLog("Stored the CA of the webhooks", 2);

  ExpectCalled("a");
}

TEST_F(IssuedCertificatesTest, AConfigurationThatIsCreatedAgainGetsTheCa) {
  CreateConfiguration();
  AwaitLog("Stored the CA of the webhooks");
  AwaitLog("Updated current TLS certificate");

  client_.Dynamic(kConfigurations).Delete({"", "webhooks.shop"});
  CreateConfiguration();
  AwaitLog("Stored the CA of the webhooks", 2);

  ExpectCalled("a");
}

}  // namespace
}  // namespace kopp
