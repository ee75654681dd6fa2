#include "conformance.hpp"
#include "managed_fields.hpp"

#include <string>

namespace kopp::conformance {
namespace {

/// Who manages what, after applies and updates of one ConfigMap.
class OwnershipTest : public SharedObjectTest {};

TEST_F(OwnershipTest, TheSameValueIsShared) {
  ApplyData({{"k", "v"}}, "one");

  const Answer shared = ApplyData({{"k", "v"}}, "two");

  EXPECT_EQ(shared.status, 200);
  const std::string k = R"({"f:data": {"f:k": {}}})";
  EXPECT_THAT(ManagedFields(shared),
              ::testing::UnorderedElementsAre(Entry("one", "Apply", "v1", k),
                                              Entry("two", "Apply", "v1", k)));
}

TEST_F(OwnershipTest, AnApplyThatOnlySharesHasNoTime) {
  ApplyData({{"k", "v"}}, "one");

  const Answer shared = ApplyData({{"k", "v"}}, "two");

  const json& entries = shared.body["metadata"]["managedFields"];
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0]["manager"], "two") << "entries without a time come first";
  EXPECT_FALSE(entries[0].contains("time"));
  EXPECT_TRUE(entries[1].contains("time"));
}

TEST_F(OwnershipTest, ASharedFieldStaysUntilItsLastOwnerGivesItUp) {
  ApplyData({{"k", "v"}, {"l", "v"}}, "one");
  ApplyData({{"k", "v"}, {"m", "v"}}, "two");

  EXPECT_EQ(ApplyData({{"l", "v"}}, "one").at("/data"), json({{"k", "v"}, {"l", "v"}, {"m", "v"}}));
  EXPECT_EQ(ApplyData({{"m", "v"}}, "two").at("/data"), json({{"l", "v"}, {"m", "v"}}));
}

TEST_F(OwnershipTest, AnUpdateTakesTheFieldsThatItChanges) {
  ApplyData({{"k", "v"}, {"l", "v"}}, "one");

  const Answer written = MergePatch(Object() + "?fieldManager=writer", {{"data", {{"l", "w"}}}});

  EXPECT_EQ(ManagedFields(written),
            json({Entry("one", "Apply", "v1", R"({"f:data": {"f:k": {}}})"),
                  Entry("writer", "Update", "v1", R"({"f:data": {"f:l": {}}})")}));
}

TEST_F(OwnershipTest, AnUpdateThatRemovesAFieldTakesItFromItsOwner) {
  Answer object = ApplyData({{"k", "v"}, {"l", "v"}}, "one");
  object.body["data"].erase("l");

  const Answer written = Put(Object() + "?fieldManager=writer", object.body);

  EXPECT_EQ(ManagedFields(written),
            json({Entry("one", "Apply", "v1", R"({"f:data": {"f:k": {}}})")}));
}

TEST_F(OwnershipTest, AFieldThatAnUpdateTookIsNotRemovedWhenGivenUp) {
  ApplyData({{"k", "v"}, {"l", "v"}}, "one");
  MergePatch(Object() + "?fieldManager=writer", {{"data", {{"l", "w"}}}});

  const Answer applied = ApplyData({{"k", "v"}}, "one");

  EXPECT_EQ(applied.at("/data"), json({{"k", "v"}, {"l", "w"}}));
}

TEST_F(OwnershipTest, OneManagerHasAnEntryForEachOperation) {
  ApplyData({{"k", "v"}}, "one");

  const Answer written = MergePatch(Object() + "?fieldManager=one", {{"data", {{"l", "w"}}}});

  EXPECT_EQ(ManagedFields(written),
            json({Entry("one", "Apply", "v1", R"({"f:data": {"f:k": {}}})"),
                  Entry("one", "Update", "v1", R"({"f:data": {"f:l": {}}})")}));
}

TEST_F(OwnershipTest, AppliesStandBeforeUpdates) {
  Post(Path("configmaps") + "?fieldManager=writer",
       {{"metadata", {{"name", "a"}}}, {"data", {{"l", "w"}}}});

  const Answer applied = ApplyData({{"k", "v"}}, "one");

  EXPECT_EQ(ManagedFields(applied),
            json({Entry("one", "Apply", "v1", R"({"f:data": {"f:k": {}}})"),
                  Entry("writer", "Update", "v1", R"({"f:data": {".": {}, "f:l": {}}})")}));
}

TEST_F(OwnershipTest, ACreateWithoutAFieldManagerIsTheClients) {
  const Answer made =
      Post(Path("configmaps"),
           {{"metadata", {{"name", "a"}}}, {"binaryData", {{"b", "AQ=="}}}, {"immutable", true}});

  EXPECT_EQ(ManagedFields(made),
            json({Entry("kopp", "Update", "v1",
                        R"({"f:binaryData": {".": {}, "f:b": {}}, "f:immutable": {}})")}));
}

TEST_F(OwnershipTest, ManagedFieldsOfACreateAreTheServersOwn) {
  json object = AConfigMap("a");
  object["data"]["k"] = "v";
  object["metadata"]["managedFields"] =
      json::array({Entry("x", "Apply", "v1", R"({"f:data": {"f:k": {}}})")});

  const Answer made = Post(Path("configmaps"), object);

  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(ManagedFields(made),
            json({Entry("kopp", "Update", "v1", R"({"f:data": {".": {}, "f:k": {}}})")}));
}

TEST_F(OwnershipTest, WhatBeganWithoutFieldsIsNotTrackedUntilItIsApplied) {
  Post(Path("configmaps"), AConfigMap("a"));

  const Answer written = MergePatch(Object() + "?fieldManager=writer", {{"data", {{"k", "v"}}}});
  EXPECT_EQ(written.at("/metadata/managedFields"), nullptr);

  const Answer applied = ApplyData({{"l", "v"}}, "one");
  EXPECT_EQ(
      ManagedFields(applied),
      json({Entry("one", "Apply", "v1", R"({"f:data": {"f:l": {}}})"),
            Entry("before-first-apply", "Update", "v1", R"({"f:data": {".": {}, "f:k": {}}})")}));
}

TEST_F(OwnershipTest, AnEmptyEntryClearsThem) {
  ApplyData({{"k", "v"}}, "one");

  const Answer cleared =
      MergePatch(Object(), {{"metadata", {{"managedFields", json::array({json::object()})}}}});

  EXPECT_EQ(cleared.status, 200);
  EXPECT_EQ(cleared.at("/metadata/managedFields"), nullptr);
  EXPECT_EQ(cleared.str("/data/k"), "v");
}

TEST_F(OwnershipTest, AnEmptyListClearsThem) {
  ApplyData({{"k", "v"}}, "one");

  const Answer cleared = MergePatch(Object(), {{"metadata", {{"managedFields", json::array()}}}});

  EXPECT_EQ(cleared.at("/metadata/managedFields"), nullptr);
}

TEST_F(OwnershipTest, APutWithoutThemKeepsThem) {
  Answer object = ApplyData({{"k", "v"}}, "one");
  const json before = ManagedFields(object);
  object.body["metadata"].erase("managedFields");

  const Answer written = Put(Object(), object.body);

  EXPECT_EQ(ManagedFields(written), before);
}

TEST_F(OwnershipTest, AnUpdateCanRewriteThem) {
  ApplyData({{"k", "v"}, {"l", "v"}}, "one");
  const json rewritten = json::array({Entry("two", "Apply", "v1", R"({"f:data": {"f:k": {}}})")});

  const Answer written = MergePatch(Object(), {{"metadata", {{"managedFields", rewritten}}}});

  EXPECT_EQ(ManagedFields(written), rewritten);
}

TEST_F(OwnershipTest, TheStatusHasManagersOfItsOwn) {
  const std::string object = Path("apps/v1", "deployments") + "/a";
  Post(Path("apps/v1", "deployments"), ADeployment("a"));

  const Answer applied =
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
  EXPECT_EQ(ManagedFields(applied)[0], Entry("m", "Apply", "apps/v1",
                                             R"({"f:status": {
                        "f:conditions": {"k:{\"type\":\"Available\"}": {
                          ".": {}, "f:status": {}, "f:type": {}}},
                        "f:replicas": {}}})",
                                             "status"));
}

TEST_F(OwnershipTest, TheStatusIsPassedOverByTheObjectsOwnApply) {
  const std::string object = Path("apps/v1", "deployments") + "/a";
  const Answer made = Post(Path("apps/v1", "deployments"), ADeployment("a"));

  const Answer applied = Apply(object,
                               {{"apiVersion", "apps/v1"},
                                {"kind", "Deployment"},
                                {"metadata", {{"name", "a"}}},
                                {"status", {{"replicas", 1}}}},
                               "m");

  EXPECT_EQ(applied.status, 200);
  EXPECT_EQ(applied.body, made.body);
}

TEST_F(OwnershipTest, AnApplyOfTheStatusCreatesNothing) {
  const Answer answer = Apply(Path("apps/v1", "deployments") + "/a/status",
                              {{"apiVersion", "apps/v1"},
                               {"kind", "Deployment"},
                               {"metadata", {{"name", "a"}}},
                               {"status", {{"replicas", 1}}}},
                              "m");

  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.message(), "deployments.apps \"a\" not found");
}

TEST_F(OwnershipTest, TheManagerOfAScaleHasTheReplicasOfTheObject) {
  const std::string object = Path("apps/v1", "deployments") + "/a";
  Post(Path("apps/v1", "deployments"), ADeployment("a"));

  MergePatch(object + "/scale?fieldManager=scaler", {{"spec", {{"replicas", 5}}}});

  const json entries = Get(object).at("/metadata/managedFields");
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0],
            Entry("scaler", "Update", "apps/v1", R"({"f:spec": {"f:replicas": {}}})", "scale"))
      << "it has no time, and so comes first";
  EXPECT_FALSE(entries[1]["fieldsV1"]["f:spec"].contains("f:replicas"));
}

TEST_F(OwnershipTest, WhatADeploymentWasBeforeItsFirstApplyHasAnOwnerToo) {
  const std::string deployment = Path("apps/v1", "deployments") + "/a";
  Post(Path("apps/v1", "deployments"), ADeployment("a"));
  MergePatch(deployment, R"({"metadata": {"managedFields": [{}]}})"_json);
  MergePatch(deployment + "/status", R"({"status": {"replicas": 1}})"_json);

  const Answer applied = Apply(deployment,
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
