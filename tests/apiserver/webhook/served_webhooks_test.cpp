// Tests an API server that calls the webhooks of a Manager over HTTPS.
#include "base/base64.hpp"
#include "support/certificates.hpp"
#include "support/log_recorder.hpp"
#include "support/scratch_folder.hpp"

#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/kinds.hpp>
#include <kopp/manager.hpp>
#include <kopp/testing/api_server.hpp>

namespace kopp {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;
using ::testing::HasSubstr;

/// Fixture with a manager whose webhook denies ConfigMaps without a color. Its certificate is for
/// the Service shop/webhooks.
class ServedWebhooksTest : public ::testing::Test {
 protected:
  ServedWebhooksTest() {
    const testing::CertificateAndKey identity =
        authority_.Issue({.subject_alt_names = "DNS:webhooks.shop.svc"});
    folder_.Write("tls.crt", identity.certificate);
    folder_.Write("tls.key", identity.key);
    manager_.emplace(Options{.name = "shop-operator",
                             .webhook = {.port = 0,
                                         .host = "127.0.0.1",
                                         .cert_path = (folder_ / "").string(),
                                         .service = "shop/webhooks",
                                         .shutdown_delay = 0s},
                             .log = log_.NewLogger(),
                             .transport = operators_server_.TransportAs("operator")});
    manager_->AddWebhook<ConfigMap>().Validate([](const ConfigMap& map) {
      if (!map.data.contains("color")) throw AdmissionDenied("it has no color");
    });
    runner_ = std::jthread([this](const std::stop_token& stop) { manager_->Run(stop); });
  }
  ~ServedWebhooksTest() override {
    runner_.request_stop();
    runner_.join();
  }

  /// Returns the port at which the webhooks are served.
  std::string Port() {
    return std::to_string(std::stoi(log_.Await("\"Serving webhooks\" address=\"127.0.0.1:")));
  }
  void Install(Transport& server, int port = 443) const {
    const json webhook{{"name", "colors.shop.example.com"},
                       {"admissionReviewVersions", {"v1"}},
                       {"sideEffects", "None"},
                       {"clientConfig",
                        {{"service",
                          {{"namespace", "shop"},
                           {"name", "webhooks"},
                           {"port", port},
                           {"path", "/validate--v1-configmap"}}},
                         {"caBundle", detail::EncodeBase64(authority_.certificate())}}},
                       {"rules",
                        {{{"operations", {"CREATE"}},
                          {"apiGroups", {""}},
                          {"apiVersions", {"v1"}},
                          {"resources", {"configmaps"}}}}}};
    Post(server, "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
         {{"metadata", {{"name", "hooks"}}}, {"webhooks", {webhook}}});
  }
  static void Post(Transport& server, const std::string& target, const json& object) {
    const ApiResponse response =
        server.Call({.method = "POST", .target = target, .body = object.dump()});
    ASSERT_EQ(response.status, 201) << response.body;
  }
  /// Expects that the webhook decides about ConfigMaps.
  static void ExpectCalled(Transport& server) {
    const Client client(server, "test");
    const auto create = [&](const StringMap& data) {
      client.Create(ConfigMap{.metadata = {.name = "m", .ns = "default"}, .data = data});
    };
    try {
      create({});
      ADD_FAILURE() << "the webhook was not called";
    } catch (const ApiError& error) {
      EXPECT_THAT(error.what(), HasSubstr("denied the request: it has no color"));
    }
    create({{"color", "red"}});
  }

  const testing::CertificateAuthority authority_;
  const testing::ScratchFolder folder_;
  testing::ApiServer operators_server_;
  testing::LogRecorder log_;
  std::optional<Manager> manager_;
  std::jthread runner_;
};

// A45, A46
TEST_F(ServedWebhooksTest, AServiceIsCalledAtTheAddressOfTheOption) {
  testing::ApiServer server(
      {.resolve = {{.service = {"shop", "webhooks"}, .address = "127.0.0.1:" + Port()}}});
  Install(server.transport());

  ExpectCalled(server.transport());
}

// A45
TEST_F(ServedWebhooksTest, AServiceIsCalledAtItsExternalName) {
  testing::ApiServer server;
  Post(server.transport(), "/api/v1/namespaces", {{"metadata", {{"name", "shop"}}}});
  Post(server.transport(), "/api/v1/namespaces/shop/services",
       {{"metadata", {{"name", "webhooks"}}},
        {"spec", {{"type", "ExternalName"}, {"externalName", "localhost"}}}});
  Install(server.transport(), std::stoi(Port()));

  ExpectCalled(server.transport());
}

}  // namespace
}  // namespace kopp
