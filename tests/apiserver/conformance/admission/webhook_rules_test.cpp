// For which requests the API server calls a webhook: rules, exempt kinds, object selectors.
#include "admission/webhook_test_server.hpp"

namespace kopp::conformance {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

using WebhookRulesTest = WebhookCallTest;

// A13
TEST_F(WebhookRulesTest, RulesSelectOperationsGroupsVersionsAndScope) {
  const auto rule = [](const json& changes) {
    json fields = Rule({"*"}, "configmaps");
    fields.update(changes);
    return json{{"rules", {fields}}};
  };
  Install(
      Type::kValidating,
      {{.fields = rule({{"operations", {"UPDATE", "DELETE"}}})},
       {.fields = rule({{"apiGroups", {"apps"}}})},
       {.fields = rule({{"apiVersions", {"v2"}}})},
       {.fields = rule({{"scope", "Cluster"}})},
       {.fields = rule({{"scope", "Namespaced"}, {"apiGroups", {"*"}}, {"apiVersions", {"*"}}})}});

  CreateMap("selected");

  EXPECT_THAT(Requests(), SizeIs(1));
}

// A13
TEST_F(WebhookRulesTest, RulesSelectResourcesByNameOrWildcard) {
  const auto rule = [](const std::string& resource) {
    return Webhook{.fields = {{"rules", {Rule({"CREATE"}, resource)}}}};
  };
  Install(Type::kValidating, {rule("configmaps"), rule("*"), rule("configmaps/*"), rule("*/*"),
                              rule("secrets"), rule("configmaps/status"), rule("*/status")});

  CreateMap("selected");

  EXPECT_THAT(Requests(), SizeIs(4));
}

// A11
TEST_F(WebhookRulesTest, AStatusIsSentToWebhooksForTheSubresourceOnly) {
  const auto rule = [](const std::string& resource) {
    return json{{"rules", {Rule({"*"}, resource, "apps")}}};
  };
  Post(Path("apps/v1", "deployments"), MakeDeployment("web"));
  Install(Type::kValidating, {{.fields = rule("deployments")},
                              {.fields = rule("deployments/status")},
                              {.fields = rule("deployments/*")},
                              {.fields = rule("*/*")},
                              {.fields = rule("*")}});

  EXPECT_EQ(
      MergePatch(Path("apps/v1", "deployments") + "/web/status", {{"status", {{"replicas", 1}}}})
          .status,
      200);

  ASSERT_THAT(Requests(), SizeIs(3));
  for (const json& request : Requests()) {
    EXPECT_EQ(request.at("subResource"), "status");
    EXPECT_EQ(request.at("requestSubResource"), "status");
    EXPECT_EQ(request.at("/object/spec/selector/matchLabels/app"_json_pointer), "web");
  }
}

// A14
TEST_F(WebhookRulesTest, ConfigurationsOfAdmissionAreNotSentToWebhooks) {
  const std::string group = "admissionregistration.k8s.io";
  const std::string name = UniqueName("exempt");
  const json fields{{"rules", {Rule({"*"}, "*/*", group)}},
                    {"objectSelector", {{"matchLabels", {{"exempt", name}}}}}};
  const json metadata{{"name", name}, {"labels", {{"exempt", name}}}};
  const json rules{{{"operations", {"CREATE"}},
                    {"apiGroups", {"none.example.com"}},
                    {"apiVersions", {"v1"}},
                    {"resources", {"none"}}}};
  const json policy{{"matchConstraints", {{"resourceRules", rules}}},
                    {"validations", {{{"expression", "true"}}}}};
  const json binding{{"policyName", name}, {"validationActions", {"Deny"}}};
  Install(Type::kMutating, Webhook{.fields = fields});
  Install(Type::kValidating, Webhook{.fields = fields});

  for (const auto& [plural, spec] : {std::pair("mutatingwebhookconfigurations", json()),
                                     std::pair("validatingwebhookconfigurations", json()),
                                     std::pair("validatingadmissionpolicies", policy),
                                     std::pair("validatingadmissionpolicybindings", binding)}) {
    const std::string path = "/apis/" + group + "/v1/" + plural;
    json object{{"metadata", metadata}};
    if (!spec.is_null()) object["spec"] = spec;
    EXPECT_EQ(Post(path, object).status, 201) << plural;
    EXPECT_EQ(MergePatch(path + '/' + name, {{"metadata", {{"annotations", {{"a", "b"}}}}}}).status,
              200);
    EXPECT_EQ(Delete(path + '/' + name).status, 200);
  }

  EXPECT_THAT(Requests(), IsEmpty());
}

// A18
TEST_F(WebhookRulesTest, AnObjectSelectorMatchesTheNewOrTheOldObject) {
  Install(Type::kValidating,
          Webhook{.fields = {
                      {"objectSelector",
                       {{"matchExpressions", {{{"key", "watched"}, {"operator", "Exists"}}}}}}}});
  CreateMap("labelled");
  EXPECT_THAT(Requests(), IsEmpty());
  const std::string path = Path("configmaps") + "/labelled";

  MergePatch(path, {{"metadata", {{"labels", {{"watched", "yes"}}}}}});
  MergePatch(path, {{"metadata", {{"labels", {{"watched", nullptr}}}}}});
  MergePatch(path, {{"data", {{"a", "b"}}}});

  EXPECT_THAT(Requests(), SizeIs(2));
}

// A18
TEST_F(WebhookRulesTest, AnObjectSelectorMatchesTheLabelsOfABinding) {
  const std::string pods = PodsPath();
  json fields{{"rules", {Rule({"*"}, "pods/binding")}}};
  fields["objectSelector"]["matchLabels"] = {{"watched", "yes"}};
  Install(Type::kValidating, Webhook{.fields = fields});

  for (const char* name : {"a", "b"}) {
    json pod = MakePod(name);
    pod["metadata"]["labels"] = {{"watched", "yes"}};
    Post(pods, pod);
    json binding{{"apiVersion", "v1"},
                 {"kind", "Binding"},
                 {"metadata", {{"name", name}}},
                 {"target", {{"kind", "Node"}, {"name", "node-1"}}}};
    if (*name == 'b') binding["metadata"]["labels"] = {{"watched", "yes"}};
    EXPECT_EQ(Post(pods + '/' + name + "/binding", binding).status, 201);
  }

  ASSERT_THAT(Requests(), SizeIs(1));
  EXPECT_EQ(Requests()[0].at("name"), "b");
}

}  // namespace
}  // namespace kopp::conformance
