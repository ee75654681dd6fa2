#include "conformance.hpp"
#include "managed_fields.hpp"

#include <string>

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

/// Fixture of tests of conflicts of server-side apply on one ConfigMap.
class ApplyConflictTest : public SharedObjectTest {
 protected:
  JsonResponse PatchData(const json& data, const std::string& manager) {
    return MergePatch(ObjectPath() + "?fieldManager=" + manager, {{"data", data}});
  }
};

TEST_F(ApplyConflictTest, ChangingAFieldOfAnotherManagerIsRejected) {
  ApplyData({{"k", "v"}}, "one");

  const JsonResponse response = ApplyData({{"k", "w"}}, "two");

  EXPECT_EQ(response.status, 409);
  EXPECT_EQ(response.body,
            json({{"kind", "Status"},
                  {"apiVersion", "v1"},
                  {"metadata", json::object()},
                  {"status", "Failure"},
                  {"message", "Apply failed with 1 conflict: conflict with \"one\": .data.k"},
                  {"reason", "Conflict"},
                  {"details",
                   {{"causes",
                     {{{"reason", "FieldManagerConflict"},
                       {"message", "conflict with \"one\""},
                       {"field", ".data.k"}}}}}},
                  {"code", 409}}));
  EXPECT_EQ(Get(ObjectPath()).str("/data/k"), "v");
}

TEST_F(ApplyConflictTest, ConflictMessageListsAllFieldsOfOneManager) {
  ApplyData({{"k", "v"}, {"l", "v"}}, "one");

  const JsonResponse response = ApplyData({{"l", "w"}, {"k", "w"}}, "two");

  EXPECT_EQ(response.message(),
            "Apply failed with 2 conflicts: conflicts with \"one\":\n- .data.k\n- .data.l");
  EXPECT_THAT(Causes(response), ElementsAre("FieldManagerConflict .data.k: conflict with \"one\"",
                                            "FieldManagerConflict .data.l: conflict with \"one\""));
}

TEST_F(ApplyConflictTest, ConflictMessageListsAllManagersInOrderOfTheirNames) {
  ApplyData({{"k", "v"}}, "two");
  ApplyData({{"k", "v"}}, "one");

  const JsonResponse response = ApplyData({{"k", "w"}}, "three");

  EXPECT_EQ(response.message(),
            "Apply failed with 2 conflicts: conflicts with \"one\":\n- .data.k\n"
            "conflicts with \"two\":\n- .data.k");
  EXPECT_THAT(Causes(response),
              UnorderedElementsAre("FieldManagerConflict .data.k: conflict with \"one\"",
                                   "FieldManagerConflict .data.k: conflict with \"two\""));
}

TEST_F(ApplyConflictTest, ConflictWithAnUpdateContainsTheApiVersionOfTheUpdate) {
  ApplyData({{"l", "v"}}, "one");
  PatchData({{"k", "v"}}, "writer");

  const JsonResponse response = ApplyData({{"l", "v"}, {"k", "w"}}, "one");

  EXPECT_EQ(response.message(),
            "Apply failed with 1 conflict: conflict with \"writer\" using v1: .data.k");
  EXPECT_THAT(Causes(response),
              ElementsAre("FieldManagerConflict .data.k: conflict with \"writer\" using v1"));
}

TEST_F(ApplyConflictTest, ConflictWithAScaleUpdateContainsTheSubresource) {
  const std::string object = Path("apps/v1", "deployments") + "/a";
  Post(Path("apps/v1", "deployments"), MakeDeployment("a"));
  MergePatch(object + "/scale?fieldManager=scaler", {{"spec", {{"replicas", 5}}}});

  const JsonResponse response = Apply(object,
                                      {{"apiVersion", "apps/v1"},
                                       {"kind", "Deployment"},
                                       {"metadata", {{"name", "a"}}},
                                       {"spec", {{"replicas", 3}}}},
                                      "m");

  EXPECT_EQ(response.message(),
            "Apply failed with 1 conflict: conflict with \"scaler\" with subresource \"scale\" "
            "using apps/v1: .spec.replicas");
}

TEST_F(ApplyConflictTest, ApplyConflictsWithAnUpdateByTheSameManager) {
  ApplyData({{"k", "v"}}, "one");
  PatchData({{"k", "w"}}, "one");

  const JsonResponse response = ApplyData({{"k", "v"}}, "one");

  EXPECT_EQ(response.status, 409);
  EXPECT_EQ(response.message(),
            "Apply failed with 1 conflict: conflict with \"one\" using v1: .data.k");
}

TEST_F(ApplyConflictTest, ChangingASharedFieldConflictsWithTheOtherOwner) {
  ApplyData({{"k", "v"}}, "one");
  ApplyData({{"k", "v"}}, "two");

  const JsonResponse response = ApplyData({{"k", "w"}}, "one");

  EXPECT_EQ(response.message(), "Apply failed with 1 conflict: conflict with \"two\": .data.k");
}

TEST_F(ApplyConflictTest, ForceTransfersOwnershipOfTheConflictingField) {
  ApplyData({{"k", "v"}, {"l", "v"}}, "one");

  const JsonResponse response = ApplyData({{"k", "w"}}, "two", "&force=true");

  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.at("/data"), json({{"k", "w"}, {"l", "v"}}));
  EXPECT_EQ(ManagedFields(response),
            json({ManagedFieldsEntry("one", "Apply", "v1", R"({"f:data": {"f:l": {}}})"),
                  ManagedFieldsEntry("two", "Apply", "v1", R"({"f:data": {"f:k": {}}})")}));
}

TEST_F(ApplyConflictTest, ForceRemovesAManagerThatLosesItsLastField) {
  ApplyData({{"k", "v"}}, "one");

  const JsonResponse response = ApplyData({{"k", "w"}}, "two", "&force=true");

  EXPECT_EQ(ManagedFields(response),
            json({ManagedFieldsEntry("two", "Apply", "v1", R"({"f:data": {"f:k": {}}})")}));
}

TEST_F(ApplyConflictTest, ForceFalseStillReportsTheConflict) {
  ApplyData({{"k", "v"}}, "one");

  EXPECT_EQ(ApplyData({{"k", "w"}}, "two", "&force=false").status, 409);
}

TEST_F(ApplyConflictTest, ApplyingNullToAFieldOfAnotherManagerIsAConflict) {
  ApplyData({{"k", "v"}}, "one");

  const JsonResponse response = ApplyData({{"k", nullptr}}, "two");

  EXPECT_EQ(response.message(), "Apply failed with 1 conflict: conflict with \"one\": .data.k");
}

TEST_F(ApplyConflictTest, ChangingAnUnmanagedFieldConflictsWithBeforeFirstApply) {
  ApplyData({{"k", "v"}}, "one");
  MergePatch(ObjectPath(), {{"metadata", {{"managedFields", json::array({json::object()})}}}});

  const JsonResponse response = ApplyData({{"k", "w"}}, "two");

  EXPECT_EQ(response.message(),
            "Apply failed with 1 conflict: conflict with \"before-first-apply\" using v1: .data.k");
}

}  // namespace
}  // namespace kopp::conformance
