#include "custom_resources.hpp"

#include <string>

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;

class CrdTest : public CrdPerTest {
 protected:
  /// Waits for a condition of `type` in the CRD at `crd_path`. Returns it without
  /// lastTransitionTime, or null after a timeout.
  static json WaitForCondition(const std::string& crd_path, const std::string& type) {
    json found;
    Eventually(200, [&] {
      for (json condition : Get(crd_path).at("/status/conditions")) {
        if (condition["type"] != type) continue;
        condition.erase("lastTransitionTime");
        found = condition;
      }
      return JsonResponse{.status = found.is_null() ? 404 : 200};
    });
    return found;
  }
};

TEST_F(CrdTest, CreateFillsInNamesConversionAndStoredVersions) {
  const std::string group = UniqueGroup();
  const JsonResponse created = Post(crds_path, MakeWidgetCrd(group, AnyObjectSchema()));

  EXPECT_EQ(created.status, 201);
  EXPECT_EQ(created.name(), "widgets." + group);
  EXPECT_EQ(created.at("/metadata/generation"), 1);
  EXPECT_EQ(created.at("/spec/names"), json({{"plural", "widgets"},
                                             {"singular", "widget"},
                                             {"kind", "Widget"},
                                             {"listKind", "WidgetList"}}));
  EXPECT_EQ(created.at("/spec/conversion"), json({{"strategy", "None"}}));
  EXPECT_EQ(created.at("/status/storedVersions"), json({"v1"}));
  Delete(WidgetCrdPath(group));
}

TEST_F(CrdTest, AnUpdateWithoutAResourceVersionIsRejected) {
  const std::string group = UniqueGroup();
  const json crd = MakeWidgetCrd(group, AnyObjectSchema());
  ASSERT_EQ(Post(crds_path, crd).status, 201);

  const JsonResponse updated = Put(WidgetCrdPath(group), crd);

  EXPECT_EQ(updated.status, 422);
  EXPECT_EQ(updated.message(),
            "customresourcedefinitions.apiextensions.k8s.io \"widgets." + group +
                "\" is invalid: metadata.resourceVersion: Invalid value: 0: must "
                "be specified for an update");
  Delete(WidgetCrdPath(group));
}

TEST_F(CrdTest, FieldsThatAreFalseOrZeroAreNotStored) {
  const json kept = json::parse(R"({"type": "object", "properties": {
      "a": {"type": "boolean", "default": false},
      "b": {"type": "array", "items": {"type": "string"}}}})");
  json sent = kept;
  sent["nullable"] = false;
  sent["properties"]["b"]["uniqueItems"] = false;
  sent["properties"]["b"]["items"]["x-kubernetes-int-or-string"] = false;
  const json column{{"name", "A"}, {"type", "string"}, {"jsonPath", ".spec.a"}};
  json sent_column = column;
  sent_column["priority"] = 0;
  const std::string group = UniqueGroup();
  json crd = MakeWidgetCrd(group, sent,
                           {{"deprecated", false}, {"additionalPrinterColumns", {sent_column}}});
  crd["spec"]["preserveUnknownFields"] = false;

  const JsonResponse created = Post(crds_path + "?dryRun=All", crd);

  EXPECT_EQ(created.status, 201) << created.text;
  EXPECT_FALSE(created.at("/spec").contains("preserveUnknownFields"));
  EXPECT_EQ(created.at("/spec/versions/0"), json({{"name", "v1"},
                                                  {"served", true},
                                                  {"storage", true},
                                                  {"schema", {{"openAPIV3Schema", kept}}},
                                                  {"additionalPrinterColumns", {column}}}));
}

TEST_F(CrdTest, NewCrdIsAcceptedAndEstablished) {
  CreateCrd(AnyObjectSchema());

  EXPECT_EQ(WaitForCondition(CrdPath(), "NamesAccepted"),
            json({{"type", "NamesAccepted"},
                  {"status", "True"},
                  {"reason", "NoConflicts"},
                  {"message", "no conflicts found"}}));
  EXPECT_EQ(WaitForCondition(CrdPath(), "Established"),
            json({{"type", "Established"},
                  {"status", "True"},
                  {"reason", "InitialNamesAccepted"},
                  {"message", "the initial names have been accepted"}}));
  EXPECT_EQ(Get(CrdPath()).at("/status/acceptedNames"), json({{"plural", "widgets"},
                                                              {"singular", "widget"},
                                                              {"kind", "Widget"},
                                                              {"listKind", "WidgetList"}}));
}

TEST_F(CrdTest, CrdWithAConflictingShortNameIsNeitherAcceptedNorServed) {
  CreateCrd(AnyObjectSchema());
  json conflicting_crd = MakeWidgetCrd(group(), AnyObjectSchema());
  conflicting_crd["metadata"]["name"] = "gadgets." + group();
  conflicting_crd["spec"]["names"] = {
      {"plural", "gadgets"}, {"kind", "Gadget"}, {"shortNames", {"widget"}}};
  const std::string gadget_crd_path = crds_path + "/gadgets." + group();

  EXPECT_EQ(Post(crds_path, conflicting_crd).status, 201);

  EXPECT_EQ(WaitForCondition(gadget_crd_path, "NamesAccepted"),
            json({{"type", "NamesAccepted"},
                  {"status", "False"},
                  {"reason", "ShortNamesConflict"},
                  {"message", "\"widget\" is already in use"}}));
  EXPECT_EQ(WaitForCondition(gadget_crd_path, "Established"),
            json({{"type", "Established"},
                  {"status", "False"},
                  {"reason", "NotAccepted"},
                  {"message", "not all names are accepted"}}));
  EXPECT_EQ(Get("/apis/" + group() + "/v1/gadgets").status, 404);
  Delete(gadget_crd_path);
}

TEST_F(CrdTest, StrictFieldValidationRejectsAnUnknownFieldOfACrd) {
  json crd = MakeWidgetCrd(UniqueGroup(), AnyObjectSchema());
  crd["zzz"] = 1;

  const JsonResponse response = Post(crds_path + "?fieldValidation=Strict", crd);

  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(response.message(),
            "CustomResourceDefinition in version \"v1\" cannot be handled as a "
            "CustomResourceDefinition: strict decoding error: unknown field \"zzz\"");
}

TEST_F(CrdTest, ListHasTheListKindAndVersionOfTheCrd) {
  CreateCrd(AnyObjectSchema());
  const JsonResponse widget = Post(Widgets(), MakeWidget("w"));

  const JsonResponse list = Get(Widgets());

  EXPECT_EQ(list.str("/kind"), "WidgetList");
  EXPECT_EQ(list.str("/apiVersion"), group() + "/v1");
  EXPECT_EQ(list.at("/items"), json::array({widget.body}));
}

TEST_F(CrdTest, DeletingACrdDeletesItsObjectsAndEndsWatches) {
  CreateCrd(AnyObjectSchema());
  Post(Widgets(), MakeWidget("w"));
  const auto watch = StartWatch(Widgets() + "?watch=true");
  EXPECT_EQ(watch->NextEvent()["type"], "ADDED");

  const JsonResponse deleted = Delete(CrdPath());

  EXPECT_EQ(deleted.status, 200);
  EXPECT_EQ(deleted.at("/metadata/finalizers"),
            json({"customresourcecleanup.apiextensions.k8s.io"}));
  EXPECT_NE(deleted.str("/metadata/deletionTimestamp"), "");
  const json event = watch->NextEvent();
  EXPECT_EQ(event["type"], "DELETED");
  EXPECT_EQ(event["object"]["metadata"]["name"], "w");
  EXPECT_EQ(Eventually(404, [&] { return Get(CrdPath()); }).status, 404);
  EXPECT_EQ(Eventually(404, [&] { return Get(Widgets()); }).text, "404 page not found\n");
  EXPECT_TRUE(watch->WaitForEnd());
}

TEST_F(CrdTest, ObjectAboveTheLimitOfEtcdIsRejected) {
  CreateCrd(AnyObjectSchema());
  const auto post = [&](std::size_t size) {
    return Post(Widgets(), MakeWidget("a", {{"text", std::string(size, 'x')}}));
  };

  const JsonResponse rejected = post(1'580'000);
  EXPECT_EQ(rejected.status, 500);
  EXPECT_EQ(rejected.message(), "etcdserver: request is too large");
  EXPECT_EQ(post(1'570'000).status, 201);
}

TEST_F(CrdTest, DeletedCrdRemainsWhileAnObjectHasFinalizers) {
  CreateCrd(AnyObjectSchema());
  json widget = MakeWidget("w");
  widget["metadata"]["finalizers"] = {"example.com/one"};
  Post(Widgets(), widget);

  Delete(CrdPath());

  const JsonResponse rejected =
      Eventually(403, [&] { return Post(Widgets(), MakeWidget("late")); });
  EXPECT_EQ(rejected.reason(), "Forbidden");
  EXPECT_EQ(rejected.message(), "widgets." + group() +
                                    " \"late\" is forbidden: create not allowed while custom "
                                    "resource definition is terminating");
  const auto get_terminating = [&] {
    const JsonResponse found = Get(Widgets() + "/w");
    return found.str("/metadata/deletionTimestamp").empty() ? JsonResponse{.status = 404} : found;
  };
  EXPECT_EQ(Eventually(200, get_terminating).status, 200);
  EXPECT_EQ(Get(CrdPath()).status, 200);
  MergePatch(Widgets() + "/w", {{"metadata", {{"finalizers", nullptr}}}});
  EXPECT_EQ(Eventually(404, [&] { return Get(CrdPath()); }).status, 404);
}

TEST_F(CrdTest, RecreatedCrdHasNoObjects) {
  CreateCrd(AnyObjectSchema());
  const std::string group = CrdTest::group();
  Post(Widgets(), MakeWidget("w"));
  Delete(CrdPath());
  ASSERT_EQ(Eventually(404, [&] { return Get(CrdPath()); }).status, 404);

  CreateCrdInGroup(group, MakeWidgetCrd(group, AnyObjectSchema()));

  EXPECT_EQ(Get(Widgets()).at("/items"), json::array());
}

struct ForbiddenCrdChange {
  std::string test_name{};
  std::string operations{};  ///< JSON Patch
  std::string cause{};
};
void PrintTo(const ForbiddenCrdChange& change, std::ostream* out) { *out << change.operations; }

/// Fixture of tests of changes that the server does not allow for an established CRD.
class CrdUpdateTest : public CustomResourceTest,
                      public ::testing::WithParamInterface<ForbiddenCrdChange> {
 protected:
  static void SetUpTestSuite() { CreateCrd(AnyObjectSchema()); }
  static void TearDownTestSuite() { DeleteCrd(); }
};

TEST_P(CrdUpdateTest, ForbiddenChangeIsRejected) {
  const JsonResponse response = JsonPatch(CrdPath(), json::parse(GetParam().operations));

  EXPECT_EQ(response.status, 422);
  EXPECT_THAT(Causes(response), ElementsAre(GetParam().cause));
}

const ForbiddenCrdChange forbidden_crd_changes[] = {
    {"Group", R"([{"op": "replace", "path": "/spec/group", "value": "other.example.com"}])",
     R"(FieldValueInvalid spec.group: Invalid value: "other.example.com": field is immutable)"},
    {"Scope", R"([{"op": "replace", "path": "/spec/scope", "value": "Cluster"}])",
     R"(FieldValueInvalid spec.scope: Invalid value: "Cluster": field is immutable)"},
    {"Kind", R"([{"op": "replace", "path": "/spec/names/kind", "value": "Gadget"}])",
     R"(FieldValueInvalid spec.names.kind: Invalid value: "Gadget": field is immutable)"},
    {"Plural", R"([{"op": "replace", "path": "/spec/names/plural", "value": "gadgets"}])",
     R"(FieldValueInvalid spec.names.plural: Invalid value: "gadgets": field is immutable)"},
    {"NameOfAStoredVersion",
     R"([{"op": "replace", "path": "/spec/versions/0/name", "value": "v9"}])",
     R"(FieldValueInvalid status.storedVersions[0]: Invalid value: "v1": missing from )"
     "spec.versions; v1 was previously a storage version, and must remain in spec.versions until "
     "a storage migration ensures no data remains persisted in v1 and removes v1 from "
     "status.storedVersions"},
};
INSTANTIATE_TEST_SUITE_P(, CrdUpdateTest, ::testing::ValuesIn(forbidden_crd_changes),
                         [](const auto& change) { return change.param.test_name; });

}  // namespace
}  // namespace kopp::conformance
