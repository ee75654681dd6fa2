#include "conformance.hpp"
#include "managed_fields.hpp"
#include "validation_messages.hpp"

#include <string>

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Fixture of tests of merge patches of one ConfigMap.
class MergePatchTest : public ConformanceTest {
 protected:
  void SetUp() override {
    object_path_ = Path("configmaps") + "/a";
    created_ = Post(Path("configmaps"), {{"metadata",
                                          {{"name", "a"},
                                           {"labels", {{"x", "1"}, {"y", "2"}}},
                                           {"finalizers", {"example.com/a", "example.com/b"}}}},
                                         {"data", {{"k", "v"}, {"l", "w"}}}});
  }

  /// Sends the text of a patch unchanged, for example with duplicate fields.
  JsonResponse SendText(const std::string& patch, const std::string& query = "") {
    return Call({.method = "PATCH",
                 .target = object_path_ + query,
                 .body = patch,
                 .content_type = "application/merge-patch+json"});
  }

  std::string object_path_;
  JsonResponse created_{};
};

TEST_F(MergePatchTest, GivenFieldsAreSetAndOthersAreKept) {
  const JsonResponse patched = MergePatch(object_path_, {{"data", {{"k", "2"}, {"m", "3"}}}});

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(patched.at("/data"), json({{"k", "2"}, {"l", "w"}, {"m", "3"}}));
  EXPECT_EQ(patched.at("/metadata/labels"), json({{"x", "1"}, {"y", "2"}}));
  EXPECT_NE(patched.resource_version(), created_.resource_version());
  EXPECT_EQ(Get(object_path_).body, patched.body);
}

TEST_F(MergePatchTest, NullRemovesAFieldAndIgnoresAMissingOne) {
  const JsonResponse patched = MergePatch(
      object_path_, {{"data", {{"k", nullptr}, {"none", nullptr}}}, {"binaryData", nullptr}});

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(patched.at("/data"), json({{"l", "w"}}));
}

TEST_F(MergePatchTest, MapIsRemovedWithItsLastKey) {
  const JsonResponse patched =
      MergePatch(object_path_, {{"data", {{"k", nullptr}, {"l", nullptr}}}});

  EXPECT_FALSE(patched.body.contains("data")) << patched.text;
}

TEST_F(MergePatchTest, ListsAreReplacedNotMerged) {
  const JsonResponse patched =
      MergePatch(object_path_, {{"metadata", {{"finalizers", {"example.com/c"}}}}});

  EXPECT_EQ(patched.at("/metadata/finalizers"), json({"example.com/c"}));
}

TEST_F(MergePatchTest, NullMembersOfObjectsInListsAreIgnored) {
  const json owner{{"apiVersion", "v1"}, {"kind", "Node"},        {"name", "n"},
                   {"uid", "u"},         {"controller", nullptr}, {"unknown", nullptr}};

  const JsonResponse patched = MergePatch(object_path_ + "?fieldValidation=Strict",
                                          {{"metadata", {{"ownerReferences", {owner}}}}});

  EXPECT_EQ(patched.status, 200) << patched.text;
  EXPECT_EQ(patched.at("/metadata/ownerReferences"),
            json::parse(R"([{"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u"}])"));
}

TEST_F(MergePatchTest, PatchWithoutChangesKeepsTheResourceVersion) {
  EXPECT_EQ(MergePatch(object_path_, {{"data", {{"k", "v"}}}}).body, created_.body);
  EXPECT_EQ(MergePatch(object_path_, json::object()).body, created_.body);
}

TEST_F(MergePatchTest, StaleResourceVersionIsAConflict) {
  MergePatch(object_path_, {{"data", {{"k", "2"}}}});

  const JsonResponse stale = MergePatch(
      object_path_,
      {{"metadata", {{"resourceVersion", created_.resource_version()}}}, {"data", {{"k", "3"}}}});

  EXPECT_EQ(stale.status, 409);
  EXPECT_EQ(stale.reason(), "Conflict");
  EXPECT_EQ(stale.message(),
            "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; "
            "please apply your changes to the latest version and try again");
  EXPECT_EQ(stale.at("/details"), json({{"name", "a"}, {"kind", "configmaps"}}));
  EXPECT_EQ(Get(object_path_).str("/data/k"), "2");
}

TEST_F(MergePatchTest, CurrentResourceVersionIsAccepted) {
  const JsonResponse patched = MergePatch(
      object_path_,
      {{"metadata", {{"resourceVersion", created_.resource_version()}}}, {"data", {{"k", "3"}}}});

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(patched.str("/data/k"), "3");
}

TEST_F(MergePatchTest, StaleResourceVersionIsAConflictEvenWithoutOtherChanges) {
  EXPECT_EQ(MergePatch(object_path_, {{"metadata", {{"resourceVersion", "1"}}}}).status, 409);
}

TEST_F(MergePatchTest, NullResourceVersionDisablesTheConflictCheck) {
  const JsonResponse patched = MergePatch(
      object_path_, {{"metadata", {{"resourceVersion", nullptr}}}, {"data", {{"k", "3"}}}});

  EXPECT_EQ(patched.status, 200);
}

TEST_F(MergePatchTest, PatchOfAMissingObjectReturnsNotFoundAndCreatesNothing) {
  const JsonResponse response = MergePatch(Path("configmaps") + "/none", {{"data", {{"k", "v"}}}});

  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.message(), "configmaps \"none\" not found");
  EXPECT_EQ(Get(Path("configmaps") + "/none").status, 404);
}

TEST_F(MergePatchTest, ChangingTheNameIsABadRequest) {
  const JsonResponse response = MergePatch(object_path_, {{"metadata", {{"name", "b"}}}});

  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(response.reason(), "BadRequest");
  EXPECT_EQ(response.message(),
            "the name of the object (b) does not match the name on the URL (a)");
}

TEST_F(MergePatchTest, ChangingTheNamespaceIsABadRequest) {
  const JsonResponse response = MergePatch(object_path_, {{"metadata", {{"namespace", "other"}}}});

  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(
      response.message(),
      "the namespace of the provided object does not match the namespace sent on the request");
}

TEST_F(MergePatchTest, ChangingTheUidIsInvalid) {
  const JsonResponse response = MergePatch(object_path_, {{"metadata", {{"uid", "other"}}}});

  EXPECT_EQ(response.status, 422);
  EXPECT_EQ(response.message(),
            "ConfigMap \"a\" is invalid: metadata.uid: Invalid value: \"other\": field is "
            "immutable");
}

TEST_F(MergePatchTest, ServerManagedMetadataInThePatchIsIgnored) {
  const JsonResponse patched = MergePatch(
      object_path_,
      {{"metadata",
        {{"creationTimestamp", "2001-01-01T00:00:00Z"}, {"generation", 7}, {"selfLink", "x"}}}});

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(patched.body, created_.body);
}

TEST_F(MergePatchTest, InvalidResultIsRejectedWithItsCauses) {
  const JsonResponse response = MergePatch(object_path_, {{"data", {{"bad key", "v"}}}});

  EXPECT_EQ(response.status, 422);
  EXPECT_EQ(response.reason(), "Invalid");
  EXPECT_THAT(Causes(response),
              ElementsAre("FieldValueInvalid data[bad key]: Invalid value: \"bad key\": " +
                          config_key_error));
  EXPECT_EQ(Get(object_path_).body, created_.body);
}

TEST_F(MergePatchTest, DryRunReturnsTheResultAndStoresNothing) {
  const JsonResponse patched = MergePatch(object_path_ + "?dryRun=All", {{"data", {{"k", "2"}}}});

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(patched.str("/data/k"), "2");
  EXPECT_EQ(patched.resource_version(), created_.resource_version());
  EXPECT_EQ(Get(object_path_).body, created_.body);
}

TEST_F(MergePatchTest, UnknownFieldsArePrunedWithAWarning) {
  const JsonResponse patched = MergePatch(object_path_, {{"zzz", 1}, {"metadata", {{"yyy", 2}}}});

  EXPECT_EQ(patched.status, 200);
  EXPECT_THAT(patched.warnings,
              ElementsAre("unknown field \"metadata.yyy\"", "unknown field \"zzz\""));
  EXPECT_EQ(patched.body, created_.body);
}

TEST_F(MergePatchTest, IgnoreFieldValidationPrunesUnknownFieldsWithoutWarnings) {
  const JsonResponse patched = MergePatch(object_path_ + "?fieldValidation=Ignore", {{"zzz", 1}});

  EXPECT_EQ(patched.status, 200);
  EXPECT_THAT(patched.warnings, IsEmpty());
}

TEST_F(MergePatchTest, DuplicateFieldReturnsAWarning) {
  const JsonResponse patched = SendText(R"({"data": {"k": "1", "k": "2"}})");

  EXPECT_THAT(patched.warnings, ElementsAre("duplicate field \"data.k\""));
  EXPECT_EQ(patched.str("/data/k"), "2");
}

TEST_F(MergePatchTest, FieldManagerDefaultsToTheProductNameInTheUserAgent) {
  const JsonResponse patched = MergePatch(object_path_, {{"data", {{"m", "3"}}}});

  EXPECT_EQ(ManagedFields(patched),
            json({ManagedFieldsEntry("kopp", "Update", "v1",
                                     R"({"f:data": {".": {}, "f:k": {}, "f:l": {}, "f:m": {}},
                            "f:metadata": {
                              "f:finalizers": {".": {}, "v:\"example.com/a\"": {},
                                               "v:\"example.com/b\"": {}},
                              "f:labels": {".": {}, "f:x": {}, "f:y": {}}}})")}));
}

TEST_F(MergePatchTest, AnotherFieldManagerTakesOwnershipOfChangedFields) {
  const JsonResponse patched =
      MergePatch(object_path_ + "?fieldManager=me", {{"data", {{"k", "2"}}}});

  const json entries = ManagedFields(patched);
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0]["manager"], "kopp");
  EXPECT_EQ(entries[0]["fieldsV1"]["f:data"], json::parse(R"({".": {}, "f:l": {}})"));
  EXPECT_EQ(entries[1], ManagedFieldsEntry("me", "Update", "v1", R"({"f:data": {"f:k": {}}})"));
}

}  // namespace
}  // namespace kopp::conformance
