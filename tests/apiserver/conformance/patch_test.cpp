#include "conformance.hpp"
#include "explanations.hpp"
#include "managed_fields.hpp"

#include <string>

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Patches of one ConfigMap.
class MergePatchTest : public ConformanceTest {
 protected:
  void SetUp() override {
    object_ = Path("configmaps") + "/a";
    made_ = Post(Path("configmaps"), {{"metadata",
                                       {{"name", "a"},
                                        {"labels", {{"x", "1"}, {"y", "2"}}},
                                        {"finalizers", {"example.com/a", "example.com/b"}}}},
                                      {"data", {{"k", "v"}, {"l", "w"}}}});
  }

  /// The patch as it is, which need not be JSON.
  Answer Send(const std::string& patch, const std::string& query = "") {
    return Call({.method = "PATCH",
                 .target = object_ + query,
                 .body = patch,
                 .content_type = "application/merge-patch+json"});
  }

  std::string object_;
  Answer made_{};
};

TEST_F(MergePatchTest, FieldsAreSetAndOthersStay) {
  const Answer patched = MergePatch(object_, {{"data", {{"k", "2"}, {"m", "3"}}}});

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(patched.at("/data"), json({{"k", "2"}, {"l", "w"}, {"m", "3"}}));
  EXPECT_EQ(patched.at("/metadata/labels"), json({{"x", "1"}, {"y", "2"}}));
  EXPECT_NE(patched.version(), made_.version());
  EXPECT_EQ(Get(object_).body, patched.body);
}

TEST_F(MergePatchTest, NullRemovesAndNeedFindNothing) {
  const Answer patched =
      MergePatch(object_, {{"data", {{"k", nullptr}, {"none", nullptr}}}, {"binaryData", nullptr}});

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(patched.at("/data"), json({{"l", "w"}}));
}

TEST_F(MergePatchTest, AnObjectWhoseFieldsAreAllRemovedIsGone) {
  const Answer patched = MergePatch(object_, {{"data", {{"k", nullptr}, {"l", nullptr}}}});

  EXPECT_FALSE(patched.body.contains("data")) << patched.text;
}

TEST_F(MergePatchTest, ListsAreReplacedWhole) {
  const Answer patched = MergePatch(object_, {{"metadata", {{"finalizers", {"example.com/c"}}}}});

  EXPECT_EQ(patched.at("/metadata/finalizers"), json({"example.com/c"}));
}

TEST_F(MergePatchTest, APatchThatChangesNothingKeepsTheVersion) {
  EXPECT_EQ(MergePatch(object_, {{"data", {{"k", "v"}}}}).body, made_.body);
  EXPECT_EQ(MergePatch(object_, json::object()).body, made_.body);
}

TEST_F(MergePatchTest, TheVersionInAPatchMustBeTheNewest) {
  MergePatch(object_, {{"data", {{"k", "2"}}}});

  const Answer late = MergePatch(
      object_, {{"metadata", {{"resourceVersion", made_.version()}}}, {"data", {{"k", "3"}}}});

  EXPECT_EQ(late.status, 409);
  EXPECT_EQ(late.reason(), "Conflict");
  EXPECT_EQ(late.message(),
            "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; "
            "please apply your changes to the latest version and try again");
  EXPECT_EQ(late.at("/details"), json({{"name", "a"}, {"kind", "configmaps"}}));
  EXPECT_EQ(Get(object_).str("/data/k"), "2");
}

TEST_F(MergePatchTest, TheNewestVersionInAPatchIsTaken) {
  const Answer patched = MergePatch(
      object_, {{"metadata", {{"resourceVersion", made_.version()}}}, {"data", {{"k", "3"}}}});

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(patched.str("/data/k"), "3");
}

TEST_F(MergePatchTest, AnOldVersionIsAConflictThoughNothingElseChanges) {
  EXPECT_EQ(MergePatch(object_, {{"metadata", {{"resourceVersion", "1"}}}}).status, 409);
}

TEST_F(MergePatchTest, ANullVersionAsksForNone) {
  const Answer patched =
      MergePatch(object_, {{"metadata", {{"resourceVersion", nullptr}}}, {"data", {{"k", "3"}}}});

  EXPECT_EQ(patched.status, 200);
}

TEST_F(MergePatchTest, WhatIsNotThereCannotBePatched) {
  const Answer answer = MergePatch(Path("configmaps") + "/none", {{"data", {{"k", "v"}}}});

  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.message(), "configmaps \"none\" not found");
  EXPECT_EQ(Get(Path("configmaps") + "/none").status, 404);
}

TEST_F(MergePatchTest, TheNameStays) {
  const Answer answer = MergePatch(object_, {{"metadata", {{"name", "b"}}}});

  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.reason(), "BadRequest");
  EXPECT_EQ(answer.message(), "the name of the object (b) does not match the name on the URL (a)");
}

TEST_F(MergePatchTest, TheNamespaceStays) {
  const Answer answer = MergePatch(object_, {{"metadata", {{"namespace", "other"}}}});

  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(
      answer.message(),
      "the namespace of the provided object does not match the namespace sent on the request");
}

TEST_F(MergePatchTest, TheUidStays) {
  const Answer answer = MergePatch(object_, {{"metadata", {{"uid", "other"}}}});

  EXPECT_EQ(answer.status, 422);
  EXPECT_EQ(answer.message(),
            "ConfigMap \"a\" is invalid: metadata.uid: Invalid value: \"other\": field is "
            "immutable");
}

TEST_F(MergePatchTest, WhatTheServerSetsIsLeftAsItIs) {
  const Answer patched = MergePatch(
      object_,
      {{"metadata",
        {{"creationTimestamp", "2001-01-01T00:00:00Z"}, {"generation", 7}, {"selfLink", "x"}}}});

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(patched.body, made_.body);
}

TEST_F(MergePatchTest, AResultThatIsInvalidIsRefusedWithItsCauses) {
  const Answer answer = MergePatch(object_, {{"data", {{"bad key", "v"}}}});

  EXPECT_EQ(answer.status, 422);
  EXPECT_EQ(answer.reason(), "Invalid");
  EXPECT_THAT(
      Causes(answer),
      ElementsAre("FieldValueInvalid data[bad key]: Invalid value: \"bad key\": " + no_config_key));
  EXPECT_EQ(Get(object_).body, made_.body);
}

TEST_F(MergePatchTest, ADryRunAnswersAndKeepsNothing) {
  const Answer patched = MergePatch(object_ + "?dryRun=All", {{"data", {{"k", "2"}}}});

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(patched.str("/data/k"), "2");
  EXPECT_EQ(patched.version(), made_.version());
  EXPECT_EQ(Get(object_).body, made_.body);
}

TEST_F(MergePatchTest, UnknownFieldsAreDroppedWithAWarning) {
  const Answer patched = MergePatch(object_, {{"zzz", 1}, {"metadata", {{"yyy", 2}}}});

  EXPECT_EQ(patched.status, 200);
  EXPECT_THAT(patched.warnings,
              ElementsAre("unknown field \"metadata.yyy\"", "unknown field \"zzz\""));
  EXPECT_EQ(patched.body, made_.body);
}

TEST_F(MergePatchTest, UnknownFieldsAreDroppedInSilenceIfTheClientLikes) {
  const Answer patched = MergePatch(object_ + "?fieldValidation=Ignore", {{"zzz", 1}});

  EXPECT_EQ(patched.status, 200);
  EXPECT_THAT(patched.warnings, IsEmpty());
}

TEST_F(MergePatchTest, AFieldGivenTwiceIsWarnedOf) {
  const Answer patched = Send(R"({"data": {"k": "1", "k": "2"}})");

  EXPECT_THAT(patched.warnings, ElementsAre("duplicate field \"data.k\""));
  EXPECT_EQ(patched.str("/data/k"), "2");
}

TEST_F(MergePatchTest, TheManagerOfWhatItSetsIsTheClient) {
  const Answer patched = MergePatch(object_, {{"data", {{"m", "3"}}}});

  EXPECT_EQ(ManagedFields(patched),
            json({Entry("kopp", "Update", "v1",
                        R"({"f:data": {".": {}, "f:k": {}, "f:l": {}, "f:m": {}},
                            "f:metadata": {
                              "f:finalizers": {".": {}, "v:\"example.com/a\"": {},
                                               "v:\"example.com/b\"": {}},
                              "f:labels": {".": {}, "f:x": {}, "f:y": {}}}})")}));
}

TEST_F(MergePatchTest, AnotherManagerTakesWhatItChanges) {
  const Answer patched = MergePatch(object_ + "?fieldManager=me", {{"data", {{"k", "2"}}}});

  const json entries = ManagedFields(patched);
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0]["manager"], "kopp");
  EXPECT_EQ(entries[0]["fieldsV1"]["f:data"], json::parse(R"({".": {}, "f:l": {}})"));
  EXPECT_EQ(entries[1], Entry("me", "Update", "v1", R"({"f:data": {"f:k": {}}})"));
}

}  // namespace
}  // namespace kopp::conformance
