// Webhooks for subresources and for objects that are not stored.
#include "admission/webhook_test_server.hpp"

namespace kopp::conformance {
namespace {

using ::testing::SizeIs;

class WebhookSubresourcesTest : public WebhookCallTest {
 protected:
  static json Fields(const std::string& resource, const std::string& group = "") {
    return {{"rules", {Rule({"*"}, resource, group)}}};
  }
  /// Expects one request, with the kind, resource and subresource "GROUP/VERSION/NAME".
  void ExpectRequest(const std::string& kind, const std::string& resource,
                     const std::string& subresource) {
    ASSERT_THAT(Requests(), SizeIs(1));
    const json request = Requests()[0];
    for (const char* field : {"kind", "requestKind"}) {
      EXPECT_EQ(Text(request.at(field), "kind"), kind);
    }
    for (const char* field : {"resource", "requestResource"}) {
      EXPECT_EQ(Text(request.at(field), "resource"), resource);
    }
    EXPECT_EQ(request.value("subResource", ""), subresource);
    EXPECT_EQ(request.value("requestSubResource", ""), subresource);
  }
  json Request() { return Requests().at(0); }

 private:
  static std::string Text(const json& value, const char* name) {
    return value.at("group").get<std::string>() + '/' + value.at("version").get<std::string>() +
           '/' + value.at(name).get<std::string>();
  }
};

// A12
TEST_F(WebhookSubresourcesTest, AnUpdateOfAScaleIsSentAsAScale) {
  const std::string path = Path("apps/v1", "deployments") + "/web";
  Post(Path("apps/v1", "deployments"), MakeDeployment("web"));
  Install(Type::kValidating, {{.fields = Fields("deployments/scale", "apps")},
                              {.fields = Fields("deployments", "apps")}});

  const JsonResponse scaled = MergePatch(path + "/scale", {{"spec", {{"replicas", 3}}}});

  EXPECT_EQ(scaled.status, 200) << scaled.text;
  ExpectRequest("autoscaling/v1/Scale", "apps/v1/deployments", "scale");
  EXPECT_EQ(Request().at("operation"), "UPDATE");
  EXPECT_EQ(Request().at("name"), "web");
  EXPECT_EQ(Request().at("/object/kind"_json_pointer), "Scale");
  EXPECT_EQ(Request().at("/object/apiVersion"_json_pointer), "autoscaling/v1");
  EXPECT_EQ(Request().at("/object/spec/replicas"_json_pointer), 3);
  EXPECT_EQ(Request().at("/oldObject/spec/replicas"_json_pointer), 1);
}

// A12
TEST_F(WebhookSubresourcesTest, APatchOfAScaleChangesTheReplicas) {
  const std::string path = Path("apps/v1", "deployments") + "/web";
  Post(Path("apps/v1", "deployments"), MakeDeployment("web"));
  Install(
      Type::kMutating,
      Webhook{.respond =
                  [](const json&) {
                    return Allowed({{{"op", "replace"}, {"path", "/spec/replicas"}, {"value", 2}}});
                  },
              .fields = Fields("deployments/scale", "apps")});

  const JsonResponse scaled =
      Put(path + "/scale", {{"metadata", {{"name", "web"}}}, {"spec", {{"replicas", 5}}}});

  EXPECT_EQ(scaled.at("/spec/replicas"), 2) << scaled.text;
  EXPECT_EQ(Get(path).at("/spec/replicas"), 2);
}

// A12
TEST_F(WebhookSubresourcesTest, ADeniedScaleKeepsTheReplicas) {
  const std::string path = Path("apps/v1", "deployments") + "/web";
  Post(Path("apps/v1", "deployments"), MakeDeployment("web"));
  Install(Type::kValidating, Webhook{.respond =
                                         [](const json&) {
                                           return Denied({{"code", 403}});
                                         },
                                     .fields = Fields("deployments/scale", "apps")});

  EXPECT_EQ(MergePatch(path + "/scale", {{"spec", {{"replicas", 3}}}}).status, 403);
  EXPECT_EQ(Get(path).at("/spec/replicas"), 1);
}

TEST_F(WebhookSubresourcesTest, AnEvictionCanBeDenied) {
  const std::string pods = PodsPath();
  Post(pods, MakePod("a"));
  Install(Type::kValidating, Webhook{.respond =
                                         [](const json&) {
                                           return Denied({{"code", 403}});
                                         },
                                     .fields = Fields("pods/eviction")});

  const JsonResponse evicted =
      Post(pods + "/a/eviction",
           {{"apiVersion", "policy/v1"}, {"kind", "Eviction"}, {"metadata", {{"name", "a"}}}});

  EXPECT_EQ(evicted.status, 403) << evicted.text;
  EXPECT_EQ(Get(pods + "/a").status, 200);
  ExpectRequest("policy/v1/Eviction", "/v1/pods", "eviction");
  EXPECT_EQ(Request().at("operation"), "CREATE");
  EXPECT_EQ(Request().at("name"), "a");
  EXPECT_EQ(Request().at("oldObject"), json());
  EXPECT_EQ(Request().at("/object/kind"_json_pointer), "Eviction");
}

TEST_F(WebhookSubresourcesTest, ABindingIsSentToWebhooks) {
  const std::string pods = PodsPath();
  Post(pods, MakePod("a"));
  Install(Type::kMutating, Webhook{.fields = Fields("pods/binding")});

  const JsonResponse bound =
      Post(pods + "/a/binding", {{"apiVersion", "v1"},
                                 {"kind", "Binding"},
                                 {"metadata", {{"name", "a"}}},
                                 {"target", {{"kind", "Node"}, {"name", "node-1"}}}});

  EXPECT_EQ(bound.status, 201) << bound.text;
  ExpectRequest("/v1/Binding", "/v1/pods", "binding");
}

TEST_F(WebhookSubresourcesTest, ATokenRequestIsSentToWebhooks) {
  Post(Path("serviceaccounts"), MakeObjectWithName("a"));
  Install(Type::kValidating, Webhook{.fields = Fields("serviceaccounts/token")});

  const JsonResponse token =
      Post(Path("serviceaccounts") + "/a/token",
           {{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "TokenRequest"}});

  EXPECT_EQ(token.status, 201) << token.text;
  ExpectRequest("authentication.k8s.io/v1/TokenRequest", "/v1/serviceaccounts", "token");
  EXPECT_EQ(Request().at("name"), "a");
}

// A15
// Servers before 1.37 call webhooks for reviews.
TEST_F(WebhookSubresourcesTest, AReviewIsSentToWebhooks) {
  const std::string group = "authorization.k8s.io";
  Install(Type::kValidating, Webhook{.fields = Fields("localsubjectaccessreviews", group)});

  const JsonResponse review = Post(
      Path(group + "/v1", "localsubjectaccessreviews"),
      {{"apiVersion", group + "/v1"},
       {"kind", "LocalSubjectAccessReview"},
       {"spec",
        {{"user", "u"},
         {"resourceAttributes", {{"namespace", ns()}, {"verb", "get"}, {"resource", "pods"}}}}}});

  EXPECT_EQ(review.status, 201) << review.text;
  ExpectRequest("authorization.k8s.io/v1/LocalSubjectAccessReview",
                "authorization.k8s.io/v1/localsubjectaccessreviews", "");
  EXPECT_FALSE(Request().contains("name"));
}

}  // namespace
}  // namespace kopp::conformance
