// Tests --install-webhooks and --uninstall-webhooks against an API server.
#include "webhook/webhook_installer.hpp"

#include "support/log_recorder.hpp"
#include "webhook/certificate_issuer_fixture.hpp"

#include <chrono>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::HasSubstr;

/// Fixture with an installer of one validating configuration for the Service shop/webhooks. There
/// is no configuration yet.
class WebhookInstallerTest : public CertificateIssuerTest {
 protected:
  static constexpr Kind kMutating{"admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration",
                                  "mutatingwebhookconfigurations", Scope::kCluster};

  WebhookInstallerTest() { client_.Dynamic(kConfigurations).Delete({"", "webhooks.shop"}); }

  static json NewConfiguration(const Kind& kind, const std::vector<json>& webhooks) {
    return {{"apiVersion", kind.api_version},
            {"kind", kind.kind},
            {"metadata", {{"name", "webhooks.shop"}}},
            {"webhooks", webhooks}};
  }
  [[nodiscard]] WebhookInstaller NewInstaller() {
    return WebhookInstaller({.configurations = {NewConfiguration(kConfigurations, {Webhook("/a")})},
                             .service = {"shop", "webhooks"},
                             .is_leader = [this] { return is_leader_; },
                             .log = log_.NewLogger(),
                             .clock = clock_});
  }
  /// Creates an EndpointSlice of the Service with one endpoint, or replaces it.
  void SetEndpoint(const json& conditions, const json& ports = {{{"port", 9443}}}) const {
    client_.Dynamic(kEndpointSlices)
        .Apply({{"metadata",
                 {{"name", "webhooks-1"},
                  {"namespace", "shop"},
                  {"labels", {{"kubernetes.io/service-name", "webhooks"}}}}},
                {"addressType", "IPv4"},
                {"endpoints", {{{"addresses", {"10.1.0.1"}}, {"conditions", conditions}}}},
                {"ports", ports}});
  }
  /// Returns after how long the next step is due.
  Duration Install(WebhookInstaller& installer, const std::string& ca_bundle = "") {
    const WallTime next = installer.Install(client_, ca_bundle);
    return next == WallTime::max() ? Duration::max() : next - clock_.WallNow();
  }
  [[nodiscard]] bool IsInstalled(const Kind& kind = kConfigurations) const {
    return client_.Dynamic(kind).Get({"", "webhooks.shop"}).has_value();
  }

  static constexpr Kind kEndpointSlices{"discovery.k8s.io/v1", "EndpointSlice", "endpointslices"};
  static constexpr Duration kNothingIsDue = Duration::max();
  bool is_leader_ = true;
  testing::LogRecorder log_;
};

TEST_F(WebhookInstallerTest, AConfigurationIsCreatedWhenAnEndpointHasBeenReadyForFiveSeconds) {
  WebhookInstaller installer = NewInstaller();
  installer.Request();
  EXPECT_EQ(Install(installer), 1s);
  EXPECT_THAT(log_.Await("Waiting for a ready endpoint"), HasSubstr("service=\"shop/webhooks\""));

  SetEndpoint({{"ready", false}});
  EXPECT_EQ(Install(installer), 1s);
  SetEndpoint({{"ready", true}}, json::array());  // a Pod without the port of the webhooks
  EXPECT_EQ(Install(installer), 1s);
  SetEndpoint({{"ready", true}});
  EXPECT_EQ(Install(installer), 5s);
  clock_.Advance(4s);
  EXPECT_EQ(Install(installer), 1s);
  EXPECT_FALSE(IsInstalled());

  clock_.Advance(1s);
  EXPECT_EQ(Install(installer, "Q0E="), kNothingIsDue);
  EXPECT_EQ(CaBundle(), "CA");
}

TEST_F(WebhookInstallerTest, AnEndpointThatIsNotReadyAnyMoreIsAwaitedAgain) {
  WebhookInstaller installer = NewInstaller();
  installer.Request();
  SetEndpoint({{"ready", true}});
  EXPECT_EQ(Install(installer), 5s);
  SetEndpoint({{"ready", false}});
  clock_.Advance(5s);
  EXPECT_EQ(Install(installer), 1s);

  SetEndpoint(json::object());  // without the field, it is ready
  EXPECT_EQ(Install(installer), 5s);
}

TEST_F(WebhookInstallerTest, AConfigurationThatExistsIsUpdatedAtOnce) {
  json stored = NewConfiguration(kConfigurations, {Webhook("/a"), Webhook("/removed")});
  stored["metadata"]["labels"] = {{"team", "shop"}};
  stored["metadata"]["annotations"] = {{"cert-manager.io/inject-ca-from", "shop/old"},
                                       {"example.com/note", "kept"}};
  stored["webhooks"][0]["failurePolicy"] = "Ignore";
  client_.Dynamic(kConfigurations).Create(stored);
  // The owner of the caBundles is another field manager.
  for (const char* name : {"a.shop.example.com", "removed.shop.example.com"}) {
    client_.Dynamic(kConfigurations)
        .Apply({{"metadata", {{"name", "webhooks.shop"}}},
                {"webhooks", {{{"name", name}, {"clientConfig", {{"caBundle", "Q0E="}}}}}}},
               {.field_manager = name});
  }
  WebhookInstaller installer = NewInstaller();
  installer.Request();

  EXPECT_EQ(Install(installer), kNothingIsDue);

  const json configuration = Configuration();
  ASSERT_EQ(configuration["webhooks"].size(), 1);
  EXPECT_EQ(configuration["webhooks"][0]["name"], "a.shop.example.com");
  EXPECT_EQ(configuration["webhooks"][0]["failurePolicy"], "Fail");
  EXPECT_EQ(CaBundle(), "CA");
  EXPECT_EQ(configuration["metadata"]["labels"], json({{"team", "shop"}}));
  EXPECT_EQ(configuration["metadata"]["annotations"], json({{"example.com/note", "kept"}}));
}

TEST_F(WebhookInstallerTest, AConfigurationWithoutWebhooksIsDeleted) {
  client_.Dynamic(kMutating).Create(NewConfiguration(kMutating, {Webhook("/a")}));
  client_.Dynamic(kConfigurations).Create(NewConfiguration(kConfigurations, {Webhook("/a")}));
  WebhookInstaller installer = NewInstaller();
  installer.Request();

  EXPECT_EQ(Install(installer), kNothingIsDue);

  EXPECT_FALSE(IsInstalled(kMutating));
  EXPECT_TRUE(IsInstalled());
}

TEST_F(WebhookInstallerTest, OnlyTheLeaderInstallsAndOnlyOncePerTerm) {
  client_.Dynamic(kConfigurations).Create(NewConfiguration(kConfigurations, {Webhook("/old")}));
  WebhookInstaller installer = NewInstaller();
  EXPECT_EQ(Install(installer), kNothingIsDue);
  installer.Request();
  is_leader_ = false;
  EXPECT_EQ(Install(installer), kNothingIsDue);
  EXPECT_EQ(Configuration()["webhooks"][0]["name"], "old.shop.example.com");

  is_leader_ = true;
  EXPECT_EQ(Install(installer), kNothingIsDue);
  EXPECT_EQ(Configuration()["webhooks"][0]["name"], "a.shop.example.com");

  // It was uninstalled.
  client_.Dynamic(kConfigurations).Delete({"", "webhooks.shop"});
  SetEndpoint({{"ready", true}});
  EXPECT_EQ(Install(installer), kNothingIsDue);
  EXPECT_FALSE(IsInstalled());
}

TEST_F(WebhookInstallerTest, AFailedInstallationIsDueAgain) {
  client_.Dynamic(kConfigurations).Create(NewConfiguration(kConfigurations, {Webhook("/old")}));
  WebhookInstaller installer = NewInstaller();
  installer.Request();
  server_.Inject({.verb = "update", .times = 1});
  EXPECT_ANY_THROW(Install(installer));

  Install(installer);

  EXPECT_EQ(Configuration()["webhooks"][0]["name"], "a.shop.example.com");
}

TEST_F(WebhookInstallerTest, UninstallDeletesBothConfigurations) {
  client_.Dynamic(kMutating).Create(NewConfiguration(kMutating, {Webhook("/a")}));
  client_.Dynamic(kConfigurations).Create(NewConfiguration(kConfigurations, {Webhook("/a")}));

  UninstallWebhooks(client_, {"shop", "webhooks"}, log_.NewLogger());
  EXPECT_FALSE(IsInstalled(kMutating));
  EXPECT_FALSE(IsInstalled());

  UninstallWebhooks(client_, {"shop", "webhooks"}, log_.NewLogger());
}

}  // namespace
}  // namespace kopp
