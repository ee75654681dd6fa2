// The checks of the admission plugin OwnerReferencesPermissionEnforcement, which a test cluster
// does not enable for the conformance suite.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/testing/api_server.hpp>

namespace kopp {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr const char* kRbac = "/apis/rbac.authorization.k8s.io/v1/clusterrole";
constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";

/// A server whose user jane may create and patch ConfigMaps, and do what a test adds.
class OwnerReferenceCheckTest : public ::testing::Test {
 protected:
  OwnerReferenceCheckTest() {
    const json labels{{"app", "web"}};
    const ApiResponse owner =
        Send(server_.transport(), "POST", "/apis/apps/v1/namespaces/default/deployments",
             {{"metadata", {{"name", "web"}}},
              {"spec",
               {{"selector", {{"matchLabels", labels}}},
                {"template",
                 {{"metadata", {{"labels", labels}}},
                  {"spec", {{"containers", {{{"name", "web"}, {"image", "web"}}}}}}}}}}});
    uid_ = json::parse(owner.body).at("metadata").at("uid");
    Allow({"create", "patch"}, "configmaps");
    const json subject{{"kind", "User"}, {"name", "jane"}};
    Send(server_.transport(), "POST", std::string(kRbac) + "bindings",
         {{"metadata", {{"name", "jane"}}},
          {"roleRef", {{"kind", "ClusterRole"}, {"name", "jane"}}},
          {"subjects", json::array({subject})}});
  }

  void Allow(const std::vector<std::string>& verbs, const std::string& resource,
             const std::string& group = "") {
    rules_.push_back(
        {{"apiGroups", json::array({group})}, {"resources", {resource}}, {"verbs", verbs}});
    const json role{{"apiVersion", "rbac.authorization.k8s.io/v1"},
                    {"kind", "ClusterRole"},
                    {"metadata", {{"name", "jane"}}},
                    {"rules", rules_}};
    const ApiResponse response = server_.transport().Call(
        {.method = "PATCH",
         .target = std::string(kRbac) + "s/jane?fieldManager=test&force=true",
         .body = role.dump(),
         .content_type = "application/apply-patch+yaml"});
    ASSERT_LT(response.status, 300) << response.body;
  }

  static ApiResponse Send(Transport& transport, const std::string& method,
                          const std::string& target, const json& body) {
    return transport.Call(
        {.method = method,
         .target = target,
         .body = body.dump(),
         .content_type = method == "PATCH" ? "application/merge-patch+json" : "application/json"});
  }
  /// Creates a ConfigMap with an owner as jane.
  ApiResponse Create(const json& owner) { return Send(*jane_, "POST", kMaps, MapWith({owner})); }
  /// Replaces the owners of the ConfigMap `child` as jane.
  ApiResponse Patch(const std::vector<json>& owners) {
    return Send(*jane_, "PATCH", std::string(kMaps) + "/child",
                {{"metadata", {{"ownerReferences", owners}}}});
  }

  static json MapWith(const std::vector<json>& owners) {
    return {{"metadata", {{"name", "child"}, {"ownerReferences", owners}}}};
  }
  json Owner(bool blocks) { return Owner(blocks, uid_); }
  static json Owner(bool blocks, const std::string& uid) {
    return {{"apiVersion", "apps/v1"},
            {"kind", "Deployment"},
            {"name", "web"},
            {"uid", uid},
            {"blockOwnerDeletion", blocks}};
  }

  testing::ApiServer server_{
      {.authorization = testing::AuthorizationMode::kRbac, .checks_owner_references = true}};
  std::unique_ptr<Transport> jane_ = server_.TransportAs("jane");
  json rules_ = json::array();
  std::string uid_;  // of the Deployment that owns the ConfigMaps
};

TEST_F(OwnerReferenceCheckTest, BlockingReferenceWithoutPermissionOnTheFinalizersIsRejected) {
  const ApiResponse response = Create(Owner(true));

  EXPECT_EQ(response.status, 403);
  EXPECT_EQ(json::parse(response.body)["message"],
            "configmaps \"child\" is forbidden: cannot set blockOwnerDeletion if an ownerReference "
            "refers to a resource you can't set finalizers on: , <nil>");
}

TEST_F(OwnerReferenceCheckTest, BlockingReferenceNeedsUpdateOnTheFinalizersOfTheOwner) {
  Allow({"update"}, "deployments/finalizers", "apps");

  EXPECT_EQ(Create(Owner(true)).status, 201);
}

TEST_F(OwnerReferenceCheckTest, OtherReferencesOfANewObjectNeedNoPermission) {
  EXPECT_EQ(Create(Owner(false)).status, 201);
}

TEST_F(OwnerReferenceCheckTest, BlockingReferenceToAnUnknownKindIsRejected) {
  json owner = Owner(true);
  owner["kind"] = "Gadget";

  const ApiResponse response = Create(owner);

  EXPECT_EQ(response.status, 403);
  EXPECT_THAT(response.body,
              HasSubstr("cannot find RESTMapping for APIVersion apps/v1 Kind Gadget"));
}

TEST(OwnerReferencesTest, NothingIsCheckedWithoutRbac) {
  testing::ApiServer server({.checks_owner_references = true});
  const json owner{{"apiVersion", "example.com/v1"},
                   {"kind", "Gadget"},
                   {"name", "web"},
                   {"uid", "1"},
                   {"blockOwnerDeletion", true}};
  const json map{{"metadata", {{"name", "child"}, {"ownerReferences", {owner}}}}};

  EXPECT_EQ(server.transport().Call({.method = "POST", .target = kMaps, .body = map.dump()}).status,
            201);
}

TEST_F(OwnerReferenceCheckTest, AnInvalidReferenceIsReportedBeforeAMissingPermission) {
  json owner = Owner(true);
  owner["name"] = "";

  EXPECT_EQ(Create(owner).status, 422);
}

TEST_F(OwnerReferenceCheckTest, ChangedReferencesOfAnExistingObjectNeedDeleteOnIt) {
  Send(server_.transport(), "POST", kMaps, MapWith({Owner(false)}));

  const ApiResponse response = Patch({});

  EXPECT_EQ(response.status, 403);
  EXPECT_EQ(json::parse(response.body)["message"],
            "configmaps \"child\" is forbidden: cannot set an ownerRef on a resource you can't "
            "delete: , <nil>");
  Allow({"delete"}, "configmaps");
  EXPECT_EQ(Patch({}).status, 200);
}

TEST_F(OwnerReferenceCheckTest, OnlyNewBlockingReferencesNeedThePermissionOnTheFinalizers) {
  Allow({"delete"}, "configmaps");
  Send(server_.transport(), "POST", kMaps, MapWith({Owner(true)}));

  EXPECT_EQ(Patch({Owner(true), Owner(false, "2")}).status, 200);
  EXPECT_EQ(Patch({Owner(true), Owner(true, "2")}).status, 403);
}

TEST_F(OwnerReferenceCheckTest, OtherChangesNeedNoFurtherPermission) {
  Send(server_.transport(), "POST", kMaps, MapWith({Owner(true)}));

  const ApiResponse response =
      Send(*jane_, "PATCH", std::string(kMaps) + "/child", {{"data", {{"color", "red"}}}});

  EXPECT_EQ(response.status, 200);
}

}  // namespace
}  // namespace kopp
