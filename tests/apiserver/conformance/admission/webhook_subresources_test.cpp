// Webhooks for the scale subresource.
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

}  // namespace
}  // namespace kopp::conformance
