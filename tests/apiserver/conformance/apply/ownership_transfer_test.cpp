#include "conformance.hpp"
#include "managed_fields.hpp"

#include <string>

namespace kopp::conformance {
namespace {

/// Fixture of tests of how field ownership moves to another manager: what Client::WithFieldManager
/// and MigrateFieldManager of kopp depend on.
class OwnershipTransferTest : public SharedObjectTest {
 protected:
  /// Applies nothing but the identity of an object.
  JsonResponse ApplyNothing(const std::string& path, const json& object,
                            const std::string& manager) {
    json metadata = object["metadata"];
    return Apply(path,
                 {{"apiVersion", object["apiVersion"]},
                  {"kind", object["kind"]},
                  {"metadata", {{"name", metadata["name"]}, {"uid", metadata["uid"]}}}},
                 manager);
  }
  JsonResponse PatchManagedFields(const json& entries, const std::string& version) {
    return JsonPatch(
        ObjectPath(),
        {{{"op", "replace"}, {"path", "/metadata/managedFields"}, {"value", entries}},
         {{"op", "replace"}, {"path", "/metadata/resourceVersion"}, {"value", version}}});
  }
};

TEST_F(OwnershipTransferTest, AnApplyOfNothingRemovesTheFieldsOfTheManagerOnly) {
  ApplyData({{"kept", "1"}, {"dropped", "1"}}, "one");
  const JsonResponse shared = ApplyData({{"kept", "1"}}, "two");

  const JsonResponse released = ApplyNothing(ObjectPath(), shared.body, "one");

  EXPECT_EQ(released.status, 200) << released.text;
  EXPECT_EQ(released.at("/data"), json({{"kept", "1"}}));
  EXPECT_EQ(ManagedFields(released),
            json({ManagedFieldsEntry("two", "Apply", "v1", R"({"f:data": {"f:kept": {}}})")}));
}

TEST_F(OwnershipTransferTest, AnApplyOfNothingWithAUidCreatesNoObject) {
  const JsonResponse created = ApplyData({{"k", "1"}}, "one");
  Delete(ObjectPath());

  EXPECT_EQ(ApplyNothing(ObjectPath(), created.body, "one").status, 409);
  EXPECT_EQ(Get(ObjectPath()).status, 404);
}

TEST_F(OwnershipTransferTest, AnApplyOfNothingToTheStatusLeavesTheObject) {
  const std::string path = Path("apps/v1", "deployments") + "/a";
  json deployment = MakeDeployment("a");
  deployment.update({{"apiVersion", "apps/v1"}, {"kind", "Deployment"}});
  Apply(path, deployment, "one");
  const auto status = [&](const json& fields) {
    return json{{"apiVersion", "apps/v1"},
                {"kind", "Deployment"},
                {"metadata", {{"name", "a"}}},
                {"status", fields}};
  };
  Apply(path + "/status", status({{"replicas", 1}, {"updatedReplicas", 1}}), "one");
  const JsonResponse shared = Apply(path + "/status", status({{"replicas", 1}}), "two");

  const JsonResponse released = ApplyNothing(path + "/status", shared.body, "one");

  EXPECT_EQ(released.status, 200) << released.text;
  EXPECT_EQ(released.at("/status"), json({{"replicas", 1}}));
  EXPECT_EQ(released.at("/spec"), shared.at("/spec"));
  const json entries = ManagedFields(released);
  ASSERT_EQ(entries.size(), 2U) << entries;
  EXPECT_EQ(entries[0], ManagedFieldsEntry("two", "Apply", "apps/v1",
                                           R"({"f:status": {"f:replicas": {}}})", "status"));
  EXPECT_EQ(entries[1]["manager"], "one");
  EXPECT_FALSE(entries[1].contains("subresource"));
}

TEST_F(OwnershipTransferTest, AnApplyOfNothingToEphemeralContainersOwnsNothing) {
  json pod = Post(PodsPath(), MakePod("a")).body;
  pod.update({{"apiVersion", "v1"}, {"kind", "Pod"}});

  const JsonResponse applied = ApplyNothing(Path("pods") + "/a/ephemeralcontainers", pod, "one");

  EXPECT_EQ(applied.status, 200) << applied.text;
  EXPECT_EQ(ManagedFields(applied).size(), 1U) << ManagedFields(applied);
}

TEST_F(OwnershipTransferTest, TheResponseToAnApplyHasManagerAndOperationSideBySide) {
  EXPECT_THAT(ApplyData({{"k", "1"}}, "one").text,
              ::testing::HasSubstr(R"("manager":"one","operation":"Apply")"));
}

TEST_F(OwnershipTransferTest, APatchOfManagedFieldsMovesFieldsToAnotherManager) {
  const JsonResponse created = Post(Path("configmaps") + "?fieldManager=cli",
                                    {{"metadata", {{"name", "a"}}}, {"data", {{"k", "1"}}}});
  json entry = created.at("/metadata/managedFields/0");
  entry["manager"] = "one";
  entry["operation"] = "Apply";

  const JsonResponse patched =
      PatchManagedFields(json::array({entry}), created.str("/metadata/resourceVersion"));

  EXPECT_EQ(patched.status, 200) << patched.text;
  EXPECT_EQ(patched.at("/metadata/managedFields"), json::array({entry}));
  EXPECT_EQ(ApplyData({{"l", "1"}}, "one").at("/data"), json({{"l", "1"}}));
}

TEST_F(OwnershipTransferTest, APatchOfManagedFieldsOfAnOlderVersionIsAConflict) {
  const JsonResponse created = ApplyData({{"k", "1"}}, "one");
  ApplyData({{"k", "2"}}, "one");

  EXPECT_EQ(PatchManagedFields(created.at("/metadata/managedFields"),
                               created.str("/metadata/resourceVersion"))
                .status,
            409);
}

}  // namespace
}  // namespace kopp::conformance
