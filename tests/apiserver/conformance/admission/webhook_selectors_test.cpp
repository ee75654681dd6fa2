// Namespace selectors of webhooks.
#include "admission/webhook_test_server.hpp"

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class WebhookSelectorsTest : public WebhookCallTest {
 protected:
  /// Returns the fields of a webhook for Namespaces with the label team=TEAM.
  static json NamespacesOf(const std::string& team) {
    return {{"rules", {Rule({"*"}, "namespaces")}},
            {"namespaceSelector", {{"matchLabels", {{"team", team}}}}}};
  }
  /// Returns the operations of all requests.
  std::vector<std::string> Operations() {
    std::vector<std::string> all;
    for (const json& request : Requests()) all.push_back(request.at("operation"));
    return all;
  }
  static JsonResponse CreateNamespace(const std::string& name, const std::string& team) {
    return Post("/api/v1/namespaces",
                {{"metadata", {{"name", name}, {"labels", {{"team", team}}}}}});
  }
};

// A16
TEST_F(WebhookSelectorsTest, ANamespaceIsSelectedByItsNewLabelsAndADeletedOneByTheStoredLabels) {
  const std::string team = UniqueName("team");
  const std::string name = UniqueName("conformance");
  const std::string path = "/api/v1/namespaces/" + name;
  Install(Type::kValidating, Webhook{.fields = NamespacesOf(team)});

  CreateNamespace(name, "other");
  AwaitCache(path);
  MergePatch(path, {{"metadata", {{"labels", {{"team", team}}}}}});
  AwaitCache(path);
  MergePatch(path, {{"metadata", {{"annotations", {{"a", "b"}}}}}});
  AwaitCache(path);
  Delete(path);

  EXPECT_THAT(Operations(), ElementsAre("UPDATE", "UPDATE", "DELETE"));
  EXPECT_EQ(Requests()[0].at("name"), name);
  EXPECT_EQ(Requests()[0].at("namespace"), name);
}

// A16
TEST_F(WebhookSelectorsTest, ANewNamespaceIsSelectedByItsLabels) {
  const std::string team = UniqueName("team");
  const std::string name = UniqueName("conformance");
  Install(Type::kMutating, Webhook{.fields = NamespacesOf(team)});

  CreateNamespace(name, team);
  AwaitCache("/api/v1/namespaces/" + name);
  MergePatch("/api/v1/namespaces/" + name, {{"metadata", {{"labels", {{"team", "other"}}}}}});

  EXPECT_THAT(Operations(), ElementsAre("CREATE"));
  Delete("/api/v1/namespaces/" + name);
}

// A16
TEST_F(WebhookSelectorsTest, ANamespaceSelectorMatchesTheLabelsOfTheNamespaceOfAnObject) {
  const std::string team = UniqueName("team");
  json fields;
  fields["namespaceSelector"]["matchLabels"] = {{"team", team}};
  Install(Type::kValidating, Webhook{.fields = fields});
  CreateMap("before");

  MergePatch("/api/v1/namespaces/" + ns(), {{"metadata", {{"labels", {{"team", team}}}}}});
  const JsonResponse seen = Eventually(1, [&] {  // servers cache namespaces
    JsonResponse response = CreateMap(UniqueName("after"));
    response.status = static_cast<int>(Requests().size());
    return response;
  });

  EXPECT_EQ(seen.status, 1);
  EXPECT_NE(Requests().at(0).at("name"), "before");
}

// A16
TEST_F(WebhookSelectorsTest, AnObjectWithoutANamespaceMatchesEachNamespaceSelector) {
  const std::string group = "rbac.authorization.k8s.io";
  const std::string name = UniqueName("role");
  json fields{{"rules", {Rule({"CREATE"}, "clusterroles", group)}}};
  fields["namespaceSelector"]["matchLabels"] = {{"team", UniqueName("team")}};
  fields["objectSelector"]["matchLabels"] = {{"role", name}};  // no other test is affected
  Install(Type::kValidating, Webhook{.fields = fields});

  const std::string roles = "/apis/" + group + "/v1/clusterroles";
  Post(roles, {{"metadata", {{"name", name}, {"labels", {{"role", name}}}}}});
  Delete(roles + '/' + name);

  ASSERT_THAT(Requests(), SizeIs(1));
  EXPECT_EQ(Requests()[0].at("name"), name);
  EXPECT_FALSE(Requests()[0].contains("namespace"));
}

// A13
TEST_F(WebhookSelectorsTest, ANamespaceIsInTheScopeOfTheCluster) {
  const std::string team = UniqueName("team");
  const std::string name = UniqueName("conformance");
  std::vector<Webhook> webhooks;
  for (const char* scope : {"Cluster", "Namespaced", "*"}) {
    json fields = NamespacesOf(team);
    fields["rules"][0]["scope"] = scope;
    webhooks.push_back({.fields = fields});
  }
  Install(Type::kValidating, webhooks);

  CreateNamespace(name, team);

  std::vector<std::string> called;
  for (const json& request : Requests()) {
    called.push_back(request.at("webhook"));
    EXPECT_EQ(request.at("operation"), "CREATE");
    EXPECT_EQ(request.at("/kind/kind"_json_pointer), "Namespace");
    EXPECT_EQ(request.at("/resource/resource"_json_pointer), "namespaces");
    EXPECT_EQ(request.at("/object/metadata/name"_json_pointer), name);
  }
  EXPECT_THAT(called, UnorderedElementsAre("w0.example.com", "w2.example.com"));
  Delete("/api/v1/namespaces/" + name);
}

// A17
TEST_F(WebhookSelectorsTest, AnObjectInANamespaceThatDoesNotExistIsNotFound) {
  Install(Type::kMutating, Webhook{.respond =
                                       [](const json&) {
                                         return Denied({{"message", "called"}});
                                       },
                                   .fields = {{"namespaceSelector", json::object()}}});
  const std::string absent = UniqueName("absent");

  const JsonResponse created =
      Post("/api/v1/namespaces/" + absent + "/configmaps", MakeConfigMap("a"));

  EXPECT_EQ(created.status, 404);
  EXPECT_EQ(created.message(), "namespaces \"" + absent + "\" not found");
  EXPECT_THAT(Requests(), SizeIs(0));
}

// A17
TEST_F(WebhookSelectorsTest, ACreateInANamespaceThatIsBeingDeletedCallsNoWebhook) {
  const std::string name = UniqueName("deleted");
  const std::string path = "/api/v1/namespaces/" + name;
  ASSERT_EQ(Post("/api/v1/namespaces", {{"metadata", {{"name", name}}}}).status, 201);
  json map = MakeConfigMap("kept");
  map["metadata"]["finalizers"] = {"example.com/keep"};
  ASSERT_EQ(Post(path + "/configmaps", map).status, 201);
  Delete(path);
  Install(Type::kMutating,
          Webhook{.respond =
                      [](const json&) {
                        return Denied({{"message", "called"}});
                      },
                  .fields = {{"namespaceSelector",
                              {{"matchLabels", {{"kubernetes.io/metadata.name", name}}}}}}});

  const JsonResponse created = Post(path + "/configmaps", MakeConfigMap("a"));

  EXPECT_EQ(created.status, 403);
  EXPECT_THAT(created.message(), HasSubstr("because it is being terminated"));
  EXPECT_THAT(Requests(), SizeIs(0));
  MergePatch(path + "/configmaps/kept", {{"metadata", {{"finalizers", nullptr}}}});
}

}  // namespace
}  // namespace kopp::conformance
