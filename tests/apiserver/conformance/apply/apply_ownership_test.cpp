#include "conformance.hpp"
#include "managed_fields.hpp"

#include <string>

namespace kopp::conformance {
namespace {

/// Fixture of tests of field ownership in metadata.managedFields after applies and updates of one
/// object.
class FieldOwnershipTest : public SharedObjectTest {};

TEST_F(FieldOwnershipTest, ManagersThatApplyTheSameValueShareTheField) {
  ApplyData({{"k", "v"}}, "one");

  const JsonResponse shared = ApplyData({{"k", "v"}}, "two");

  EXPECT_EQ(shared.status, 200);
  const std::string k = R"({"f:data": {"f:k": {}}})";
  EXPECT_THAT(ManagedFields(shared),
              ::testing::UnorderedElementsAre(ManagedFieldsEntry("one", "Apply", "v1", k),
                                              ManagedFieldsEntry("two", "Apply", "v1", k)));
}

TEST_F(FieldOwnershipTest, ApplyThatChangesNoValueRecordsAnEntryWithoutTime) {
  ApplyData({{"k", "v"}}, "one");

  const JsonResponse shared = ApplyData({{"k", "v"}}, "two");

  const json& entries = shared.body["metadata"]["managedFields"];
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0]["manager"], "two") << "entries without a time come first";
  EXPECT_FALSE(entries[0].contains("time"));
  EXPECT_TRUE(entries[1].contains("time"));
}

TEST_F(FieldOwnershipTest, SharedFieldIsRemovedWhenItsLastOwnerStopsApplyingIt) {
  ApplyData({{"k", "v"}, {"l", "v"}}, "one");
  ApplyData({{"k", "v"}, {"m", "v"}}, "two");

  EXPECT_EQ(ApplyData({{"l", "v"}}, "one").at("/data"), json({{"k", "v"}, {"l", "v"}, {"m", "v"}}));
  EXPECT_EQ(ApplyData({{"m", "v"}}, "two").at("/data"), json({{"l", "v"}, {"m", "v"}}));
}

TEST_F(FieldOwnershipTest, UpdateTakesOwnershipOfTheFieldsItChanges) {
  ApplyData({{"k", "v"}, {"l", "v"}}, "one");

  const JsonResponse written =
      MergePatch(ObjectPath() + "?fieldManager=writer", {{"data", {{"l", "w"}}}});

  EXPECT_EQ(ManagedFields(written),
            json({ManagedFieldsEntry("one", "Apply", "v1", R"({"f:data": {"f:k": {}}})"),
                  ManagedFieldsEntry("writer", "Update", "v1", R"({"f:data": {"f:l": {}}})")}));
}

TEST_F(FieldOwnershipTest, UpdateThatRemovesAFieldRemovesItFromItsOwner) {
  JsonResponse object = ApplyData({{"k", "v"}, {"l", "v"}}, "one");
  object.body["data"].erase("l");

  const JsonResponse written = Put(ObjectPath() + "?fieldManager=writer", object.body);

  EXPECT_EQ(ManagedFields(written),
            json({ManagedFieldsEntry("one", "Apply", "v1", R"({"f:data": {"f:k": {}}})")}));
}

TEST_F(FieldOwnershipTest, FieldTakenByAnUpdateRemainsWhenItsFormerOwnerStopsApplyingIt) {
  ApplyData({{"k", "v"}, {"l", "v"}}, "one");
  MergePatch(ObjectPath() + "?fieldManager=writer", {{"data", {{"l", "w"}}}});

  const JsonResponse applied = ApplyData({{"k", "v"}}, "one");

  EXPECT_EQ(applied.at("/data"), json({{"k", "v"}, {"l", "w"}}));
}

TEST_F(FieldOwnershipTest, ApplyAndUpdateByOneManagerHaveSeparateEntries) {
  ApplyData({{"k", "v"}}, "one");

  const JsonResponse written =
      MergePatch(ObjectPath() + "?fieldManager=one", {{"data", {{"l", "w"}}}});

  EXPECT_EQ(ManagedFields(written),
            json({ManagedFieldsEntry("one", "Apply", "v1", R"({"f:data": {"f:k": {}}})"),
                  ManagedFieldsEntry("one", "Update", "v1", R"({"f:data": {"f:l": {}}})")}));
}

TEST_F(FieldOwnershipTest, ApplyEntriesAreListedBeforeUpdateEntries) {
  Post(Path("configmaps") + "?fieldManager=writer",
       {{"metadata", {{"name", "a"}}}, {"data", {{"l", "w"}}}});

  const JsonResponse applied = ApplyData({{"k", "v"}}, "one");

  EXPECT_EQ(
      ManagedFields(applied),
      json({ManagedFieldsEntry("one", "Apply", "v1", R"({"f:data": {"f:k": {}}})"),
            ManagedFieldsEntry("writer", "Update", "v1", R"({"f:data": {".": {}, "f:l": {}}})")}));
}

TEST_F(FieldOwnershipTest, CreateWithoutFieldManagerRecordsTheProductNameInTheUserAgent) {
  const JsonResponse created =
      Post(Path("configmaps"),
           {{"metadata", {{"name", "a"}}}, {"binaryData", {{"b", "AQ=="}}}, {"immutable", true}});

  EXPECT_EQ(
      ManagedFields(created),
      json({ManagedFieldsEntry("kopp", "Update", "v1",
                               R"({"f:binaryData": {".": {}, "f:b": {}}, "f:immutable": {}})")}));
}

TEST_F(FieldOwnershipTest, CreateIgnoresManagedFieldsInTheBody) {
  json object = MakeConfigMap("a");
  object["data"]["k"] = "v";
  object["metadata"]["managedFields"] =
      json::array({ManagedFieldsEntry("x", "Apply", "v1", R"({"f:data": {"f:k": {}}})")});

  const JsonResponse created = Post(Path("configmaps"), object);

  EXPECT_EQ(created.status, 201);
  EXPECT_EQ(
      ManagedFields(created),
      json({ManagedFieldsEntry("kopp", "Update", "v1", R"({"f:data": {".": {}, "f:k": {}}})")}));
}

TEST_F(FieldOwnershipTest, ObjectCreatedWithoutFieldsIsNotTrackedBeforeItsFirstApply) {
  Post(Path("configmaps"), MakeConfigMap("a"));

  const JsonResponse written =
      MergePatch(ObjectPath() + "?fieldManager=writer", {{"data", {{"k", "v"}}}});
  EXPECT_EQ(written.at("/metadata/managedFields"), nullptr);

  const JsonResponse applied = ApplyData({{"l", "v"}}, "one");
  EXPECT_EQ(ManagedFields(applied),
            json({ManagedFieldsEntry("one", "Apply", "v1", R"({"f:data": {"f:l": {}}})"),
                  ManagedFieldsEntry("before-first-apply", "Update", "v1",
                                     R"({"f:data": {".": {}, "f:k": {}}})")}));
}

TEST_F(FieldOwnershipTest, PatchWithAnEmptyEntryClearsManagedFields) {
  ApplyData({{"k", "v"}}, "one");

  const JsonResponse cleared =
      MergePatch(ObjectPath(), {{"metadata", {{"managedFields", json::array({json::object()})}}}});

  EXPECT_EQ(cleared.status, 200);
  EXPECT_EQ(cleared.at("/metadata/managedFields"), nullptr);
  EXPECT_EQ(cleared.str("/data/k"), "v");
}

TEST_F(FieldOwnershipTest, PatchWithAnEmptyListClearsManagedFields) {
  ApplyData({{"k", "v"}}, "one");

  const JsonResponse cleared =
      MergePatch(ObjectPath(), {{"metadata", {{"managedFields", json::array()}}}});

  EXPECT_EQ(cleared.at("/metadata/managedFields"), nullptr);
}

TEST_F(FieldOwnershipTest, PutWithoutManagedFieldsKeepsThem) {
  JsonResponse object = ApplyData({{"k", "v"}}, "one");
  const json before = ManagedFields(object);
  object.body["metadata"].erase("managedFields");

  const JsonResponse written = Put(ObjectPath(), object.body);

  EXPECT_EQ(ManagedFields(written), before);
}

TEST_F(FieldOwnershipTest, PatchCanReplaceManagedFields) {
  ApplyData({{"k", "v"}, {"l", "v"}}, "one");
  const json rewritten =
      json::array({ManagedFieldsEntry("two", "Apply", "v1", R"({"f:data": {"f:k": {}}})")});

  const JsonResponse written =
      MergePatch(ObjectPath(), {{"metadata", {{"managedFields", rewritten}}}});

  EXPECT_EQ(ManagedFields(written), rewritten);
}

TEST_F(FieldOwnershipTest, ApplyToStatusRecordsAnEntryOfTheStatusSubresource) {
  const std::string object = Path("apps/v1", "deployments") + "/a";
  Post(Path("apps/v1", "deployments"), MakeDeployment("a"));

  const JsonResponse applied =
      Apply(object + "/status",
            {{"apiVersion", "apps/v1"},
             {"kind", "Deployment"},
             {"metadata", {{"name", "a"}}},
             {"spec", {{"replicas", 9}}},
             {"status",
              {{"replicas", 1}, {"conditions", {{{"type", "Available"}, {"status", "True"}}}}}}},
            "m");

  EXPECT_EQ(applied.status, 200);
  EXPECT_EQ(applied.at("/spec/replicas"), 1);
  EXPECT_EQ(applied.at("/status/replicas"), 1);
  EXPECT_EQ(ManagedFields(applied)[0], ManagedFieldsEntry("m", "Apply", "apps/v1",
                                                          R"({"f:status": {
                        "f:conditions": {"k:{\"type\":\"Available\"}": {
                          ".": {}, "f:status": {}, "f:type": {}}},
                        "f:replicas": {}}})",
                                                          "status"));
}

TEST_F(FieldOwnershipTest, ApplyToTheMainResourceIgnoresStatus) {
  const std::string object = Path("apps/v1", "deployments") + "/a";
  const JsonResponse created = Post(Path("apps/v1", "deployments"), MakeDeployment("a"));

  const JsonResponse applied = Apply(object,
                                     {{"apiVersion", "apps/v1"},
                                      {"kind", "Deployment"},
                                      {"metadata", {{"name", "a"}}},
                                      {"status", {{"replicas", 1}}}},
                                     "m");

  EXPECT_EQ(applied.status, 200);
  EXPECT_EQ(applied.body, created.body);
}

TEST_F(FieldOwnershipTest, ApplyToStatusOfAMissingObjectIsNotFound) {
  const JsonResponse response = Apply(Path("apps/v1", "deployments") + "/a/status",
                                      {{"apiVersion", "apps/v1"},
                                       {"kind", "Deployment"},
                                       {"metadata", {{"name", "a"}}},
                                       {"status", {{"replicas", 1}}}},
                                      "m");

  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.message(), "deployments.apps \"a\" not found");
}

TEST_F(FieldOwnershipTest, UpdateOfScaleTakesOwnershipOfReplicas) {
  const std::string object = Path("apps/v1", "deployments") + "/a";
  Post(Path("apps/v1", "deployments"), MakeDeployment("a"));

  MergePatch(object + "/scale?fieldManager=scaler", {{"spec", {{"replicas", 5}}}});

  const json entries = Get(object).at("/metadata/managedFields");
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0], ManagedFieldsEntry("scaler", "Update", "apps/v1",
                                           R"({"f:spec": {"f:replicas": {}}})", "scale"))
      << "it has no time, and so comes first";
  EXPECT_FALSE(entries[1]["fieldsV1"]["f:spec"].contains("f:replicas"));
}

TEST_F(FieldOwnershipTest, FirstApplyRecordsUntrackedFieldsAsBeforeFirstApplyWithoutStatus) {
  const std::string deployment = Path("apps/v1", "deployments") + "/a";
  Post(Path("apps/v1", "deployments"), MakeDeployment("a"));
  MergePatch(deployment, R"({"metadata": {"managedFields": [{}]}})"_json);
  MergePatch(deployment + "/status", R"({"status": {"replicas": 1}})"_json);

  const JsonResponse applied = Apply(deployment,
                                     {{"apiVersion", "apps/v1"},
                                      {"kind", "Deployment"},
                                      {"metadata", {{"name", "a"}, {"labels", {{"k", "v"}}}}}},
                                     "m");

  const json entries = applied.at("/metadata/managedFields");
  ASSERT_EQ(entries.size(), 2) << entries;
  EXPECT_EQ(entries[1]["manager"], "before-first-apply");
  EXPECT_TRUE(entries[1].contains("time"));
  EXPECT_TRUE(entries[1]["fieldsV1"]["f:spec"].contains("f:selector")) << entries;
  EXPECT_FALSE(entries[1]["fieldsV1"].contains("f:status")) << entries;
}

}  // namespace
}  // namespace kopp::conformance
