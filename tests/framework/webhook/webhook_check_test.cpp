// Tests what --check and --print-rbac know of webhooks.
#include "base/base64.hpp"
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
    const auto issued = authority_.Issue({.subject_alt_names = "DNS:webhooks.shop.svc"});
    folder_.Write("tls.crt", issued.certificate);
    folder_.Write("tls.key", issued.key);
    options_.webhook.cert_path = (folder_ / "").string();
    options_.webhook.service = "shop/webhooks";
    WebhookBuilder<Widget>(
        [this](KindWebhook webhook) { webhooks_.registry().Add(std::move(webhook)); }, {})
        .Default([](Widget&) {});
  }
  /// Stores the configuration that --print-webhooks prints, with this caBundle.
  void StoreConfiguration(const std::string& ca_bundle, const char* path = kMutate) {
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
  /// Returns the caBundle for the certificates of `authority`.
  static std::string CaBundleOf(const testing::CertificateAuthority& authority) {
    return detail::EncodeBase64(authority.certificate());
  }
  void StoreSecret(const char* type, const std::string& certificate) {
    transport_.Respond("GET", kSecret, 200,
                       json{{"apiVersion", "v1"},
                            {"kind", "Secret"},
                            {"metadata", {{"namespace", "shop"}, {"name", "webhooks-cert"}}},
                            {"type", type},
                            {"data", {{"tls.crt", detail::EncodeBase64(certificate)}}}}
                           .dump());
  }
  std::vector<std::string> Problems() { return webhooks_.FindProblems(client_); }

  const testing::ScratchFolder folder_;
  const testing::CertificateAuthority authority_;
  Options options_{.clock = Clock::Real()};
  ManagerWebhooks webhooks_{options_, client_, cache_, metrics_};
};

TEST_F(WebhookCheckTest, WebhooksThatTheApiServerCallsHaveNoProblem) {
  StoreConfiguration(CaBundleOf(authority_));

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
              ElementsAre("MutatingWebhookConfiguration \"webhooks.shop\" does not trust "
                          "the certificate: there is no caBundle that can be read"));

  StoreConfiguration(CaBundleOf(authority_), "/other");
  EXPECT_THAT(Problems(),
              ElementsAre(HasSubstr(std::string("has no webhook with the path ") + kMutate)));
}

TEST_F(WebhookCheckTest, AConfigurationThatDoesNotTrustTheCertificateIsAProblem) {
  StoreConfiguration(CaBundleOf(testing::CertificateAuthority()));
  EXPECT_THAT(
      Problems(),
      ElementsAre(HasSubstr("does not trust the certificate: certificate signature failure")));

  StoreConfiguration(CaBundleOf(authority_));
  const auto other = authority_.Issue({.subject_alt_names = "DNS:other.shop.svc"});
  folder_.Write("tls.crt", other.certificate);
  folder_.Write("tls.key", other.key);
  EXPECT_THAT(Problems(), ElementsAre(HasSubstr("certificate: it is not for webhooks.shop.svc")));
}

TEST_F(WebhookCheckTest, AnIssuedCertificateThatAConfigurationDoesNotTrustIsAProblem) {
  options_.webhook.cert_path = "";
  const auto issued = authority_.Issue({.subject_alt_names = "DNS:webhooks.shop.svc"});
  StoreSecret("kopp.dev/webhook-certificates", issued.certificate);
  StoreConfiguration(CaBundleOf(testing::CertificateAuthority()));
  EXPECT_THAT(Problems(), ElementsAre(HasSubstr("does not trust the certificate")));

  StoreConfiguration(CaBundleOf(authority_));
  EXPECT_THAT(Problems(), IsEmpty());
}

TEST_F(WebhookCheckTest, ACertificateThatCannotBeUsedIsAProblem) {
  StoreConfiguration(CaBundleOf(authority_));
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
  StoreSecret("kubernetes.io/tls", "");

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
  EXPECT_THAT(permissions[0].verbs, ElementsAre("get", "list", "watch"));
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

TEST_F(WebhookCheckTest, AProgramThatInstallsItsConfigurationsMayCreateAndDeleteThem) {
  options_.webhook.install = true;

  const std::vector<Permission> permissions = webhooks_.Permissions();

  ASSERT_EQ(permissions.size(), 5);
  EXPECT_EQ(permissions[0].resource, "mutatingwebhookconfigurations");
  EXPECT_THAT(permissions[0].verbs, ElementsAre("delete", "get", "list", "update", "watch"));
  EXPECT_THAT(permissions[0].names, ElementsAre("webhooks.shop"));
  EXPECT_THAT(permissions[1].verbs, ElementsAre("create"));
  EXPECT_THAT(permissions[1].names, IsEmpty());
  EXPECT_EQ(permissions[2].resource, "validatingwebhookconfigurations");
  EXPECT_EQ(permissions[4], (Permission{.group = "discovery.k8s.io",
                                        .resource = "endpointslices",
                                        .verbs = {"list"},
                                        .ns = "shop"}));
}

TEST_F(WebhookCheckTest, AConfigurationThatTheProgramInstallsMayBeAbsent) {
  options_.webhook.install = true;
  transport_.Respond("GET", kMutating, 404, R"({"kind":"Status","reason":"NotFound","code":404})");

  EXPECT_THAT(Problems(), IsEmpty());
}

}  // namespace
}  // namespace kopp
