// Tests what --check and --print-rbac know of webhooks.
#include "manager/manager_webhooks.hpp"
#include "support/certificates.hpp"
#include "support/scratch_folder.hpp"
#include "webhook/webhook_configurations.hpp"
#include "webhook_fixture.hpp"

#include <gmock/gmock.h>

namespace kopp {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class WebhookCheckTest : public WebhookTest {
 protected:
  static constexpr const char* kMutating =
      "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/webhooks.shop";
  static constexpr const char* kSecret = "/api/v1/namespaces/shop/secrets/webhooks-cert";

  WebhookCheckTest() {
    const auto issued = authority_.IssueForLoopback();
    folder_.Write("tls.crt", issued.certificate);
    folder_.Write("tls.key", issued.key);
    options_.webhook.cert_path = (folder_ / "").string();
    options_.webhook.service = "shop/webhooks";
    WebhookBuilder<Widget>(
        [this](KindWebhook webhook) { webhooks_.registry().Add(std::move(webhook)); }, {})
        .Default([](Widget&) {});
  }
  /// Stores the configuration that --print-webhooks prints, with this caBundle.
  void StoreConfiguration(const char* ca_bundle, const char* path = kMutate) {
    const json webhook{{"clientConfig",
                        {{"service", {{"namespace", "shop"}, {"name", "webhooks"}, {"path", path}}},
                         {"caBundle", ca_bundle}}}};
    transport_.Respond("GET", kMutating, 200,
                       json{{"apiVersion", "admissionregistration.k8s.io/v1"},
                            {"kind", "MutatingWebhookConfiguration"},
                            {"metadata", {{"name", "webhooks.shop"}}},
                            {"webhooks", {webhook}}}
                           .dump());
  }
  std::vector<std::string> Problems() { return webhooks_.FindProblems(client_); }

  const testing::ScratchFolder folder_;
  const testing::CertificateAuthority authority_;
  Options options_{.clock = Clock::Real()};
  ManagerWebhooks webhooks_{options_, client_, cache_, metrics_};
};

TEST_F(WebhookCheckTest, WebhooksThatTheApiServerCallsHaveNoProblem) {
  StoreConfiguration("Q0E=");

  EXPECT_THAT(Problems(), IsEmpty());
}

TEST_F(WebhookCheckTest, AnAbsentConfigurationIsAProblem) {
  transport_.Respond("GET", kMutating, 404, R"({"kind":"Status","reason":"NotFound","code":404})");

  EXPECT_THAT(Problems(),
              ElementsAre("there is no MutatingWebhookConfiguration \"webhooks.shop\": apply the "
                          "output of --print-webhooks"));
}

TEST_F(WebhookCheckTest, AConfigurationWithoutTheWebhookOrItsCaIsAProblem) {
  StoreConfiguration("");
  EXPECT_THAT(Problems(),
              ElementsAre(HasSubstr(std::string("no caBundle for the path ") + kMutate)));

  StoreConfiguration("Q0E=", "/other");
  EXPECT_THAT(Problems(),
              ElementsAre(HasSubstr(std::string("has no webhook with the path ") + kMutate)));
}

TEST_F(WebhookCheckTest, ACertificateThatCannotBeUsedIsAProblem) {
  StoreConfiguration("Q0E=");
  folder_.Write("tls.key", testing::CertificateAuthority().IssueForLoopback().key);
  EXPECT_THAT(Problems(), ElementsAre(HasSubstr("the certificate cannot be used: ")));

  options_.webhook.cert_path = "/does-not-exist";
  EXPECT_THAT(Problems(), ElementsAre(HasSubstr("/does-not-exist/tls.crt")));
}

TEST_F(WebhookCheckTest, WhatTheProgramIssuesItselfIsNoProblem) {
  options_.webhook.cert_path = "";
  transport_.Respond("GET", kSecret, 404, R"({"kind":"Status","reason":"NotFound","code":404})");
  StoreConfiguration("");

  EXPECT_THAT(Problems(), IsEmpty());
}

TEST_F(WebhookCheckTest, ASecretOfSomethingElseIsAProblem) {
  options_.webhook.cert_path = "";
  transport_.Respond("GET", kSecret, 200,
                     json{{"apiVersion", "v1"},
                          {"kind", "Secret"},
                          {"metadata", {{"namespace", "shop"}, {"name", "webhooks-cert"}}},
                          {"type", "kubernetes.io/tls"}}
                         .dump());

  EXPECT_THAT(Problems(),
              ElementsAre(HasSubstr("the Secret shop/webhooks-cert was not created for")));
}

TEST_F(WebhookCheckTest, WebhooksThatAreNotServedHaveNoProblemAndNoPermission) {
  options_.webhook.port = -1;

  EXPECT_THAT(Problems(), IsEmpty());
  EXPECT_THAT(webhooks_.Permissions(), IsEmpty());
}

TEST_F(WebhookCheckTest, TheConfigurationsMayBeReadByName) {
  const std::vector<Permission> permissions = webhooks_.Permissions();

  ASSERT_EQ(permissions.size(), 1);
  EXPECT_EQ(permissions[0].resource, "mutatingwebhookconfigurations");
  EXPECT_TRUE(permissions[0].cluster_scoped);
  EXPECT_THAT(permissions[0].verbs, ElementsAre("get"));
  EXPECT_THAT(permissions[0].names, ElementsAre("webhooks.shop"));

  options_.webhook.service = "";
  EXPECT_THAT(webhooks_.Permissions(), IsEmpty());
  EXPECT_THAT(webhooks_.Warnings(), IsEmpty());
}

TEST_F(WebhookCheckTest, MissingRulesForCertificatesAreAWarning) {
  options_.webhook.cert_path = "";
  EXPECT_THAT(webhooks_.Warnings(), IsEmpty());

  options_.webhook.service = "";
  EXPECT_THAT(webhooks_.Permissions(), IsEmpty());
  EXPECT_THAT(webhooks_.Warnings(), ElementsAre(HasSubstr("pass --webhook-service")));

  options_.leader_election.ns = "shop";
  EXPECT_THAT(webhooks_.Permissions(), ::testing::Not(IsEmpty()));
  EXPECT_THAT(webhooks_.Warnings(), IsEmpty());
}

TEST_F(WebhookCheckTest, AProgramThatIssuesCertificatesMayWriteOneSecretAndItsConfigurations) {
  options_.webhook.cert_path = "";

  const std::vector<Permission> permissions = webhooks_.Permissions();

  ASSERT_EQ(permissions.size(), 3);
  EXPECT_EQ(permissions[0].resource, "mutatingwebhookconfigurations");
  EXPECT_THAT(permissions[0].verbs, ElementsAre("get", "list", "patch", "watch"));
  EXPECT_THAT(permissions[0].names, ElementsAre("webhooks.shop"));
  EXPECT_EQ(permissions[1], (Permission{.resource = "secrets",
                                        .verbs = {"get", "list", "update", "watch"},
                                        .names = {"webhooks-cert"},
                                        .ns = "shop"}));
  EXPECT_EQ(permissions[2], (Permission{.resource = "secrets", .verbs = {"create"}, .ns = "shop"}));
}

}  // namespace
}  // namespace kopp
