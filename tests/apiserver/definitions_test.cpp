// CustomResourceDefinitions, where the conformance suite does not reach: what the real server shows
// only after a while, or never twice the same.
#include "custom_resources.hpp"
#include "schema_problems.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/testing/api_server.hpp>
#include <kopp/transport.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;

const std::string all_definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const std::string all_widgets = "/apis/example.com/v1/widgets";

struct Answer {
  int status = 0;
  json body{};
};

/// Widgets and what else a test defines, in the group example.com, without a namespace.
class DefinitionsTest : public ::testing::Test {
 protected:
  Answer Call(const std::string& method, const std::string& target, const json& body = nullptr) {
    const Response response = server_.transport().Call(
        {.method = method, .target = target, .body = body.is_null() ? "" : body.dump()});
    return {response.status, json::parse(response.body, nullptr, false)};
  }
  Answer Define(const std::string& plural, const std::string& kind, json spec = json::object()) {
    json version{{"name", "v1"}, {"served", true}, {"storage", true}};
    version["schema"]["openAPIV3Schema"] = {
        {"type", "object"},
        {"properties", {{"spec", {{"type", "object"}, {"properties", std::move(spec)}}}}}};
    return Call("POST", all_definitions,
                {{"metadata", {{"name", plural + ".example.com"}}},
                 {"spec",
                  {{"group", "example.com"},
                   {"scope", "Cluster"},
                   {"names", {{"plural", plural}, {"kind", kind}}},
                   {"versions", json::array({version})}}}});
  }
  Answer Make(const std::string& name, const json& spec = nullptr) {
    json widget{
        {"apiVersion", "example.com/v1"}, {"kind", "Widget"}, {"metadata", {{"name", name}}}};
    if (!spec.is_null()) widget["spec"] = spec;
    return Call("POST", all_widgets, widget);
  }
  Answer Patch(const std::string& target, const json& patch) {
    const Response response = server_.transport().Call(
        {.method = "PATCH",
         .target = target,
         .body = patch.dump(),
         .content_type =
             patch.is_array() ? "application/json-patch+json" : "application/merge-patch+json"});
    return {response.status, json::parse(response.body)};
  }
  json Condition(const std::string& definition, const std::string& type) {
    const json found = Call("GET", all_definitions + '/' + definition).body;
    for (const json& condition : found["status"]["conditions"]) {
      if (condition["type"] == type) return condition;
    }
    return nullptr;
  }

  testing::ApiServer server_;
};

TEST_F(DefinitionsTest, WhatIsDefinedIsServedAtOnce) {
  EXPECT_EQ(Define("widgets", "Widget").status, 201);

  EXPECT_EQ(Make("w").status, 201);
}

TEST_F(DefinitionsTest, ANameThatIsFreeAgainIsAccepted) {
  Define("widgets", "Widget");
  Define("gadgets", "Widget");
  EXPECT_EQ(Condition("gadgets.example.com", "NamesAccepted")["reason"], "ListKindConflict");
  EXPECT_EQ(Call("GET", "/apis/example.com/v1/gadgets").status, 404);

  Call("DELETE", all_definitions + "/widgets.example.com");

  EXPECT_EQ(Condition("gadgets.example.com", "Established")["status"], "True");
  EXPECT_EQ(Call("GET", "/apis/example.com/v1/gadgets").status, 200);
}

TEST_F(DefinitionsTest, AnUpdateSaysWhichStateItIsOf) {
  Define("widgets", "Widget");
  json widget = Make("w").body;
  widget["metadata"].erase("resourceVersion");

  const Answer answer = Call("PUT", all_widgets + "/w", widget);

  EXPECT_EQ(answer.status, 422);
  EXPECT_EQ(
      answer.body["message"],
      "widgets.example.com \"w\" is invalid: metadata.resourceVersion: Invalid value: 0: must "
      "be specified for an update");
}

TEST_F(DefinitionsTest, AStricterSchemaLetsOldValuesBe) {
  Define("widgets", "Widget", {{"a", {{"type", "integer"}}}, {"b", {{"type", "integer"}}}});
  Make("w", {{"a", 1}});
  Patch(all_definitions + "/widgets.example.com",
        {{{"op", "add"},
          {"path", "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/a/minimum"},
          {"value", 5}}});

  EXPECT_EQ(Patch(all_widgets + "/w", {{"spec", {{"b", 2}}}}).status, 200);
  EXPECT_EQ(Patch(all_widgets + "/w", {{"spec", {{"a", 2}}}}).status, 422);
}

TEST_F(DefinitionsTest, ItStaysWithFinalizersOfOthersAndSaysThatItsObjectsAreGone) {
  Define("widgets", "Widget");
  Patch(all_definitions + "/widgets.example.com",
        {{"metadata", {{"finalizers", json::array({"example.com/a"})}}}});
  Make("w");

  Call("DELETE", all_definitions + "/widgets.example.com");

  const json condition = Condition("widgets.example.com", "Terminating");
  EXPECT_EQ(condition["reason"], "InstanceDeletionCompleted");
  EXPECT_EQ(Call("GET", all_definitions + "/widgets.example.com").body["metadata"]["finalizers"],
            json::array({"example.com/a"}));
  EXPECT_EQ(Call("GET", all_widgets).body["items"], json::array());
}

TEST_F(DefinitionsTest, AManagerOwnsTheSpecAlone) {
  const Answer made = Define("widgets", "Widget");

  for (const json& entry : made.body["metadata"]["managedFields"]) {
    EXPECT_FALSE(entry["fieldsV1"].contains("f:status")) << entry;
  }
}

TEST(IsPreferredTest, StableVersionsComeFirstThenTheNewest) {
  std::vector<std::string> versions{"foo",      "v1beta1", "v2",       "v1",     "v10",
                                    "v1alpha1", "bar",     "v2alpha1", "v1beta2"};

  std::sort(versions.begin(), versions.end(), &IsPreferred);

  EXPECT_THAT(versions, ElementsAre("v10", "v2", "v1", "v1beta2", "v1beta1", "v2alpha1", "v1alpha1",
                                    "bar", "foo"));
}

std::vector<std::string> Fields(const std::string& schema) {
  std::vector<std::string> fields;
  for (const Cause& cause : SchemaProblems(json::parse(schema), "S")) fields.push_back(cause.field);
  return fields;
}

TEST(SchemaProblemsTest, ASchemaInARuleSaysNothingOfItsOwn) {
  EXPECT_THAT(
      Fields(R"({"type": "object", "anyOf": [
                  {"default": 1, "nullable": true, "properties": {"z": {"type": "string"}}}]})"),
      ElementsAre("S.anyOf[0].default", "S.anyOf[0].nullable", "S.anyOf[0].properties[z].type"));
}

TEST(SchemaProblemsTest, TheTypesOfAnIntegerOrTextMayBeSaidInARule) {
  EXPECT_THAT(Fields(R"({"type": "object", "properties": {"a": {
                  "x-kubernetes-int-or-string": true,
                  "allOf": [{"anyOf": [{"type": "integer"}, {"type": "string"}]}]}}})"),
              ElementsAre());
}

TEST(SchemaProblemsTest, ADefaultKeepsTheSchema) {
  EXPECT_THAT(Fields(R"({"type": "object", "properties": {"a": {
                  "type": "object", "required": ["b"], "default": {},
                  "properties": {"b": {"type": "string"}}}}})"),
              ElementsAre("S.properties[a].default.b"));
}

TEST(SchemaProblemsTest, APatternIsARegularExpression) {
  EXPECT_THAT(
      Fields(R"({"type": "object", "properties": {"a": {"type": "string", "pattern": "("}}})"),
      ElementsAre("S.properties[a].pattern"));
}

}  // namespace
}  // namespace kopp::apiserver
