// For which requests the API server calls a webhook: rules, exempt kinds, object selectors.
#include "admission/webhook_test_server.hpp"

namespace kopp::conformance {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class WebhookRulesTest : public WebhookCallTest {
 protected:
  /// A rule for all writes of ConfigMaps, unless `changes` says otherwise.
  struct NamedRule {
    std::string name;
    json changes;
  };

  /// Installs a validating webhook for each rule.
  void InstallRules(const std::vector<NamedRule>& rules) {
    std::vector<Webhook> webhooks;
    for (const NamedRule& named : rules) {
      json rule = Rule({"*"}, "configmaps");
      rule.update(named.changes);
      names_["w" + std::to_string(webhooks.size()) + ".example.com"] = named.name;
      webhooks.push_back({.fields = {{"rules", {rule}}}});
    }
    Install(Type::kValidating, webhooks);
  }
  /// Creates the Deployment "web", and installs a webhook for each of these resources of its group.
  /// The name of a rule is the resource.
  void InstallDeploymentRules() {
    Post(Path("apps/v1", "deployments"), MakeDeployment("web"));
    AwaitCache(DeploymentPath());
    std::vector<NamedRule> rules;
    for (const char* resource :
         {"deployments", "deployments/status", "deployments/scale", "deployments/*", "*", "*/*"}) {
      rules.push_back({resource, {{"apiGroups", {"apps"}}, {"resources", {resource}}}});
    }
    InstallRules(rules);
  }
  std::string DeploymentPath() { return Path("apps/v1", "deployments") + "/web"; }

  /// Returns the name of the rule and the operation of each request.
  std::vector<std::string> Calls() {
    std::vector<std::string> all;
    for (const json& request : Requests()) {
      all.push_back(names_.at(request.at("webhook")) + ' ' +
                    request.at("operation").get<std::string>());
    }
    return all;
  }
  /// Expects that each request is for this object, with "GROUP/VERSION/KIND" and
  /// "RESOURCE/SUBRESOURCE".
  void ExpectRequestsFor(const std::string& name, const std::string& kind,
                         const std::string& resource) {
    for (const json& request : Requests()) {
      EXPECT_EQ(request.at("name"), name);
      EXPECT_EQ(request.at("namespace"), ns());
      for (const char* field : {"kind", "requestKind"}) {
        const json& value = request.at(field);
        EXPECT_EQ(
            TextOf(value, "group") + '/' + TextOf(value, "version") + '/' + TextOf(value, "kind"),
            kind);
      }
      EXPECT_EQ(TextOf(request.at("resource"), "resource") + '/' + TextOf(request, "subResource"),
                resource);
      EXPECT_EQ(TextOf(request.at("requestResource"), "resource") + '/' +
                    TextOf(request, "requestSubResource"),
                resource);
      EXPECT_EQ(request.at("/object/metadata/name"_json_pointer), name);
    }
  }

 private:
  static std::string TextOf(const json& value, const char* field) { return value.value(field, ""); }

  std::map<std::string, std::string> names_;  // of the rules, by the name of the webhook
};

// A13
TEST_F(WebhookRulesTest, ARuleMatchesItsOperationsOnly) {
  InstallRules({{"all", {{"operations", {"*"}}}},
                {"creates", {{"operations", {"CREATE"}}}},
                {"updates and deletes", {{"operations", {"UPDATE", "DELETE"}}}},
                {"connects", {{"operations", {"CONNECT"}}}}});
  const std::string path = Path("configmaps") + "/selected";

  CreateMap("selected");
  AwaitCache(path);
  MergePatch(path, {{"data", {{"a", "b"}}}});
  AwaitCache(path);
  Delete(path);

  EXPECT_THAT(Calls(), UnorderedElementsAre("all CREATE", "creates CREATE", "all UPDATE",
                                            "updates and deletes UPDATE", "all DELETE",
                                            "updates and deletes DELETE"));
}

// A13
TEST_F(WebhookRulesTest, ARuleMatchesItsGroupsVersionsAndScopeExactlyOrByWildcard) {
  InstallRules({{"the group", {{"apiGroups", {""}}}},
                {"two groups", {{"apiGroups", {"apps", ""}}}},
                {"all groups", {{"apiGroups", {"*"}}}},
                {"another group", {{"apiGroups", {"apps"}}}},
                {"the version", {{"apiVersions", {"v1"}}}},
                {"two versions", {{"apiVersions", {"v2", "v1"}}}},
                {"all versions", {{"apiVersions", {"*"}}}},
                {"another version", {{"apiVersions", {"v2"}}}},
                {"the scope", {{"scope", "Namespaced"}}},
                {"all scopes", {{"scope", "*"}}},
                {"another scope", {{"scope", "Cluster"}}},
                {"all of all", {{"apiGroups", {"*"}}, {"apiVersions", {"*"}}, {"scope", "*"}}}});

  CreateMap("selected");

  EXPECT_THAT(Calls(), UnorderedElementsAre(
                           "the group CREATE", "two groups CREATE", "all groups CREATE",
                           "the version CREATE", "two versions CREATE", "all versions CREATE",
                           "the scope CREATE", "all scopes CREATE", "all of all CREATE"));
  ExpectRequestsFor("selected", "/v1/ConfigMap", "configmaps/");
}

// A13
TEST_F(WebhookRulesTest, ARuleMatchesItsResourcesByNameOrWildcard) {
  std::vector<NamedRule> rules{
      {"secrets and configmaps", {{"resources", {"secrets", "configmaps"}}}}};
  for (const char* resource :
       {"configmaps", "*", "configmaps/*", "*/*", "secrets", "configmaps/status", "*/status"}) {
    rules.push_back({resource, {{"resources", {resource}}}});
  }
  InstallRules(rules);

  CreateMap("selected");

  EXPECT_THAT(Calls(), UnorderedElementsAre("secrets and configmaps CREATE", "configmaps CREATE",
                                            "* CREATE", "configmaps/* CREATE", "*/* CREATE"));
  ExpectRequestsFor("selected", "/v1/ConfigMap", "configmaps/");
}

// A13
TEST_F(WebhookRulesTest, AWebhookIsCalledOnceIfSeveralOfItsRulesMatch) {
  Install(Type::kValidating,
          Webhook{.fields = {{"rules",
                              {Rule({"*"}, "secrets"), Rule({"CREATE"}, "configmaps"),
                               Rule({"*"}, "*", "*", "*")}}}});

  CreateMap("selected");

  EXPECT_THAT(Requests(), SizeIs(1));
  ExpectRequestsFor("selected", "/v1/ConfigMap", "configmaps/");
}

// A11
TEST_F(WebhookRulesTest, AStatusIsSentToWebhooksForTheSubresourceOnly) {
  InstallDeploymentRules();
  const JsonResponse stored = Get(DeploymentPath());

  const JsonResponse written =
      MergePatch(DeploymentPath() + "/status", {{"status", {{"replicas", 1}}}});

  EXPECT_EQ(written.status, 200) << written.text;
  EXPECT_THAT(Calls(), UnorderedElementsAre("deployments/status UPDATE", "deployments/* UPDATE",
                                            "*/* UPDATE"));
  ExpectRequestsFor("web", "apps/v1/Deployment", "deployments/status");
  for (const json& request : Requests()) {
    EXPECT_EQ(request.at("/options/kind"_json_pointer), "UpdateOptions");
    for (const char* field : {"object", "oldObject"}) {
      const json& object = request.at(field);
      EXPECT_EQ(object.at("kind"), "Deployment");
      EXPECT_EQ(object.at("/metadata/uid"_json_pointer), stored.at("/metadata/uid"));
      EXPECT_EQ(object.at("spec"), stored.at("/spec"));
    }
    EXPECT_EQ(request.at("/object/status/replicas"_json_pointer), 1);
    EXPECT_FALSE(request.at("/oldObject/status"_json_pointer).contains("replicas"));
  }
}

// A11
TEST_F(WebhookRulesTest, AnObjectIsNotSentToWebhooksForItsSubresources) {
  InstallDeploymentRules();

  const JsonResponse written = MergePatch(DeploymentPath(), {{"spec", {{"replicas", 2}}}});

  EXPECT_EQ(written.status, 200) << written.text;
  EXPECT_THAT(Calls(), UnorderedElementsAre("deployments UPDATE", "deployments/* UPDATE",
                                            "* UPDATE", "*/* UPDATE"));
  ExpectRequestsFor("web", "apps/v1/Deployment", "deployments/");
}

// A11
TEST_F(WebhookRulesTest, AStatusWriteIsValidatedWithTheStoredSpec) {
  InstallDeploymentRules();

  const JsonResponse written = MergePatch(
      DeploymentPath() + "/status", {{"spec", {{"replicas", 7}}}, {"status", {{"replicas", 1}}}});

  EXPECT_EQ(written.at("/spec/replicas"), 1) << written.text;
  ASSERT_THAT(Requests(), SizeIs(3));
  for (const json& request : Requests()) {
    EXPECT_EQ(request.at("/object/spec/replicas"_json_pointer), 1);
    EXPECT_EQ(request.at("/object/status/replicas"_json_pointer), 1);
  }
}

// A11
TEST_F(WebhookRulesTest, AMutatingWebhookChangesTheStatusButNotTheSpecOfAStatusWrite) {
  Post(Path("apps/v1", "deployments"), MakeDeployment("web"));
  Install(
      Type::kMutating,
      Webhook{.respond =
                  [](const json&) {
                    return Allowed({{{"op", "replace"}, {"path", "/status/replicas"}, {"value", 2}},
                                    {{"op", "replace"}, {"path", "/spec/replicas"}, {"value", 7}}});
                  },
              .fields = {{"rules", {Rule({"UPDATE"}, "deployments/status", "apps")}}}});

  const JsonResponse written =
      MergePatch(DeploymentPath() + "/status", {{"status", {{"replicas", 1}}}});

  EXPECT_EQ(written.status, 200) << written.text;
  EXPECT_EQ(Get(DeploymentPath()).at("/status/replicas"), 2);
  EXPECT_EQ(Get(DeploymentPath()).at("/spec/replicas"), 1);
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
