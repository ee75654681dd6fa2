// Tests of the types of custom resources in the documents of /openapi/v3.
#include "openapi_types.hpp"

#include <set>
#include <string>

namespace kopp::conformance {
namespace {

using ::testing::HasSubstr;

class OpenApiCustomResourceTest : public OpenApiTypesTest {
 protected:
  /// Returns the types in the document of group(), after the API server has published Widgets with
  /// the text `expected`.
  static json WidgetTypes(const std::string& expected = "") {
    const JsonResponse document = Eventually(200, [&] {
      JsonResponse response = Get(WidgetDocument());
      if (response.text.find(expected) == std::string::npos) response.status = 404;
      return response;
    });
    return document.at("/components/schemas");
  }
  static std::string WidgetDocument() { return "/openapi/v3/apis/" + group() + "/v1"; }
  /// Returns the index of the documents, after the entry of Widgets is another one than `previous`.
  static json IndexAfterChange(const json& previous = nullptr) {
    const JsonResponse response = Eventually(200, [&] {
      JsonResponse index = Get("/openapi/v3");
      if (index.at("/paths/apis~1" + group() + "~1v1") == previous) index.status = 404;
      return index;
    });
    return response.at("/paths");
  }
  /// Returns the type name of a kind in group().
  static std::string TypeName(const std::string& kind) {
    return "com.example." + group().substr(0, group().find('.')) + ".v1." + kind;
  }
};

TEST_F(OpenApiCustomResourceTest, CustomResourceHasTheTypeOfItsDefinition) {
  json schema = ObjectSchema(
      {{"apiVersion", {{"type", "string"}}},
       {"metadata", {{"type", "object"}}},
       {"spec",
        {{"type", "object"},
         {"description", "What is wanted."},
         {"required", {"colour"}},
         {"properties",
          {{"colour",
            {{"type", "string"}, {"enum", {"red", "blue"}}, {"default", "red"}, {"title", "T"}}},
           {"note", {{"type", "string"}, {"nullable", true}, {"example", "a"}}},
           {"size", {{"type", "integer"}, {"nullable", false}, {"minimum", 1}}},
           {"limits", {{"type", "object"}, {"additionalProperties", {{"type", "string"}}}}},
           {"names",
            {{"type", "array"},
             {"x-kubernetes-list-type", "set"},
             {"items", {{"type", "string"}}}}}}}}}});
  json expected = schema;
  CreateCrd(schema, {{"selectableFields", json::array({{{"jsonPath", ".spec.colour"}}})}});
  expected["properties"]["spec"]["properties"]["note"].erase("example");
  expected["properties"]["spec"]["properties"]["size"].erase("nullable");
  expected["properties"]["metadata"] =
      ReferenceField(meta_v1_prefix + "ObjectMeta",
                     "Standard object's metadata. More info: https://git.k8s.io/community/"
                     "contributors/devel/sig-architecture/api-conventions.md#metadata");
  json type_meta = Types("api/v1")[meta_v1_prefix + "DeleteOptions"]["properties"];
  expected["properties"]["apiVersion"] = type_meta["apiVersion"];
  expected["properties"]["kind"] = type_meta["kind"];
  expected["x-kubernetes-group-version-kind"] =
      json::array({{{"group", group()}, {"kind", "Widget"}, {"version", "v1"}}});
  expected["x-kubernetes-selectable-fields"] = json::array({{{"fieldPath", "spec.colour"}}});

  EXPECT_EQ(WidgetTypes()[TypeName("Widget")], expected);
}

TEST_F(OpenApiCustomResourceTest, IntOrStringOfACustomResourceHasBothAlternatives) {
  const json int_or_string{{"x-kubernetes-int-or-string", true}};
  const json either = json::array({{{"type", "integer"}}, {{"type", "string"}}});
  const json small = json::array({{{"maximum", 5}}});
  CreateCrd(ObjectSchema(
      {{"spec", ObjectSchema({{"plain", int_or_string},
                              {"same", WithMembers(int_or_string, {{"anyOf", either}})},
                              {"first", WithMembers(int_or_string,
                                                    {{"allOf", {{{"anyOf", either}}, small[0]}}})},
                              {"other", WithMembers(int_or_string, {{"allOf", small}})}})}}));
  json fields = WidgetTypes()[TypeName("Widget")]["properties"]["spec"]["properties"];

  EXPECT_EQ(fields["plain"], WithMembers(int_or_string, {{"anyOf", either}}));
  EXPECT_EQ(fields["same"], WithMembers(int_or_string, {{"anyOf", either}}));
  EXPECT_EQ(fields["first"],
            WithMembers(int_or_string, {{"allOf", {{{"anyOf", either}}, small[0]}}}));
  EXPECT_EQ(fields["other"], WithMembers(int_or_string, {{"anyOf", either}, {"allOf", small}}));
}

TEST_F(OpenApiCustomResourceTest, EmbeddedResourceOfACustomResourceHasTheFieldsOfAllObjects) {
  CreateCrd(
      ObjectSchema({{"spec", ObjectSchema({{"template",
                                            {{"type", "object"},
                                             {"x-kubernetes-embedded-resource", true},
                                             {"x-kubernetes-preserve-unknown-fields", true}}}})}}));
  json embedded = WidgetTypes()[TypeName("Widget")]["properties"]["spec"]["properties"]["template"];

  EXPECT_EQ(embedded["required"], json({"kind", "apiVersion"}));
  EXPECT_EQ(embedded["properties"]["metadata"]["allOf"],
            json::array({Reference(meta_v1_prefix + "ObjectMeta")}));
  EXPECT_THAT(embedded["properties"]["kind"].value("description", ""),
              HasSubstr("kind is a string value representing the type of this object."));
  EXPECT_THAT(embedded["properties"]["apiVersion"].value("description", ""),
              HasSubstr("versioned schema of this representation of an object."));
}

TEST_F(OpenApiCustomResourceTest, CustomResourceHasAListType) {
  CreateCrd(AnyObjectSchema());
  json list = WidgetTypes()[TypeName("WidgetList")];

  EXPECT_EQ(list["description"], "WidgetList is a list of Widget");
  EXPECT_EQ(list["required"], json::array({"items"}));
  EXPECT_EQ(list["properties"]["items"],
            json({{"type", "array"},
                  {"items", Reference(TypeName("Widget"))},
                  {"description",
                   "List of widgets. More info: https://git.k8s.io/community/contributors/devel/"
                   "sig-architecture/api-conventions.md"}}));
  EXPECT_EQ(list["x-kubernetes-group-version-kind"],
            json::array({{{"group", group()}, {"kind", "WidgetList"}, {"version", "v1"}}}));
}

TEST_F(OpenApiCustomResourceTest, EachReferenceInTheDocumentOfACustomResourceLeadsToAType) {
  CreateCrd(
      ObjectSchema({{"spec", ObjectSchema({{"replicas", {{"type", "integer"}}}})}}),
      {{"subresources",
        {{"scale",
          {{"specReplicasPath", ".spec.replicas"}, {"statusReplicasPath", ".status.replicas"}}}}}});
  const json types = WidgetTypes();
  std::set<std::string> references;
  CollectReferences(types, references);

  for (const std::string& reference : references) {
    EXPECT_TRUE(types.contains(reference.substr(reference.rfind('/') + 1))) << reference;
  }
  for (const char* name : {"Status", "Patch", "DeleteOptions"}) {
    EXPECT_TRUE(types.contains(meta_v1_prefix + name)) << name;
  }
  EXPECT_TRUE(types.contains("io.k8s.api.autoscaling.v1.Scale"));
}

TEST_F(OpenApiCustomResourceTest, ChangedSchemaOfADefinitionChangesItsDocumentAndUrl) {
  const auto schema = [](const char* description) {
    return ObjectSchema({{"spec", {{"type", "string"}, {"description", description}}}});
  };
  CreateCrd(schema("first text"));
  WidgetTypes("first text");
  json before = IndexAfterChange();

  MergePatch(
      CrdPath(),
      {{"spec", {{"versions", MakeWidgetCrd("", schema("second text"))["spec"]["versions"]}}}});

  EXPECT_EQ(WidgetTypes("second text")[TypeName("Widget")]["properties"]["spec"]["description"],
            "second text");
  json after = IndexAfterChange(before["apis/" + group() + "/v1"]);
  EXPECT_NE(after["apis/" + group() + "/v1"], before["apis/" + group() + "/v1"]);
  EXPECT_EQ(after["apis/apps/v1"], before["apis/apps/v1"]);
}

TEST_F(OpenApiCustomResourceTest, DeletedDefinitionHasNoDocument) {
  CreateCrd(AnyObjectSchema());
  WidgetTypes();

  Delete(CrdPath());

  EXPECT_EQ(Eventually(404, [&] { return Get(WidgetDocument()); }).status, 404);
}

}  // namespace
}  // namespace kopp::conformance
