#include "custom_resources.hpp"
#include "validation_messages.hpp"

#include <string>
#include <vector>

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;

struct InvalidCrd {
  std::string test_name{};
  std::string operations{};  ///< JSON Patch that makes a valid CRD invalid
  std::vector<std::string> causes{};
};
void PrintTo(const InvalidCrd& crd, std::ostream* out) { *out << crd.operations; }

class CrdRejectionTest : public CustomResourceTest,
                         public ::testing::WithParamInterface<InvalidCrd> {};

TEST_P(CrdRejectionTest, InvalidCrdIsRejectedWithItsCauses) {
  const json crd =
      MakeWidgetCrd("g.example.com", AnyObjectSchema()).patch(json::parse(GetParam().operations));

  const JsonResponse response = Post(crds_path, crd);

  EXPECT_EQ(response.status, 422);
  EXPECT_EQ(response.reason(), "Invalid");
  EXPECT_EQ(response.str("/details/group"), "apiextensions.k8s.io");
  EXPECT_EQ(response.str("/details/kind"), "CustomResourceDefinition");
  EXPECT_EQ(Causes(response), GetParam().causes);
}

const std::string value_invalid = "FieldValueInvalid ";
const std::string value_required = "FieldValueRequired ";

const InvalidCrd invalid_crds[] = {
    {"NameIsNotPluralDotGroup",
     R"([{"op": "replace", "path": "/metadata/name", "value": "widget.g.example.com"}])",
     {value_invalid + R"(metadata.name: Invalid value: "widget.g.example.com": must be )"
                      R"(spec.names.plural+"."+spec.group)"}},
    {"SchemaIsMissing",
     R"([{"op": "remove", "path": "/spec/versions/0/schema"}])",
     {value_required + "spec.versions[0].schema.openAPIV3Schema: Required value"}},
    {"ScopeIsMissing",
     R"([{"op": "remove", "path": "/spec/scope"}])",
     {value_required + "spec.scope: Required value"}},
    {"ScopeIsUnknown",
     R"([{"op": "replace", "path": "/spec/scope", "value": "Nope"}])",
     {R"(FieldValueNotSupported spec.scope: Unsupported value: "Nope": supported values: )"
      R"("Cluster", "Namespaced")"}},
    {"KindIsMissing",
     R"([{"op": "remove", "path": "/spec/names/kind"}])",
     {value_required + "spec.names.singular: Required value",
      value_required + "spec.names.kind: Required value",
      value_required + "spec.names.listKind: Required value"}},
    {"ShortNameIsNotADnsLabel",
     R"([{"op": "add", "path": "/spec/names/shortNames", "value": ["A_"]}])",
     {value_invalid + R"(spec.names.shortNames[0]: Invalid value: "A_": )" + dns1035_label_error}},
    {"VersionNameIsNotADnsLabel",
     R"([{"op": "replace", "path": "/spec/versions/0/name", "value": "V1"}])",
     {value_invalid + R"(spec.versions[0].name: Invalid value: "V1": )" + dns1035_label_error,
      value_invalid + R"(spec.version: Invalid value: "V1": )" + dns1035_label_error}},
    {"GroupHasNoDot",
     R"([{"op": "replace", "path": "/spec/group", "value": "nodots"},
         {"op": "replace", "path": "/metadata/name", "value": "widgets.nodots"}])",
     {value_invalid +
      R"(spec.group: Invalid value: "nodots": should be a domain with at least one dot)"}},
    {"ScaleHasNoStatusReplicasPath",
     R"([{"op": "add", "path": "/spec/versions/0/subresources",
          "value": {"scale": {"specReplicasPath": ".spec.replicas"}}}])",
     {value_required + "spec.subresources.scale.statusReplicasPath: Required value"}},
    {"ScalePathsAreInvalid",
     R"([{"op": "add", "path": "/spec/versions/0/subresources",
          "value": {"scale": {"specReplicasPath": ".status.r", "statusReplicasPath": "spec"}}}])",
     {value_invalid +
          R"(spec.subresources.scale.specReplicasPath: Invalid value: ".status.r": should )"
          "be a json path under .spec",
      value_invalid +
          R"(spec.subresources.scale.statusReplicasPath: Invalid value: "spec": must be a )"
          "simple json path starting with ."}},
    {"PrinterColumnTypeIsUnknown",
     R"([{"op": "add", "path": "/spec/versions/0/additionalPrinterColumns",
          "value": [{"name": "A", "type": "nope", "jsonPath": ".spec.a"}]}])",
     {value_invalid +
      R"(spec.additionalPrinterColumns[0].type: Invalid value: "nope": must be one of )"
      "boolean,date,integer,number,string"}},
    {"SpecPreserveUnknownFieldsIsTrue",
     R"([{"op": "add", "path": "/spec/preserveUnknownFields", "value": true}])",
     {value_invalid +
      "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set "
      "x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"}},
};
INSTANTIATE_TEST_SUITE_P(, CrdRejectionTest, ::testing::ValuesIn(invalid_crds),
                         [](const auto& crd) { return crd.param.test_name; });

struct InvalidSchema {
  std::string test_name{};
  std::string schema{};  ///< of the property "spec"
  std::string cause{};   ///< "SPEC" stands for the path of that schema
};
void PrintTo(const InvalidSchema& invalid, std::ostream* out) { *out << invalid.schema; }

class CrdSchemaRejectionTest : public CustomResourceTest,
                               public ::testing::WithParamInterface<InvalidSchema> {};

TEST_P(CrdSchemaRejectionTest, InvalidSchemaIsRejectedWithItsCause) {
  std::string expected = GetParam().cause;
  expected.replace(expected.find("SPEC"), 4, "spec.validation.openAPIV3Schema.properties[spec]");

  const JsonResponse response =
      Post(crds_path,
           MakeWidgetCrd(UniqueGroup(), ObjectSchema({{"spec", json::parse(GetParam().schema)}})));

  EXPECT_EQ(response.status, 422);
  EXPECT_THAT(Causes(response), ElementsAre(expected));
}

const std::string value_forbidden = "FieldValueForbidden ";

const InvalidSchema invalid_schemas[] = {
    {"TypeIsMissing", "{}",
     value_required + "SPEC.type: Required value: must not be empty for specified object fields"},
    {"TypeIsUnknown", R"({"type": "nope"})",
     "FieldValueNotSupported SPEC.type: Unsupported value: \"nope\": supported values: \"array\", "
     "\"boolean\", \"integer\", \"number\", \"object\", \"string\""},
    {"ArrayHasNoItemsSchema", R"({"type": "array"})",
     value_required + "SPEC.items: Required value: must be specified"},
    {"UniqueItemsIsTrue", R"({"type": "array", "items": {"type": "string"}, "uniqueItems": true})",
     value_forbidden + "SPEC.uniqueItems: Forbidden: uniqueItems cannot be set to true since the "
                       "runtime complexity becomes quadratic"},
    {"PropertiesAndAdditionalPropertiesAreBothSet",
     R"({"type": "object", "properties": {"a": {"type": "string"}},
         "additionalProperties": {"type": "string"}})",
     value_forbidden +
         "SPEC.additionalProperties: Forbidden: additionalProperties and properties are "
         "mutual exclusive"},
    {"PatternHasALookahead", R"({"type": "string", "pattern": "a(?=b)c"})",
     value_invalid +
         "SPEC.pattern: Invalid value: \"a(?=b)c\": must be a valid regular expression, but "
         "isn't: error parsing regexp: invalid or unsupported Perl syntax: `(?=`"},
    {"RefIsUsed", R"({"type": "string", "$ref": "#/x"})",
     value_forbidden + "SPEC.$ref: Forbidden: $ref is not supported"},
    {"AllOfContainsAType",
     R"({"type": "object", "allOf": [{"properties": {"q": {"type": "string"}}}]})",
     value_forbidden +
         "SPEC.allOf[0].properties[q].type: Forbidden: must be empty to be structural"},
    {"DefaultHasTheWrongType", R"({"type": "integer", "default": "x"})",
     "FieldValueTypeInvalid SPEC.default: Invalid value: \"string\":  in body must be of type "
     "integer: \"string\""},
    {"DefaultHasUnknownFields", R"({"type": "object", "default": {"zz": 1}})",
     value_invalid + R"(SPEC.default: Invalid value: {"zz":1}: must not have unknown fields)"},
    {"ListMapKeyIsNeitherRequiredNorDefaulted",
     R"({"type": "array", "items": {"type": "object", "properties": {"k": {"type": "string"}}},
         "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]})",
     value_required +
         "SPEC.items.properties[k].default: Required value: this property is in "
         "x-kubernetes-list-map-keys, so it must have a default or be a required property"},
    {"MapListHasNoKeys",
     R"({"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "map"})",
     value_required + "SPEC.x-kubernetes-list-map-keys: Required value: must not be empty if "
                      "x-kubernetes-list-type is map"},
    {"ListTypeIsUnknown",
     R"({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "nope"})",
     "FieldValueNotSupported SPEC.x-kubernetes-list-type: Unsupported value: \"nope\": supported "
     "values: \"atomic\", \"set\", \"map\""},
    {"SetListHasObjectsThatAreNotAtomic",
     R"({"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "set"})",
     value_invalid +
         "SPEC.items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of "
         "a list with x-kubernetes-list-type=set"},
    {"EmbeddedResourceHasNoProperties",
     R"({"type": "object", "x-kubernetes-embedded-resource": true})",
     value_required + "SPEC.properties: Required value: must not be empty if "
                      "x-kubernetes-embedded-resource is true without "
                      "x-kubernetes-preserve-unknown-fields"},
};
INSTANTIATE_TEST_SUITE_P(, CrdSchemaRejectionTest, ::testing::ValuesIn(invalid_schemas),
                         [](const auto& invalid) { return invalid.param.test_name; });

class CrdValidationTest : public CustomResourceTest {};

TEST_F(CrdValidationTest, SchemaWhoseRootIsNotAnObjectIsRejected) {
  const JsonResponse response =
      Post(crds_path, MakeWidgetCrd(UniqueGroup(), json{{"type", "string"}}));

  EXPECT_THAT(Causes(response),
              ElementsAre("FieldValueInvalid spec.validation.openAPIV3Schema.type: Invalid value: "
                          "\"string\": must be object at the root"));
}

TEST_F(CrdValidationTest, SchemaOfMetadataFieldsOtherThanTheNameIsRejected) {
  const JsonResponse response =
      Post(crds_path,
           MakeWidgetCrd(
               UniqueGroup(),
               ObjectSchema({{"metadata", ObjectSchema({{"labels", {{"type", "object"}}}})}})));

  EXPECT_THAT(Causes(response),
              ElementsAre("FieldValueForbidden "
                          "spec.validation.openAPIV3Schema.properties[metadata]: Forbidden: must "
                          "not specify anything other than name and generateName, but metadata is "
                          "implicitly specified"));
}

TEST_F(CrdValidationTest, TwoStorageVersionsAreRejected) {
  json crd = MakeWidgetCrd(UniqueGroup(), AnyObjectSchema());
  crd["spec"]["versions"].push_back(crd["spec"]["versions"][0]);
  crd["spec"]["versions"][1]["name"] = "v2";

  const JsonResponse response = Post(crds_path, crd);

  EXPECT_EQ(response.status, 422);
  EXPECT_THAT(Causes(response),
              ElementsAre(EndsWith("]: must have exactly one version marked as storage version"),
                          "FieldValueInvalid status.storedVersions: Invalid value: [\"v1\"]: must "
                          "have the storage version v2"));
}

TEST_F(CrdValidationTest, EmptyVersionListIsRejected) {
  json crd = MakeWidgetCrd(UniqueGroup(), AnyObjectSchema());
  crd["spec"]["versions"] = json::array();

  const JsonResponse response = Post(crds_path, crd);

  EXPECT_THAT(Causes(response),
              ElementsAre("FieldValueInvalid spec.versions: Invalid value: []: must have exactly "
                          "one version marked as storage version",
                          "FieldValueInvalid status.storedVersions: Invalid value: null: must have "
                          "at least one stored version"));
}

TEST_F(CrdValidationTest, DuplicateVersionNamesAreRejected) {
  json crd = MakeWidgetCrd(UniqueGroup(), AnyObjectSchema());
  crd["spec"]["versions"].push_back(crd["spec"]["versions"][0]);
  crd["spec"]["versions"][1]["storage"] = false;

  const JsonResponse response = Post(crds_path, crd);

  EXPECT_THAT(Causes(response), ElementsAre(EndsWith("]: must contain unique version names")));
}

}  // namespace
}  // namespace kopp::conformance
