#include "conformance.hpp"
#include "managed_fields.hpp"

#include <string>

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

class ApplyConflictTest : public SharedObjectTest {
 protected:
  Answer Write(const json& data, const std::string& manager) {
    return MergePatch(Object() + "?fieldManager=" + manager, {{"data", data}});
  }
};

TEST_F(ApplyConflictTest, AnotherValueForAnothersFieldIsRefused) {
  ApplyData({{"k", "v"}}, "one");

  const Answer answer = ApplyData({{"k", "w"}}, "two");

  EXPECT_EQ(answer.status, 409);
  EXPECT_EQ(answer.body,
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
  EXPECT_EQ(Get(Object()).str("/data/k"), "v");
}

TEST_F(ApplyConflictTest, SeveralFieldsOfOneManagerAreListed) {
  ApplyData({{"k", "v"}, {"l", "v"}}, "one");

  const Answer answer = ApplyData({{"l", "w"}, {"k", "w"}}, "two");

  EXPECT_EQ(answer.message(),
            "Apply failed with 2 conflicts: conflicts with \"one\":\n- .data.k\n- .data.l");
  EXPECT_THAT(Causes(answer), ElementsAre("FieldManagerConflict .data.k: conflict with \"one\"",
                                          "FieldManagerConflict .data.l: conflict with \"one\""));
}

TEST_F(ApplyConflictTest, SeveralManagersAreListedByName) {
  ApplyData({{"k", "v"}}, "two");
  ApplyData({{"k", "v"}}, "one");

  const Answer answer = ApplyData({{"k", "w"}}, "three");

  EXPECT_EQ(answer.message(),
            "Apply failed with 2 conflicts: conflicts with \"one\":\n- .data.k\n"
            "conflicts with \"two\":\n- .data.k");
  EXPECT_THAT(Causes(answer),
              UnorderedElementsAre("FieldManagerConflict .data.k: conflict with \"one\"",
                                   "FieldManagerConflict .data.k: conflict with \"two\""));
}

TEST_F(ApplyConflictTest, AManagerByUpdateIsNamedWithItsVersion) {
  ApplyData({{"l", "v"}}, "one");
  Write({{"k", "v"}}, "writer");

  const Answer answer = ApplyData({{"l", "v"}, {"k", "w"}}, "one");

  EXPECT_EQ(answer.message(),
            "Apply failed with 1 conflict: conflict with \"writer\" using v1: .data.k");
  EXPECT_THAT(Causes(answer),
              ElementsAre("FieldManagerConflict .data.k: conflict with \"writer\" using v1"));
}

TEST_F(ApplyConflictTest, AManagerBySubresourceIsNamedWithIt) {
  const std::string object = Path("apps/v1", "deployments") + "/a";
  Post(Path("apps/v1", "deployments"), ADeployment("a"));
  MergePatch(object + "/scale?fieldManager=scaler", {{"spec", {{"replicas", 5}}}});

  const Answer answer = Apply(object,
                              {{"apiVersion", "apps/v1"},
                               {"kind", "Deployment"},
                               {"metadata", {{"name", "a"}}},
                               {"spec", {{"replicas", 3}}}},
                              "m");

  EXPECT_EQ(answer.message(),
            "Apply failed with 1 conflict: conflict with \"scaler\" with subresource \"scale\" "
            "using apps/v1: .spec.replicas");
}

TEST_F(ApplyConflictTest, AManagersOwnUpdateIsInItsWayToo) {
  ApplyData({{"k", "v"}}, "one");
  Write({{"k", "w"}}, "one");

  const Answer answer = ApplyData({{"k", "v"}}, "one");

  EXPECT_EQ(answer.status, 409);
  EXPECT_EQ(answer.message(),
            "Apply failed with 1 conflict: conflict with \"one\" using v1: .data.k");
}

TEST_F(ApplyConflictTest, OneOfTwoOwnersCannotChangeTheValue) {
  ApplyData({{"k", "v"}}, "one");
  ApplyData({{"k", "v"}}, "two");

  const Answer answer = ApplyData({{"k", "w"}}, "one");

  EXPECT_EQ(answer.message(), "Apply failed with 1 conflict: conflict with \"two\": .data.k");
}

TEST_F(ApplyConflictTest, ForceTakesTheFieldAway) {
  ApplyData({{"k", "v"}, {"l", "v"}}, "one");

  const Answer answer = ApplyData({{"k", "w"}}, "two", "&force=true");

  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.at("/data"), json({{"k", "w"}, {"l", "v"}}));
  EXPECT_EQ(ManagedFields(answer),
            json({Entry("one", "Apply", "v1", R"({"f:data": {"f:l": {}}})"),
                  Entry("two", "Apply", "v1", R"({"f:data": {"f:k": {}}})")}));
}

TEST_F(ApplyConflictTest, AManagerThatLosesItsLastFieldIsGone) {
  ApplyData({{"k", "v"}}, "one");

  const Answer answer = ApplyData({{"k", "w"}}, "two", "&force=true");

  EXPECT_EQ(ManagedFields(answer),
            json({Entry("two", "Apply", "v1", R"({"f:data": {"f:k": {}}})")}));
}

TEST_F(ApplyConflictTest, ForceFalseIsNoForce) {
  ApplyData({{"k", "v"}}, "one");

  EXPECT_EQ(ApplyData({{"k", "w"}}, "two", "&force=false").status, 409);
}

TEST_F(ApplyConflictTest, NullForAnothersFieldIsAConflict) {
  ApplyData({{"k", "v"}}, "one");

  const Answer answer = ApplyData({{"k", nullptr}}, "two");

  EXPECT_EQ(answer.message(), "Apply failed with 1 conflict: conflict with \"one\": .data.k");
}

TEST_F(ApplyConflictTest, WhatNobodyManagesBelongsToBeforeFirstApply) {
  ApplyData({{"k", "v"}}, "one");
  MergePatch(Object(), {{"metadata", {{"managedFields", json::array({json::object()})}}}});

  const Answer answer = ApplyData({{"k", "w"}}, "two");

  EXPECT_EQ(answer.message(),
            "Apply failed with 1 conflict: conflict with \"before-first-apply\" using v1: .data.k");
}

}  // namespace
}  // namespace kopp::conformance
