#include "custom_resources.hpp"

#include <string>

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;

class CrdTest : public DefinitionTest {
 protected:
  /// The condition of `type`, without its time, once there is one; null if none comes.
  static json Condition(const std::string& definition, const std::string& type) {
    json found;
    Eventually(200, [&] {
      for (json condition : Get(definition).at("/status/conditions")) {
        if (condition["type"] != type) continue;
        condition.erase("lastTransitionTime");
        found = condition;
      }
      return Answer{.status = found.is_null() ? 404 : 200};
    });
    return found;
  }
};

TEST_F(CrdTest, WhatIsLeftOutIsFilledIn) {
  const std::string group = UniqueGroup();
  const Answer made = Post(definitions, ADefinition(group, Anything()));

  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(made.name(), "widgets." + group);
  EXPECT_EQ(made.at("/metadata/generation"), 1);
  EXPECT_EQ(made.at("/spec/names"), json({{"plural", "widgets"},
                                          {"singular", "widget"},
                                          {"kind", "Widget"},
                                          {"listKind", "WidgetList"}}));
  EXPECT_EQ(made.at("/spec/conversion"), json({{"strategy", "None"}}));
  EXPECT_EQ(made.at("/status/storedVersions"), json({"v1"}));
  Delete(DefinitionOfWidgets(group));
}

TEST_F(CrdTest, ItIsAcceptedAndEstablished) {
  Define(Anything());

  EXPECT_EQ(Condition(Definition(), "NamesAccepted"), json({{"type", "NamesAccepted"},
                                                            {"status", "True"},
                                                            {"reason", "NoConflicts"},
                                                            {"message", "no conflicts found"}}));
  EXPECT_EQ(Condition(Definition(), "Established"),
            json({{"type", "Established"},
                  {"status", "True"},
                  {"reason", "InitialNamesAccepted"},
                  {"message", "the initial names have been accepted"}}));
  EXPECT_EQ(Get(Definition()).at("/status/acceptedNames"), json({{"plural", "widgets"},
                                                                 {"singular", "widget"},
                                                                 {"kind", "Widget"},
                                                                 {"listKind", "WidgetList"}}));
}

TEST_F(CrdTest, ANameThatIsTakenIsNotAcceptedAndNothingIsServed) {
  Define(Anything());
  json rival = ADefinition(group(), Anything());
  rival["metadata"]["name"] = "gadgets." + group();
  rival["spec"]["names"] = {{"plural", "gadgets"}, {"kind", "Gadget"}, {"shortNames", {"widget"}}};
  const std::string definition = definitions + "/gadgets." + group();

  EXPECT_EQ(Post(definitions, rival).status, 201);

  EXPECT_EQ(Condition(definition, "NamesAccepted"),
            json({{"type", "NamesAccepted"},
                  {"status", "False"},
                  {"reason", "ShortNamesConflict"},
                  {"message", "\"widget\" is already in use"}}));
  EXPECT_EQ(Condition(definition, "Established"),
            json({{"type", "Established"},
                  {"status", "False"},
                  {"reason", "NotAccepted"},
                  {"message", "not all names are accepted"}}));
  EXPECT_EQ(Get("/apis/" + group() + "/v1/gadgets").status, 404);
  Delete(definition);
}

TEST_F(CrdTest, AnUnknownFieldIsRefusedWhereThatIsAskedFor) {
  json definition = ADefinition(UniqueGroup(), Anything());
  definition["zzz"] = 1;

  const Answer answer = Post(definitions + "?fieldValidation=Strict", definition);

  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.message(),
            "CustomResourceDefinition in version \"v1\" cannot be handled as a "
            "CustomResourceDefinition: strict decoding error: unknown field \"zzz\"");
}

TEST_F(CrdTest, ListsHaveTheKindsOfTheDefinition) {
  Define(Anything());
  const Answer widget = Post(Widgets(), AWidget("w"));

  const Answer list = Get(Widgets());

  EXPECT_EQ(list.str("/kind"), "WidgetList");
  EXPECT_EQ(list.str("/apiVersion"), group() + "/v1");
  EXPECT_EQ(list.at("/items"), json::array({widget.body}));
}

TEST_F(CrdTest, WithItsDeletionItsObjectsGo) {
  Define(Anything());
  Post(Widgets(), AWidget("w"));
  const auto watch = StartWatch(Widgets() + "?watch=true");
  EXPECT_EQ(watch->Next()["type"], "ADDED");

  const Answer deleted = Delete(Definition());

  EXPECT_EQ(deleted.status, 200);
  EXPECT_EQ(deleted.at("/metadata/finalizers"),
            json({"customresourcecleanup.apiextensions.k8s.io"}));
  EXPECT_NE(deleted.str("/metadata/deletionTimestamp"), "");
  const json event = watch->Next();
  EXPECT_EQ(event["type"], "DELETED");
  EXPECT_EQ(event["object"]["metadata"]["name"], "w");
  EXPECT_EQ(Eventually(404, [&] { return Get(Definition()); }).status, 404);
  EXPECT_EQ(Eventually(404, [&] { return Get(Widgets()); }).text, "404 page not found\n");
  EXPECT_TRUE(watch->Ends());
}

TEST_F(CrdTest, ItStaysWhileAnObjectHasFinalizers) {
  Define(Anything());
  json widget = AWidget("w");
  widget["metadata"]["finalizers"] = {"example.com/one"};
  Post(Widgets(), widget);

  Delete(Definition());

  const Answer refused = Eventually(403, [&] { return Post(Widgets(), AWidget("late")); });
  EXPECT_EQ(refused.reason(), "Forbidden");
  EXPECT_EQ(refused.message(), "widgets." + group() +
                                   " \"late\" is forbidden: create not allowed while custom "
                                   "resource definition is terminating");
  const auto marked = [&] {
    const Answer found = Get(Widgets() + "/w");
    return found.str("/metadata/deletionTimestamp").empty() ? Answer{.status = 404} : found;
  };
  EXPECT_EQ(Eventually(200, marked).status, 200);
  EXPECT_EQ(Get(Definition()).status, 200);
  MergePatch(Widgets() + "/w", {{"metadata", {{"finalizers", nullptr}}}});
  EXPECT_EQ(Eventually(404, [&] { return Get(Definition()); }).status, 404);
}

TEST_F(CrdTest, ANewOneOfTheSameNameBeginsWithoutObjects) {
  Define(Anything());
  const std::string group = CrdTest::group();
  Post(Widgets(), AWidget("w"));
  Delete(Definition());
  ASSERT_EQ(Eventually(404, [&] { return Get(Definition()); }).status, 404);

  DefineIn(group, ADefinition(group, Anything()));

  EXPECT_EQ(Get(Widgets()).at("/items"), json::array());
}

struct Change {
  std::string name{};
  std::string operations{};  ///< JSON Patch
  std::string cause{};
};
void PrintTo(const Change& change, std::ostream* out) { *out << change.operations; }

/// What an established definition keeps.
class CrdChangeTest : public CustomResourceTest, public ::testing::WithParamInterface<Change> {
 protected:
  static void SetUpTestSuite() { Define(Anything()); }
  static void TearDownTestSuite() { Undefine(); }
};

TEST_P(CrdChangeTest, IsRefused) {
  const Answer answer = JsonPatch(Definition(), json::parse(GetParam().operations));

  EXPECT_EQ(answer.status, 422);
  EXPECT_THAT(Causes(answer), ElementsAre(GetParam().cause));
}

const Change changes[] = {
    {"OfTheGroup", R"([{"op": "replace", "path": "/spec/group", "value": "other.example.com"}])",
     R"(FieldValueInvalid spec.group: Invalid value: "other.example.com": field is immutable)"},
    {"OfTheScope", R"([{"op": "replace", "path": "/spec/scope", "value": "Cluster"}])",
     R"(FieldValueInvalid spec.scope: Invalid value: "Cluster": field is immutable)"},
    {"OfTheKind", R"([{"op": "replace", "path": "/spec/names/kind", "value": "Gadget"}])",
     R"(FieldValueInvalid spec.names.kind: Invalid value: "Gadget": field is immutable)"},
    {"OfThePlural", R"([{"op": "replace", "path": "/spec/names/plural", "value": "gadgets"}])",
     R"(FieldValueInvalid spec.names.plural: Invalid value: "gadgets": field is immutable)"},
    {"OfTheNameOfAStoredVersion",
     R"([{"op": "replace", "path": "/spec/versions/0/name", "value": "v9"}])",
     R"(FieldValueInvalid status.storedVersions[0]: Invalid value: "v1": missing from )"
     "spec.versions; v1 was previously a storage version, and must remain in spec.versions until "
     "a storage migration ensures no data remains persisted in v1 and removes v1 from "
     "status.storedVersions"},
};
INSTANTIATE_TEST_SUITE_P(, CrdChangeTest, ::testing::ValuesIn(changes),
                         [](const auto& change) { return change.param.name; });

}  // namespace
}  // namespace kopp::conformance
