#include "custom_resources.hpp"
#include "explanations.hpp"

#include <string>
#include <vector>

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;

struct Spoiled {
  std::string name{};
  std::string operations{};  ///< the JSON Patch that spoils a good definition
  std::vector<std::string> causes{};
};
void PrintTo(const Spoiled& spoiled, std::ostream* out) { *out << spoiled.operations; }

class CrdRefusalTest : public CustomResourceTest, public ::testing::WithParamInterface<Spoiled> {};

TEST_P(CrdRefusalTest, IsInvalid) {
  const json spoiled =
      ADefinition("g.example.com", Anything()).patch(json::parse(GetParam().operations));

  const Answer answer = Post(definitions, spoiled);

  EXPECT_EQ(answer.status, 422);
  EXPECT_EQ(answer.reason(), "Invalid");
  EXPECT_EQ(answer.str("/details/group"), "apiextensions.k8s.io");
  EXPECT_EQ(answer.str("/details/kind"), "CustomResourceDefinition");
  EXPECT_EQ(Causes(answer), GetParam().causes);
}

const std::string invalid = "FieldValueInvalid ";
const std::string required = "FieldValueRequired ";

const Spoiled all_spoiled[] = {
    {"ANameThatIsNotPluralAndGroup",
     R"([{"op": "replace", "path": "/metadata/name", "value": "widget.g.example.com"}])",
     {invalid + R"(metadata.name: Invalid value: "widget.g.example.com": must be )"
                R"(spec.names.plural+"."+spec.group)"}},
    {"NoSchema",
     R"([{"op": "remove", "path": "/spec/versions/0/schema"}])",
     {required + "spec.versions[0].schema.openAPIV3Schema: Required value"}},
    {"NoScope",
     R"([{"op": "remove", "path": "/spec/scope"}])",
     {required + "spec.scope: Required value"}},
    {"AnUnknownScope",
     R"([{"op": "replace", "path": "/spec/scope", "value": "Nope"}])",
     {R"(FieldValueNotSupported spec.scope: Unsupported value: "Nope": supported values: )"
      R"("Cluster", "Namespaced")"}},
    {"NoKind",
     R"([{"op": "remove", "path": "/spec/names/kind"}])",
     {required + "spec.names.singular: Required value",
      required + "spec.names.kind: Required value",
      required + "spec.names.listKind: Required value"}},
    {"AShortNameThatIsNoLabel",
     R"([{"op": "add", "path": "/spec/names/shortNames", "value": ["A_"]}])",
     {invalid + R"(spec.names.shortNames[0]: Invalid value: "A_": )" + no_dns1035_label}},
    {"AVersionThatIsNoLabel",
     R"([{"op": "replace", "path": "/spec/versions/0/name", "value": "V1"}])",
     {invalid + R"(spec.versions[0].name: Invalid value: "V1": )" + no_dns1035_label,
      invalid + R"(spec.version: Invalid value: "V1": )" + no_dns1035_label}},
    {"AGroupWithoutADot",
     R"([{"op": "replace", "path": "/spec/group", "value": "nodots"},
         {"op": "replace", "path": "/metadata/name", "value": "widgets.nodots"}])",
     {invalid +
      R"(spec.group: Invalid value: "nodots": should be a domain with at least one dot)"}},
    {"AScaleWithOnePath",
     R"([{"op": "add", "path": "/spec/versions/0/subresources",
          "value": {"scale": {"specReplicasPath": ".spec.replicas"}}}])",
     {required + "spec.subresources.scale.statusReplicasPath: Required value"}},
    {"AScaleWithWrongPaths",
     R"([{"op": "add", "path": "/spec/versions/0/subresources",
          "value": {"scale": {"specReplicasPath": ".status.r", "statusReplicasPath": "spec"}}}])",
     {invalid + R"(spec.subresources.scale.specReplicasPath: Invalid value: ".status.r": should )"
                "be a json path under .spec",
      invalid + R"(spec.subresources.scale.statusReplicasPath: Invalid value: "spec": must be a )"
                "simple json path starting with ."}},
    {"AColumnOfAnUnknownType",
     R"([{"op": "add", "path": "/spec/versions/0/additionalPrinterColumns",
          "value": [{"name": "A", "type": "nope", "jsonPath": ".spec.a"}]}])",
     {invalid + R"(spec.additionalPrinterColumns[0].type: Invalid value: "nope": must be one of )"
                "boolean,date,integer,number,string"}},
    {"UnknownFieldsPreservedInTheOldWay",
     R"([{"op": "add", "path": "/spec/preserveUnknownFields", "value": true}])",
     {invalid + "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set "
                "x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"}},
};
INSTANTIATE_TEST_SUITE_P(, CrdRefusalTest, ::testing::ValuesIn(all_spoiled),
                         [](const auto& spoiled) { return spoiled.param.name; });

struct BadSchema {
  std::string name{};
  std::string schema{};  ///< of spec
  std::string cause{};   ///< with "SPEC" for the path to that schema
};
void PrintTo(const BadSchema& bad, std::ostream* out) { *out << bad.schema; }

class CrdSchemaRefusalTest : public CustomResourceTest,
                             public ::testing::WithParamInterface<BadSchema> {};

TEST_P(CrdSchemaRefusalTest, IsInvalid) {
  std::string expected = GetParam().cause;
  expected.replace(expected.find("SPEC"), 4, "spec.validation.openAPIV3Schema.properties[spec]");

  const Answer answer =
      Post(definitions,
           ADefinition(UniqueGroup(), AnObject({{"spec", json::parse(GetParam().schema)}})));

  EXPECT_EQ(answer.status, 422);
  EXPECT_THAT(Causes(answer), ElementsAre(expected));
}

const std::string forbidden = "FieldValueForbidden ";

const BadSchema bad_schemas[] = {
    {"NoType", "{}",
     required + "SPEC.type: Required value: must not be empty for specified object fields"},
    {"AnUnknownType", R"({"type": "nope"})",
     "FieldValueNotSupported SPEC.type: Unsupported value: \"nope\": supported values: \"array\", "
     "\"boolean\", \"integer\", \"number\", \"object\", \"string\""},
    {"AListWithoutItems", R"({"type": "array"})",
     required + "SPEC.items: Required value: must be specified"},
    {"UniqueItems", R"({"type": "array", "items": {"type": "string"}, "uniqueItems": true})",
     forbidden + "SPEC.uniqueItems: Forbidden: uniqueItems cannot be set to true since the "
                 "runtime complexity becomes quadratic"},
    {"PropertiesOfBothKinds",
     R"({"type": "object", "properties": {"a": {"type": "string"}},
         "additionalProperties": {"type": "string"}})",
     forbidden + "SPEC.additionalProperties: Forbidden: additionalProperties and properties are "
                 "mutual exclusive"},
    {"AReference", R"({"type": "string", "$ref": "#/x"})",
     forbidden + "SPEC.$ref: Forbidden: $ref is not supported"},
    {"ATypeInAllOf", R"({"type": "object", "allOf": [{"properties": {"q": {"type": "string"}}}]})",
     forbidden + "SPEC.allOf[0].properties[q].type: Forbidden: must be empty to be structural"},
    {"ADefaultOfAnotherType", R"({"type": "integer", "default": "x"})",
     "FieldValueTypeInvalid SPEC.default: Invalid value: \"string\":  in body must be of type "
     "integer: \"string\""},
    {"ADefaultWithUnknownFields", R"({"type": "object", "default": {"zz": 1}})",
     invalid + R"(SPEC.default: Invalid value: {"zz":1}: must not have unknown fields)"},
    {"KeysThatMayBeMissing",
     R"({"type": "array", "items": {"type": "object", "properties": {"k": {"type": "string"}}},
         "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]})",
     required + "SPEC.items.properties[k].default: Required value: this property is in "
                "x-kubernetes-list-map-keys, so it must have a default or be a required property"},
    {"AListByKeysWithoutKeys",
     R"({"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "map"})",
     required + "SPEC.x-kubernetes-list-map-keys: Required value: must not be empty if "
                "x-kubernetes-list-type is map"},
    {"AnUnknownListType",
     R"({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "nope"})",
     "FieldValueNotSupported SPEC.x-kubernetes-list-type: Unsupported value: \"nope\": supported "
     "values: \"atomic\", \"set\", \"map\""},
    {"ASetOfObjects",
     R"({"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "set"})",
     invalid + "SPEC.items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of "
               "a list with x-kubernetes-list-type=set"},
    {"AnEmbeddedResourceOfNothing", R"({"type": "object", "x-kubernetes-embedded-resource": true})",
     required + "SPEC.properties: Required value: must not be empty if "
                "x-kubernetes-embedded-resource is true without "
                "x-kubernetes-preserve-unknown-fields"},
};
INSTANTIATE_TEST_SUITE_P(, CrdSchemaRefusalTest, ::testing::ValuesIn(bad_schemas),
                         [](const auto& bad) { return bad.param.name; });

class CrdRefusalRulesTest : public CustomResourceTest {};

TEST_F(CrdRefusalRulesTest, TheRootIsAnObject) {
  const Answer answer = Post(definitions, ADefinition(UniqueGroup(), json{{"type", "string"}}));

  EXPECT_THAT(Causes(answer),
              ElementsAre("FieldValueInvalid spec.validation.openAPIV3Schema.type: Invalid value: "
                          "\"string\": must be object at the root"));
}

TEST_F(CrdRefusalRulesTest, MetadataHasNoSchemaButForItsName) {
  const Answer answer =
      Post(definitions,
           ADefinition(UniqueGroup(),
                       AnObject({{"metadata", AnObject({{"labels", {{"type", "object"}}}})}})));

  EXPECT_THAT(Causes(answer),
              ElementsAre("FieldValueForbidden "
                          "spec.validation.openAPIV3Schema.properties[metadata]: Forbidden: must "
                          "not specify anything other than name and generateName, but metadata is "
                          "implicitly specified"));
}

TEST_F(CrdRefusalRulesTest, OneVersionIsStored) {
  json definition = ADefinition(UniqueGroup(), Anything());
  definition["spec"]["versions"].push_back(definition["spec"]["versions"][0]);
  definition["spec"]["versions"][1]["name"] = "v2";

  const Answer answer = Post(definitions, definition);

  EXPECT_EQ(answer.status, 422);
  EXPECT_THAT(Causes(answer),
              ElementsAre(EndsWith("]: must have exactly one version marked as storage version"),
                          "FieldValueInvalid status.storedVersions: Invalid value: [\"v1\"]: must "
                          "have the storage version v2"));
}

TEST_F(CrdRefusalRulesTest, ThereIsAVersionToStore) {
  json definition = ADefinition(UniqueGroup(), Anything());
  definition["spec"]["versions"] = json::array();

  const Answer answer = Post(definitions, definition);

  EXPECT_THAT(Causes(answer),
              ElementsAre("FieldValueInvalid spec.versions: Invalid value: []: must have exactly "
                          "one version marked as storage version",
                          "FieldValueInvalid status.storedVersions: Invalid value: null: must have "
                          "at least one stored version"));
}

TEST_F(CrdRefusalRulesTest, VersionsHaveNamesOfTheirOwn) {
  json definition = ADefinition(UniqueGroup(), Anything());
  definition["spec"]["versions"].push_back(definition["spec"]["versions"][0]);
  definition["spec"]["versions"][1]["storage"] = false;

  const Answer answer = Post(definitions, definition);

  EXPECT_THAT(Causes(answer), ElementsAre(EndsWith("]: must contain unique version names")));
}

}  // namespace
}  // namespace kopp::conformance
