// Rules for the schemas, conversions and selectable fields of CRDs.
#include "custom_resources.hpp"
#include "validation/rule.hpp"

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CrdRuleTest : public CustomResourceTest {
 protected:
  /// Returns a CRD whose only field has `schema`.
  static json MakeCrd(const json& schema) {
    return MakeWidgetCrd(UniqueGroup(), {{"type", "object"}, {"properties", {{"f", schema}}}});
  }
  static JsonResponse PostCrd(const json& crd) {
    return Post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All", crd);
  }
};

class CrdSchemaRuleTest : public CrdRuleTest, public ::testing::WithParamInterface<Rule> {};

TEST_P(CrdSchemaRuleTest, TheErrorsAreThoseOfTheRule) {
  ExpectErrors(PostCrd(MakeCrd(json::parse(GetParam().value))), GetParam());
}

const Rule schema_rules[] = {
    {"RuleThatIsMissing", R"({"type": "string", "x-kubernetes-validations": [{"message": "a"}]})",
     R"(spec.validation.openAPIV3Schema.properties[f].x-kubernetes-validations[0].rule: Required value: rule is not specified)"},
    {"BlankRule", R"({"type": "string", "x-kubernetes-validations": [{"rule": " "}]})",
     R"(spec.validation.openAPIV3Schema.properties[f].x-kubernetes-validations[0].rule: Required value: rule is not specified)"},
    {"BlankMessage",
     R"({"type": "string", "x-kubernetes-validations": [{"rule": "true", "message": " "}]})",
     R"(spec.validation.openAPIV3Schema.properties[f].x-kubernetes-validations[0].message: Invalid value: " ": must be non-empty if specified)"},
    {"MessageOfTwoLines",
     R"({"type": "string", "x-kubernetes-validations": [{"rule": "true", "message": "a\nb"}]})",
     R"(spec.validation.openAPIV3Schema.properties[f].x-kubernetes-validations[0].message: Invalid value: "a\nb": must not contain line breaks)"},
    {"RuleOfTwoLinesWithoutMessage",
     R"({"type": "string", "x-kubernetes-validations": [{"rule": "self ==\n'a'"}]})",
     R"(spec.validation.openAPIV3Schema.properties[f].x-kubernetes-validations[0].message: Required value: message must be specified if rule contains line breaks)"},
    {"BlankMessageExpression",
     R"({"type": "string", "x-kubernetes-validations": [{"rule": "true", "messageExpression": " "}]})",
     R"(spec.validation.openAPIV3Schema.properties[f].x-kubernetes-validations[0].messageExpression: Required value: messageExpression must be non-empty if specified)"},
    {"UnknownReason",
     R"({"type": "string", "x-kubernetes-validations": [{"rule": "true", "reason": "x"}]})",
     R"(spec.validation.openAPIV3Schema.properties[f].x-kubernetes-validations[0].reason: Unsupported value: "x": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")"},
    {"FieldPathThatDoesNotExist",
     R"({"type": "string", "x-kubernetes-validations": [{"rule": "true", "fieldPath": ".x"}]})",
     R"(spec.validation.openAPIV3Schema.properties[f].x-kubernetes-validations[0].fieldPath: Invalid value: ".x": must be a valid path)"},
    {"FieldPathOfAProperty",
     R"({"type": "object", "properties": {"p": {"type": "string"}}, "x-kubernetes-validations": [{"rule": "true", "fieldPath": "['p']"}]})",
     ""},
    {"EmbeddedMetadataThatIsNoObject",
     R"({"type": "object", "x-kubernetes-embedded-resource": true, "properties": {"metadata": {"type": "string"}}})",
     R"(spec.validation.openAPIV3Schema.properties[f].properties[metadata].type: Invalid value: "string": must be object)"},
    {"EmbeddedApiVersionThatIsNoString",
     R"({"type": "object", "x-kubernetes-embedded-resource": true, "properties": {"apiVersion": {"type": "integer"}}})",
     R"(spec.validation.openAPIV3Schema.properties[f].properties[apiVersion].type: Invalid value: "integer": must be string)"},
    {"NullInADefault",
     R"({"type": "object", "properties": {"a": {"type": "string"}}, "default": {"a": null}})",
     R"(spec.validation.openAPIV3Schema.properties[f].default.a: Invalid value: "null": a in body must be of type string: "null")"},
    {"NullInAnEnum", R"({"type": "string", "enum": ["a", null]})", ""},
    {"AdditionalItems",
     R"({"type": "array", "items": {"type": "string"}, "additionalItems": true})",
     R"(spec.validation.openAPIV3Schema.properties[f].additionalItems: Forbidden: additionalItems is not supported)"},
    {"ReferenceWithoutType", R"({"$ref": "#/x"})",
     R"(spec.validation.openAPIV3Schema.properties[f].$ref: Forbidden: $ref is not supported)"},
    {"AlternativesWithTypes", R"({"anyOf": [{"type": "string"}]})",
     R"([spec.validation.openAPIV3Schema.properties[f].anyOf[0].type: Forbidden: must be empty to be structural, spec.validation.openAPIV3Schema.properties[f].type: Required value: must not be empty for specified object fields])"},
};
INSTANTIATE_TEST_SUITE_P(, CrdSchemaRuleTest, ::testing::ValuesIn(schema_rules), &NameOf);

/// The errors about the structure of a schema precede those about its keywords.
const Rule structure_rules[] = {
    {"ListTypeOfAnUnknownKindWithKeys",
     R"({"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}}}, "x-kubernetes-list-type": "x", "x-kubernetes-list-map-keys": ["a"]})",
     R"([spec.validation.openAPIV3Schema.properties[f].x-kubernetes-list-type: Unsupported value: "x": supported values: "atomic", "set", "map", spec.validation.openAPIV3Schema.properties[f].x-kubernetes-list-type: Invalid value: "x": must be map if x-kubernetes-list-map-keys is non-empty])"},
    {"ListTypeOfANumber", R"({"type": "number", "x-kubernetes-list-type": "set"})",
     R"(spec.validation.openAPIV3Schema.properties[f].type: Invalid value: "number": must be array if x-kubernetes-list-type is specified)"},
    {"MapTypeWithoutType", R"({"x-kubernetes-map-type": "atomic"})",
     R"([spec.validation.openAPIV3Schema.properties[f].type: Required value: must not be empty for specified object fields, spec.validation.openAPIV3Schema.properties[f].type: Required value: must be object if x-kubernetes-map-type is specified])"},
    {"ListMapOfItemsWithoutType",
     R"({"type": "array", "items": {}, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"]})",
     R"([spec.validation.openAPIV3Schema.properties[f].items.type: Required value: must not be empty for specified array items, spec.validation.openAPIV3Schema.properties[f].items.type: Invalid value: "": must be object if parent array's x-kubernetes-list-type is map])"},
    {"UnknownTypeOfAnEmbeddedResource",
     R"({"type": "x", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true})",
     R"([spec.validation.openAPIV3Schema.properties[f].type: Invalid value: "x": must be object if x-kubernetes-embedded-resource is true, spec.validation.openAPIV3Schema.properties[f].type: Unsupported value: "x": supported values: "array", "boolean", "integer", "number", "object", "string"])"},
    {"EmbeddedResourceWithAdditionalProperties",
     R"({"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true, "additionalProperties": {"type": "string"}})",
     R"(spec.validation.openAPIV3Schema.properties[f].additionalProperties: Forbidden: must not be used if x-kubernetes-embedded-resource is set)"},
    {"UniqueItemsInAnItem",
     R"({"type": "array", "items": {"type": "array", "uniqueItems": true, "items": {"type": "x"}}})",
     R"([spec.validation.openAPIV3Schema.properties[f].items.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic, spec.validation.openAPIV3Schema.properties[f].items.items.type: Unsupported value: "x": supported values: "array", "boolean", "integer", "number", "object", "string"])"},
    {"ReferenceInAnItemWithoutType", R"({"type": "array", "items": {"$ref": "#/x"}})",
     R"(spec.validation.openAPIV3Schema.properties[f].items.$ref: Forbidden: $ref is not supported)"},
};
INSTANTIATE_TEST_SUITE_P(Structure, CrdSchemaRuleTest, ::testing::ValuesIn(structure_rules),
                         &NameOf);

/// Defaults whose type or format is unknown.
const Rule default_rules[] = {
    {"DefaultOfAnUnknownTypeWithAFormat", R"({"type": "x", "format": "int32", "default": 3})",
     R"([spec.validation.openAPIV3Schema.properties[f].default: Invalid value: "int64":  in body must be of type int32: "int64", spec.validation.openAPIV3Schema.properties[f].type: Unsupported value: "x")"},
    {"TextAsDefaultOfAnUnknownTypeWithAFormat",
     R"({"type": "x", "format": "int32", "default": "a"})",
     R"(spec.validation.openAPIV3Schema.properties[f].type: Unsupported value: "x")"},
    {"NumberAsDefaultOfAStringWithAFormat",
     R"({"type": "string", "format": "int32", "default": 1.5})",
     R"(spec.validation.openAPIV3Schema.properties[f].default: Invalid value: "float64":  in body must be of type int32: "float64")"},
};
INSTANTIATE_TEST_SUITE_P(Defaults, CrdSchemaRuleTest, ::testing::ValuesIn(default_rules), &NameOf);

const Rule alternative_rules[] = {
    {"IntegerOrStringWithATypeInAnyOf",
     R"({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "number"}]})",
     R"([spec.validation.openAPIV3Schema.properties[f].anyOf[0].type: Forbidden: must be empty to be structural, spec.validation.openAPIV3Schema.properties[f].anyOf[1].type: Forbidden: must be empty to be structural])"},
    {"IntegerOrStringInAnyOf",
     R"({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]})",
     ""},
    {"IntegerOrStringInAllOf",
     R"({"x-kubernetes-int-or-string": true, "allOf": [{"anyOf": [{"type": "integer"}, {"type": "string"}]}, {"maximum": 5}]})",
     ""},
    {"IntegerOrStringInTheSecondAllOf",
     R"({"x-kubernetes-int-or-string": true, "allOf": [{"maximum": 5}, {"anyOf": [{"type": "integer"}, {"type": "string"}]}]})",
     R"([spec.validation.openAPIV3Schema.properties[f].allOf[1].anyOf[0].type: Forbidden: must be empty to be structural, spec.validation.openAPIV3Schema.properties[f].allOf[1].anyOf[1].type: Forbidden: must be empty to be structural])"},
    {"InvalidPatternInAnAlternative", R"({"type": "string", "anyOf": [{"pattern": "("}]})",
     R"(spec.validation.openAPIV3Schema.properties[f].anyOf[0].pattern: Invalid value: "(": must be a valid regular expression, but isn't: error parsing regexp: missing closing ): `(`)"},
    {"ListTypeInAnAlternative",
     R"({"type": "array", "items": {"type": "string"}, "anyOf": [{"x-kubernetes-list-type": "set"}]})",
     R"([spec.validation.openAPIV3Schema.properties[f].anyOf[0].x-kubernetes-list-type: Forbidden: must be undefined to be structural, spec.validation.openAPIV3Schema.properties[f].anyOf[0].type: Required value: must be array if x-kubernetes-list-type is specified])"},
    {"MetadataInAnAlternative",
     R"({"type": "object", "properties": {"metadata": {"type": "object"}}, "anyOf": [{"properties": {"metadata": {"maxProperties": 1}}}]})",
     R"(spec.validation.openAPIV3Schema.properties[f].anyOf[0].properties[metadata]: Forbidden: must not be specified in a nested context)"},
};
INSTANTIATE_TEST_SUITE_P(Alternatives, CrdSchemaRuleTest, ::testing::ValuesIn(alternative_rules),
                         &NameOf);

class CrdConversionRuleTest : public CrdRuleTest, public ::testing::WithParamInterface<Rule> {};

TEST_P(CrdConversionRuleTest, TheErrorsAreThoseOfTheRule) {
  json crd = MakeCrd({{"type", "string"}});
  crd["spec"]["conversion"] = json::parse(GetParam().value);

  ExpectErrors(PostCrd(crd), GetParam());
}

const Rule conversion_rules[] = {
    {"WebhookWithoutStrategyWebhook",
     R"({"strategy": "None", "webhook": {"clientConfig": {"service": {"name": "s", "namespace": "n"}}, "conversionReviewVersions": ["v1"]}})",
     R"([spec.conversion.webhookClientConfig: Forbidden: should not be set when strategy is not set to Webhook, spec.conversion.conversionReviewVersions: Forbidden: should not be set when strategy is not set to Webhook])"},
    {"EmptyStrategy", R"({"strategy": ""})", R"(spec.conversion.strategy: Required value)"},
    {"NeitherUrlNorService",
     R"({"strategy": "Webhook", "webhook": {"clientConfig": {}, "conversionReviewVersions": ["v1"]}})",
     R"(spec.conversion.webhookClientConfig: Required value: exactly one of url or service is required)"},
    {"HttpUrl",
     R"({"strategy": "Webhook", "webhook": {"clientConfig": {"url": "http://a"}, "conversionReviewVersions": ["v1"]}})",
     R"(spec.conversion.webhookClientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path])"},
    {"ServiceWithoutNames",
     R"({"strategy": "Webhook", "webhook": {"clientConfig": {"service": {}}, "conversionReviewVersions": ["v1"]}})",
     R"([spec.conversion.webhookClientConfig.service.name: Required value, spec.conversion.webhookClientConfig.service.namespace: Required value])"},
    {"ServiceWithoutNamespace",
     R"({"strategy": "Webhook", "webhook": {"clientConfig": {"service": {"name": "s"}}, "conversionReviewVersions": ["v1"]}})",
     R"(spec.conversion.webhookClientConfig.service.name: Required value)"},
    {"RelativePath",
     R"({"strategy": "Webhook", "webhook": {"clientConfig": {"service": {"name": "s", "namespace": "n", "path": "x"}}, "conversionReviewVersions": ["v1"]}})",
     R"([spec.conversion.webhookClientConfig.service.path: Invalid value: "x": must start with a '/', spec.conversion.webhookClientConfig.service.path: Invalid value: "x": segment[0] may not be empty])"},
    {"PortOfZero",
     R"({"strategy": "Webhook", "webhook": {"clientConfig": {"service": {"name": "s", "namespace": "n", "port": 0}}, "conversionReviewVersions": ["v1"]}})",
     R"(spec.conversion.webhookClientConfig.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive)"},
    {"UnknownReviewVersion",
     R"({"strategy": "Webhook", "webhook": {"clientConfig": {"service": {"name": "s", "namespace": "n"}}, "conversionReviewVersions": ["v2"]}})",
     R"(spec.conversion.conversionReviewVersions: Invalid value: ["v2"]: must include at least one of v1, v1beta1)"},
    {"ReviewVersionTwice",
     R"({"strategy": "Webhook", "webhook": {"clientConfig": {"service": {"name": "s", "namespace": "n"}}, "conversionReviewVersions": ["v1", "v1"]}})",
     R"(spec.conversion.conversionReviewVersions[1]: Invalid value: "v1": duplicate version)"},
    {"ValidWebhook",
     R"({"strategy": "Webhook", "webhook": {"clientConfig": {"service": {"name": "s", "namespace": "n"}}, "conversionReviewVersions": ["v1"]}})",
     ""},
};
INSTANTIATE_TEST_SUITE_P(, CrdConversionRuleTest, ::testing::ValuesIn(conversion_rules), &NameOf);

class CrdSelectableFieldRuleTest : public CrdRuleTest,
                                   public ::testing::WithParamInterface<Rule> {};

TEST_P(CrdSelectableFieldRuleTest, TheErrorsAreThoseOfTheRule) {
  json crd = MakeCrd({{"type", "string"}});
  json& version = crd["spec"]["versions"][0];
  version["schema"]["openAPIV3Schema"]["properties"].update(
      R"({"n": {"type": "number"}, "l": {"type": "array", "items": {"type": "string"}},
          "o": {"type": "object", "properties": {"x": {"type": "boolean"}}},
          "m": {"type": "object", "additionalProperties": {"type": "integer"}}})"_json);
  version["selectableFields"] = json::parse(GetParam().value);

  ExpectErrors(PostCrd(crd), GetParam());
}

const Rule selectable_field_rules[] = {
    {"NoPath", R"([{}])", R"(spec.selectableFields[0].jsonPath: Required value)"},
    {"PathWithoutDot", R"([{"jsonPath": "f"}])",
     R"(spec.selectableFields[0].jsonPath: Invalid value: "f": is an invalid path: expected [ or . but got: f)"},
    {"Number", R"([{"jsonPath": ".n"}])",
     R"(spec.selectableFields[0].jsonPath: Invalid value: ".n": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.)"},
    {"List", R"([{"jsonPath": ".l"}])",
     R"(spec.selectableFields[0].jsonPath: Invalid value: ".l": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.)"},
    {"ItemOfAList", R"([{"jsonPath": ".l[0]"}])",
     R"(spec.selectableFields[0].jsonPath: Invalid value: ".l[0]": is an invalid path: array notation is not allowed)"},
    {"FieldOfAnObject", R"([{"jsonPath": ".o.x"}])", ""},
    {"EntryOfAMap", R"([{"jsonPath": ".m.x"}])", ""},
    {"UnknownField", R"([{"jsonPath": ".o.y"}])",
     R"(spec.selectableFields[0].jsonPath: Invalid value: ".o.y": is an invalid path: does not refer to a valid field)"},
    {"Metadata", R"([{"jsonPath": ".metadata.name"}])",
     R"(spec.selectableFields[0].jsonPath: Invalid value: ".metadata.name": is an invalid path: does not refer to a valid field)"},
    {"PathThatEndsWithADot", R"([{"jsonPath": ".o."}])",
     R"(spec.selectableFields[0].jsonPath: Invalid value: ".o.": is an invalid path: unexpected end of JSON path)"},
    {"NameInBrackets", R"([{"jsonPath": ".o['x']"}])",
     R"(spec.selectableFields[0].jsonPath: Invalid value: ".o['x']": is an invalid path: array notation is not allowed)"},
    {"FieldTwice", R"([{"jsonPath": ".f"}, {"jsonPath": ".f"}])",
     R"(spec.selectableFields[1].jsonPath: Duplicate value: ".f")"},
};
INSTANTIATE_TEST_SUITE_P(, CrdSelectableFieldRuleTest, ::testing::ValuesIn(selectable_field_rules),
                         &NameOf);

TEST_F(CrdRuleTest, ADeprecationWarningIsPrintable) {
  json crd = MakeCrd({{"type", "string"}});
  crd["spec"]["versions"][0]["deprecated"] = true;
  crd["spec"]["versions"][0]["deprecationWarning"] = "<\u202e";

  EXPECT_THAT(PostCrd(crd).message(),
              EndsWith("spec.versions[0].deprecationWarning: Invalid value: \"\\u003c\u202e\": "
                       "must only contain "
                       "printable UTF-8 characters; non-printable character found at index 1"));
}

TEST_F(CrdRuleTest, SelectableFieldsNeedASchema) {
  json crd = MakeCrd({{"type", "string"}});
  crd["spec"]["versions"][0]["selectableFields"] = R"([{"jsonPath": ".f"}])"_json;
  crd["spec"]["versions"][0].erase("schema");

  EXPECT_THAT(
      PostCrd(crd).message(),
      HasSubstr(
          R"(spec.selectableFields: Invalid value: "": may only be set when validations.schema is included)"));
}

class CrdDecodingTest : public CrdRuleTest, public ::testing::WithParamInterface<Rule> {};

TEST_P(CrdDecodingTest, ASchemaInASchemaIsDecoded) {
  const JsonResponse created = PostCrd(MakeCrd(json::parse(GetParam().value)));

  EXPECT_EQ(created.status, 400);
  EXPECT_THAT(created.message(),
              ::testing::EndsWith("CustomResourceDefinition: " + GetParam().errors));
}

const Rule decoding_rules[] = {
    {"ItemsWithoutAType", R"({"type": "array", "items": {"type": 5}})",
     R"(json: cannot unmarshal number into Go struct field JSONSchemaProps.spec.versions.schema.openAPIV3Schema.properties.items of type string)"},
    {"PropertiesOfItemsAreText", R"({"type": "array", "items": {"properties": "x"}})",
     R"(json: cannot unmarshal string into Go struct field JSONSchemaProps.spec.versions.schema.openAPIV3Schema.properties.items of type map[string]v1.JSONSchemaProps)"},
    {"NestedItems", R"({"type": "array", "items": {"properties": {"a": {"items": {"type": 5}}}}})",
     R"(json: cannot unmarshal number into Go struct field JSONSchemaProps.spec.versions.schema.openAPIV3Schema.properties.items of type string)"},
    {"ListOfItems", R"({"type": "array", "items": [{"type": 5}]})",
     R"(json: cannot unmarshal number into Go struct field JSONSchemaProps.spec.versions.schema.openAPIV3Schema.properties.items of type string)"},
    {"AdditionalProperties", R"({"type": "object", "additionalProperties": {"type": 5}})",
     R"(json: cannot unmarshal number into Go struct field JSONSchemaProps.spec.versions.schema.openAPIV3Schema.properties.additionalProperties of type string)"},
    {"AdditionalPropertiesAreANumber", R"({"type": "object", "additionalProperties": 5})",
     R"(boolean or JSON schema expected)"},
    {"Dependencies", R"({"type": "object", "dependencies": {"a": [5]}})",
     R"(json: cannot unmarshal number into Go struct field JSONSchemaProps.spec.versions.schema.openAPIV3Schema.properties.dependencies of type string)"},
};
INSTANTIATE_TEST_SUITE_P(, CrdDecodingTest, ::testing::ValuesIn(decoding_rules), &NameOf);

TEST_F(CrdRuleTest, ItemsThatAreANumberAreIgnored) {
  EXPECT_THAT(Causes(PostCrd(MakeCrd(R"({"type": "array", "items": 5})"_json))),
              ElementsAre("FieldValueRequired spec.validation.openAPIV3Schema.properties[f].items: "
                          "Required value: must be specified"));
}

class RootSchemaRuleTest : public CrdRuleTest, public ::testing::WithParamInterface<Rule> {};

TEST_P(RootSchemaRuleTest, TheErrorsAreThoseOfTheRule) {
  const json version_fields = R"({"subresources": {"status": {}}})"_json;
  ExpectErrors(PostCrd(MakeWidgetCrd(UniqueGroup(), json::parse(GetParam().value), version_fields)),
               GetParam());
}

const Rule root_schema_rules[] = {
    {"NoTypeButUnknownFields", R"({"x-kubernetes-preserve-unknown-fields": true})", ""},
    {"List", R"({"type": "array", "items": {"type": "string"}})",
     R"([spec.validation.openAPIV3Schema.type: Invalid value: "array": only "object" is allowed as the type at the root of the schema if the status subresource is enabled, spec.validation.openAPIV3Schema.type: Invalid value: "array": must be object at the root])"},
};
INSTANTIATE_TEST_SUITE_P(, RootSchemaRuleTest, ::testing::ValuesIn(root_schema_rules), &NameOf);

TEST_F(CrdRuleTest, AVersionTwiceIsStoredOnce) {
  json crd = MakeCrd({{"type", "string"}});
  json& versions = crd["spec"]["versions"];
  versions.push_back(versions[0]);

  EXPECT_THAT(Causes(PostCrd(crd)),
              ::testing::Contains(R"(FieldValueInvalid status.storedVersions: Invalid value: )"
                                  R"(["v1"]: must have the storage version v1)"));
}

TEST_F(CrdRuleTest, AnUnknownFormatOfAStringIsAWarning) {
  EXPECT_THAT(PostCrd(MakeCrd({{"type", "string"}, {"format", "uuid7"}})).warnings,
              ElementsAre("unrecognized format \"uuid7\""));
  EXPECT_THAT(PostCrd(MakeCrd({{"type", "integer"}, {"format", "uuid7"}})).warnings, IsEmpty());
  EXPECT_THAT(PostCrd(MakeCrd({{"type", "string"}, {"format", "email"}})).warnings, IsEmpty());
}

TEST_F(CrdRuleTest, AWholeNumberIsADefaultOfAnInteger) {
  EXPECT_EQ(PostCrd(MakeCrd(R"({"type": "integer", "default": 1.0})"_json)).status, 201);
}

}  // namespace
}  // namespace kopp::conformance
