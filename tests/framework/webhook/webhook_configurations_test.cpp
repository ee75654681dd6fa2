// Tests the webhook configurations that --print-webhooks prints.
#include "webhook/webhook_configurations.hpp"

#include "schema/yaml.hpp"
#include "webhook_fixture.hpp"

#include <gmock/gmock.h>

#include <kopp/config_error.hpp>
#include <kopp/kinds.hpp>
#include <kopp/manager.hpp>

namespace kopp {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class WebhookConfigurationsTest : public WebhookTest {
 protected:
  template <typename T>
  WebhookBuilder<T> AddWebhookFor(const WebhookOptions& options = {}) {
    return {[this](KindWebhook webhook) { registry_.Add(std::move(webhook)); }, options};
  }
  /// Returns the printed objects.
  std::vector<json> Printed(bool cert_manager = false) {
    const WebhookManifestOptions options{.service = {"shop-system", "webhooks"},
                                         .cert_manager = cert_manager};
    return schema::ParseManifests(PrintWebhooks(registry_.kinds(), options));
  }
};

TEST_F(WebhookConfigurationsTest, EachTypeHasAConfigurationWithTheWebhooksOfEachKind) {
  AddWebhook().Default([](Widget&) {}).Validate([](const Widget&) {});

  const std::vector<json> printed = Printed();

  ASSERT_EQ(printed.size(), 2);
  EXPECT_EQ(printed[0], json::parse(R"({
      "apiVersion":"admissionregistration.k8s.io/v1","kind":"MutatingWebhookConfiguration",
      "metadata":{"name":"webhooks.shop-system"},"webhooks":[{
        "name":"mutate.v1.widgets.shop.example.com","admissionReviewVersions":["v1"],
        "clientConfig":{"service":{"namespace":"shop-system","name":"webhooks",
                                   "path":"/mutate-shop-example-com-v1-widget"}},
        "rules":[{"apiGroups":["shop.example.com"],"apiVersions":["v1"],"resources":["widgets"],
                  "operations":["CREATE","UPDATE"],"scope":"Namespaced"}],
        "matchPolicy":"Equivalent","failurePolicy":"Fail","sideEffects":"None",
        "reinvocationPolicy":"Never","timeoutSeconds":10}]})"));
  EXPECT_EQ(printed[1].at("kind"), "ValidatingWebhookConfiguration");
  EXPECT_EQ(printed[1].at("metadata"), json({{"name", "webhooks.shop-system"}}));
  const json& validating = printed[1].at("/webhooks/0"_json_pointer);
  EXPECT_EQ(validating.at("name"), "validate.v1.widgets.shop.example.com");
  EXPECT_FALSE(validating.contains("reinvocationPolicy"));
}

TEST_F(WebhookConfigurationsTest, TheRuleHasTheOperationDeleteIfThereIsAFunctionForIt) {
  AddWebhook().Validate([](const Widget&) {}).ValidateDelete([](const Widget&) {});

  EXPECT_EQ(Printed().at(0).at("/webhooks/0/rules/0/operations"_json_pointer),
            json({"CREATE", "UPDATE", "DELETE"}));
}

TEST_F(WebhookConfigurationsTest, EachOptionIsPrinted) {
  using Options = WebhookOptions;
  AddWebhook({.mutate_path = "/m",
              .rule = {.resources = {"widgets/status"},
                       .operations = {AdmissionOperation::kConnect},
                       .namespace_selector = {.matchLabels = {{"a", "b"}}},
                       .object_selector = {.matchLabels = {{"c", "d"}}},
                       .match_conditions = {{"not-me", "request.userInfo.username != 'me'"}},
                       .match_policy = WebhookRule::MatchPolicy::kExact},
              .timeout = std::chrono::seconds(3),
              .failure_policy = Options::FailurePolicy::kIgnore,
              .side_effects = Options::SideEffects::kNoneOnDryRun,
              .reinvocation = Options::Reinvocation::kIfNeeded})
      .Default([](Widget&) {});

  const json webhook = Printed().at(0).at("/webhooks/0"_json_pointer);

  EXPECT_EQ(webhook.at("/clientConfig/service/path"_json_pointer), "/m");
  EXPECT_EQ(webhook.at("/rules/0/resources"_json_pointer), json({"widgets/status"}));
  EXPECT_EQ(webhook.at("/rules/0/operations"_json_pointer), json({"CONNECT"}));
  EXPECT_EQ(webhook.at("namespaceSelector"), json({{"matchLabels", {{"a", "b"}}}}));
  EXPECT_EQ(webhook.at("objectSelector"), json({{"matchLabels", {{"c", "d"}}}}));
  EXPECT_EQ(webhook.at("matchConditions"),
            json::parse(R"([{"name":"not-me","expression":"request.userInfo.username != 'me'"}])"));
  EXPECT_EQ(webhook.at("matchPolicy"), "Exact");
  EXPECT_EQ(webhook.at("timeoutSeconds"), 3);
  EXPECT_EQ(webhook.at("failurePolicy"), "Ignore");
  EXPECT_EQ(webhook.at("sideEffects"), "NoneOnDryRun");
  EXPECT_EQ(webhook.at("reinvocationPolicy"), "IfNeeded");
}

TEST_F(WebhookConfigurationsTest, WebhooksOfBuiltInKindsAreNotCalledForTheirOwnNamespace) {
  AddWebhookFor<Pod>().Validate([](const Pod&) {});

  const json webhook = Printed().at(0).at("/webhooks/0"_json_pointer);

  EXPECT_EQ(webhook.at("name"), "validate.v1.pods.core");
  EXPECT_EQ(webhook.at("/clientConfig/service/path"_json_pointer), "/validate--v1-pod");
  EXPECT_EQ(webhook.at("namespaceSelector"),
            json::parse(R"({"matchExpressions":[{"key":"kubernetes.io/metadata.name",
                            "operator":"NotIn","values":["kube-system","shop-system"]}]})"));
}

TEST_F(WebhookConfigurationsTest, ASecondWebhookOfAKindHasAnotherName) {
  AddWebhook().Default([](Widget&) {});
  AddWebhook({.mutate_path = "/widgets/Status_1"}).Default([](Widget&) {});

  const json webhooks = Printed().at(0).at("webhooks");

  EXPECT_EQ(webhooks.at(0).at("name"), "mutate.v1.widgets.shop.example.com");
  EXPECT_EQ(webhooks.at(1).at("name"), "widgets-status-1.mutate.v1.widgets.shop.example.com");
}

TEST_F(WebhookConfigurationsTest, ASecondWebhookWithoutAValidNameOfItsOwnIsAConfigError) {
  AddWebhook().Default([](Widget&) {});
  AddWebhook({.mutate_path = "/a-b"}).Default([](Widget&) {});
  EXPECT_EQ(Printed().at(0).at("webhooks").size(), 2);

  for (const char* path : {"/", "/_x", "/a/b"}) {
    std::vector<KindWebhook> webhooks = registry_.kinds();
    webhooks.push_back(webhooks.front());
    webhooks.back().path = path;
    EXPECT_THROW((void)PrintWebhooks(webhooks, {.service = {"s", "w"}}), ConfigError) << path;
  }
}

TEST_F(WebhookConfigurationsTest, AWebhookOfPodsThatMayBlockThemIsReported) {
  AddWebhookFor<Pod>({.failure_policy = WebhookOptions::FailurePolicy::kIgnore}).Default([](Pod&) {
  });
  AddWebhook().Default([](Widget&) {});
  EXPECT_THAT(WebhookWarnings(registry_.kinds()), IsEmpty());

  AddWebhookFor<Pod>().Validate([](const Pod&) {});

  EXPECT_THAT(WebhookWarnings(registry_.kinds()),
              ::testing::ElementsAre(HasSubstr("/validate--v1-pod has the failure policy Fail")));
}

TEST_F(WebhookConfigurationsTest, CertManagerIssuesTheCertificateIfTheFlagIsSet) {
  AddWebhook().Default([](Widget&) {});

  const std::vector<json> printed = Printed(true);

  ASSERT_EQ(printed.size(), 3);
  EXPECT_EQ(printed[0].at("kind"), "Issuer");
  EXPECT_EQ(printed[1].at("spec"), json::parse(R"({
      "dnsNames":["webhooks.shop-system.svc","webhooks.shop-system.svc.cluster.local"],
      "issuerRef":{"kind":"Issuer","name":"webhooks-selfsigned-issuer"},
      "secretName":"webhooks-server-cert"})"));
  EXPECT_EQ(printed[1].at("metadata"),
            json({{"name", "webhooks-serving-cert"}, {"namespace", "shop-system"}}));
  EXPECT_EQ(printed[2].at("/metadata/annotations"_json_pointer),
            json({{"cert-manager.io/inject-ca-from", "shop-system/webhooks-serving-cert"}}));
}

TEST_F(WebhookConfigurationsTest, AManagerPrintsTheConfigurationsOfItsWebhooks) {
  Options options{.action = Options::Action::kPrintWebhooks,
                  .name = "Shop_Operator",
                  .log = Logger({.write = [this](std::string_view line) { log_ += line; }})};
  options.webhook.service = "shop-system/webhooks";
  Manager manager(options);
  manager.AddWebhook<Widget>().Validate([](const Widget&) {});

  ::testing::internal::CaptureStdout();
  const int code = manager.Run({});
  const std::string text = ::testing::internal::GetCapturedStdout();

  EXPECT_EQ(code, 0);
  const json printed = schema::ParseManifests(text).at(0);
  EXPECT_EQ(printed.at("kind"), "ValidatingWebhookConfiguration");
  EXPECT_EQ(printed.at("/metadata/name"_json_pointer), "webhooks.shop-system");
}

TEST_F(WebhookConfigurationsTest, AServiceWithoutANamespaceIsAnError) {
  for (const char* service : {"webhooks", "/webhooks", "shop/", "shop/a/b", "Shop/webhooks"}) {
    Options options{.action = Options::Action::kPrintWebhooks,
                    .log = Logger({.write = [this](std::string_view line) { log_ += line; }})};
    options.webhook.service = service;
    Manager manager(options);
    manager.AddWebhook<Widget>().Default([](Widget&) {});

    EXPECT_EQ(manager.Run({}), 1) << service;
    EXPECT_THAT(log_, HasSubstr("Options::webhook.service must be NAMESPACE/NAME")) << service;
    log_.clear();
  }
}

TEST_F(WebhookConfigurationsTest, AManagerWithoutWebhooksOrNamespaceCannotPrintThem) {
  Options options{.action = Options::Action::kPrintWebhooks,
                  .log = Logger({.write = [this](std::string_view line) { log_ += line; }})};
  EXPECT_EQ(Manager(options).Run({}), 1);
  EXPECT_THAT(log_, HasSubstr("the program has no webhook of a kind"));

  Manager manager(options);
  manager.AddWebhook<Widget>().Default([](Widget&) {});
  EXPECT_EQ(manager.Run({}), 1);
  EXPECT_THAT(log_, HasSubstr("pass --webhook-service=NAMESPACE/NAME"));
}

}  // namespace
}  // namespace kopp
