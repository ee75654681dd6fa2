#include "custom_resources.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace kopp::conformance {
namespace {

using ::testing::UnorderedElementsAreArray;

/// A schema with a value that is valid and one that is not.
struct SchemaRule {
  std::string name{};
  std::string schema{};
  std::string valid_value{};
  std::string invalid_value{};
  std::vector<std::string> causes{};  ///< of `invalid_value`; "AT" stands for the path of the field
};
void PrintTo(const SchemaRule& rule, std::ostream* out) { *out << rule.schema; }

std::string TypeCause(const std::string& expected_type, const std::string& actual_type) {
  return "FieldValueTypeInvalid AT: Invalid value: \"" + actual_type +
         "\": AT in body must be of type " + expected_type + ": \"" + actual_type + "\"";
}
std::string InvalidCause(const std::string& value, const std::string& expectation) {
  return "FieldValueInvalid AT: Invalid value: " + value + ": AT in body " + expectation;
}
std::string CompositionCause(const std::string& expectation) {
  return "FieldValueInvalid <nil>: Invalid value: \"\": \"AT\" must " + expectation;
}
SchemaRule FormatRule(const std::string& name, const std::string& format,
                      const std::string& valid_value, const std::string& invalid_value) {
  return {name,
          R"({"type": "string", "format": ")" + format + "\"}",
          '"' + valid_value + '"',
          '"' + invalid_value + '"',
          {TypeCause(format, invalid_value)}};
}

const SchemaRule schema_value_rules[] = {
    {"StringGivenAnInteger",
     R"({"type": "string"})",
     R"("x")",
     "5",
     {TypeCause("string", "integer")}},
    {"StringGivenABoolean",
     R"({"type": "string"})",
     R"("")",
     "true",
     {TypeCause("string", "boolean")}},
    {"IntegerGivenAFraction",
     R"({"type": "integer"})",
     "9223372036854775807",
     "1.5",
     {TypeCause("integer", "number")}},
    {"IntegerGivenAString",
     R"({"type": "integer"})",
     "-5",
     R"("5")",
     {TypeCause("integer", "string")}},
    {"Int64OutOfRange",
     R"({"type": "integer", "format": "int64"})",
     "1.0",
     "9223372036854775808",
     {TypeCause("integer", "number")}},
    {"NumberGivenAString", R"({"type": "number"})", "1", R"("x")", {TypeCause("number", "string")}},
    {"BooleanGivenAString",
     R"({"type": "boolean"})",
     "true",
     R"("true")",
     {TypeCause("boolean", "string")}},
    {"ArrayGivenAnObject",
     R"({"type": "array", "items": {"type": "string"}})",
     "[]",
     "{}",
     {TypeCause("array", "object")}},
    {"ObjectGivenAnArray", R"({"type": "object"})", "{}", "[]", {TypeCause("object", "array")}},
    {"IntOrStringGivenAFraction",
     R"({"x-kubernetes-int-or-string": true})",
     "5",
     "1.5",
     {TypeCause("integer,string", "number")}},
    {"ArrayItems",
     R"({"type": "array", "items": {"type": "integer"}})",
     "[1]",
     R"([1, "a", "b"])",
     {"FieldValueTypeInvalid AT[1]: Invalid value: \"string\": AT[1] in body must be of type "
      "integer: \"string\"",
      "FieldValueTypeInvalid AT[2]: Invalid value: \"string\": AT[2] in body must be of type "
      "integer: \"string\""}},
    {"ObjectProperties",
     R"({"type": "object", "properties": {"a": {"type": "integer"}}})",
     R"({"a": 1})",
     R"({"a": "x"})",
     {"FieldValueTypeInvalid AT.a: Invalid value: \"string\": AT.a in body must be of type "
      "integer: \"string\""}},
    {"AdditionalProperties",
     R"({"type": "object", "additionalProperties": {"type": "integer"}})",
     R"({"k": 1})",
     R"({"k": "x"})",
     {"FieldValueTypeInvalid AT.k: Invalid value: \"string\": AT.k in body must be of type "
      "integer: \"string\""}},
    {"Enum",
     R"({"type": "string", "enum": ["a", "b"]})",
     R"("b")",
     R"("c")",
     {R"(FieldValueNotSupported AT: Unsupported value: "c": supported values: "a", "b")"}},
    {"EnumOfIntegers",
     R"({"type": "integer", "enum": [1, 2]})",
     "2",
     "3",
     {R"(FieldValueNotSupported AT: Unsupported value: 3: supported values: "1", "2")"}},
    {"Minimum",
     R"({"type": "integer", "minimum": 3})",
     "3",
     "2",
     {InvalidCause("2", "should be greater than or equal to 3")}},
    {"FractionalMinimum",
     R"({"type": "number", "minimum": 1.5})",
     "1.5",
     "1.25",
     {InvalidCause("1.25", "should be greater than or equal to 1.5")}},
    {"ExclusiveMinimum",
     R"({"type": "integer", "minimum": 3, "exclusiveMinimum": true})",
     "4",
     "3",
     {InvalidCause("3", "should be greater than 3")}},
    {"Maximum",
     R"({"type": "integer", "maximum": 3})",
     "3",
     "4",
     {InvalidCause("4", "should be less than or equal to 3")}},
    {"ExclusiveMaximum",
     R"({"type": "integer", "maximum": 3, "exclusiveMaximum": true})",
     "2",
     "3",
     {InvalidCause("3", "should be less than 3")}},
    {"MultipleOf",
     R"({"type": "integer", "multipleOf": 3})",
     "6",
     "4",
     {InvalidCause("4", "should be a multiple of 3")}},
    {"MultipleOfOneHalf",
     R"({"type": "number", "multipleOf": 0.5})",
     "1.5",
     "1.25",
     {InvalidCause("1.25", "should be a multiple of 0.5")}},
    {"MultipleOfAllowsRoundingErrors",
     R"({"type": "number", "multipleOf": 0.01})",
     "1.1",
     "1.105",
     {InvalidCause("1.105", "should be a multiple of 0.01")}},
    {"MultipleOfIsTruncatedForAnInteger",
     R"({"type": "number", "multipleOf": 2.5})",
     "4",
     "5",
     {InvalidCause("5", "should be a multiple of 2")}},
    {"MultipleOfGivenAHugeNumber",
     R"({"type": "number", "multipleOf": 0.5})",
     "4.5",
     "1e300",
     {InvalidCause("1e+300", "should be a multiple of 0.5")}},
    {"DurationOverflow",
     R"({"type": "string", "format": "duration"})",
     R"("5wk")",
     R"("99999999999999999999s")",
     {R"(FieldValueTypeInvalid AT: Invalid value: "99999999999999999999s": AT in body must be of type )"
      R"(duration: "99999999999999999999s")"}},
    {"MinLength",
     R"({"type": "string", "minLength": 3})",
     R"("äöü")",
     R"("ab")",
     {InvalidCause(R"("ab")", "should be at least 3 chars long")}},
    {"MaxLength",
     R"({"type": "string", "maxLength": 3})",
     R"("äöü")",
     R"("abcd")",
     {"FieldValueTooLong AT: Too long: may not be more than 3 bytes"}},
    {"Pattern",
     R"({"type": "string", "pattern": "^[a-z]+$"})",
     R"("a")",
     R"("A")",
     {InvalidCause(R"("A")", "should match '^[a-z]+$'")}},
    {"PatternMatchesAnywhere",
     R"({"type": "string", "pattern": "b"})",
     R"("abc")",
     R"("ac")",
     {InvalidCause(R"("ac")", "should match 'b'")}},
    {"PatternWithFlags",
     R"({"type": "string", "pattern": "(?i)^a$"})",
     R"("A")",
     R"("b")",
     {InvalidCause(R"("b")", "should match '(?i)^a$'")}},
    {"MinItems",
     R"({"type": "array", "items": {"type": "string"}, "minItems": 2})",
     R"(["a", "b"])",
     R"(["a"])",
     {InvalidCause("1", "should have at least 2 items")}},
    {"MaxItems",
     R"({"type": "array", "items": {"type": "string"}, "maxItems": 1})",
     R"(["a"])",
     R"(["a", "b"])",
     {"FieldValueTooMany AT: Too many: 2: must have at most 1 item"}},
    {"MinProperties",
     R"({"type": "object", "additionalProperties": {"type": "string"}, "minProperties": 2})",
     R"({"a": "1", "b": "2"})",
     R"({"a": "1"})",
     {InvalidCause("1", "should have at least 2 properties")}},
    {"MaxProperties",
     R"({"type": "object", "additionalProperties": {"type": "string"}, "maxProperties": 2})",
     R"({"a": "1"})",
     R"({"a": "1", "b": "2", "c": "3"})",
     {"FieldValueTooMany AT: Too many: 3: must have at most 2 items"}},
    {"Required",
     R"({"type": "object", "required": ["a", "b"],
           "properties": {"a": {"type": "string"}, "b": {"type": "string"}}})",
     R"({"a": "", "b": ""})",
     "{}",
     {"FieldValueRequired AT.a: Required value", "FieldValueRequired AT.b: Required value"}},
    {"RequiredIsNull",
     R"({"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}})",
     R"({"a": "x"})",
     R"({"a": null})",
     {"FieldValueRequired AT.a: Required value"}},
    {"AllOf",
     R"({"type": "integer", "allOf": [{"minimum": 1}, {"maximum": 5}]})",
     "3",
     "9",
     {InvalidCause("9", "should be less than or equal to 5"),
      CompositionCause("validate all the schemas (allOf)")}},
    {"AnyOf",
     R"({"type": "integer", "anyOf": [{"minimum": 1}, {"maximum": -1}]})",
     "1",
     "0",
     {CompositionCause("validate at least one schema (anyOf)"),
      InvalidCause("0", "should be greater than or equal to 1")}},
    {"OneOfMatchesTwo",
     R"({"type": "integer", "oneOf": [{"minimum": 1}, {"minimum": 2}]})",
     "1",
     "5",
     {CompositionCause("validate one and only one schema (oneOf). Found 2 valid alternatives")}},
    {"OneOfMatchesNone",
     R"({"type": "integer", "oneOf": [{"minimum": 1}, {"minimum": 2}]})",
     "1",
     "0",
     {CompositionCause("validate one and only one schema (oneOf). Found none valid"),
      InvalidCause("0", "should be greater than or equal to 1")}},
    {"Not",
     R"({"type": "integer", "not": {"minimum": 1}})",
     "0",
     "1",
     {CompositionCause("not validate the schema (not)")}},
    {"ListMapKeysAreUnique",
     R"({"type": "array",
           "items": {"type": "object", "required": ["k"],
                     "properties": {"k": {"type": "string"},
                                    "p": {"type": "string", "default": "TCP"}}},
           "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k", "p"]})",
     R"([{"k": "a"}, {"k": "a", "p": "UDP"}])",
     R"([{"k": "a"}, {"k": "b"}, {"k": "a"}])",
     {R"(FieldValueDuplicate AT[2]: Duplicate value: {"k":"a","p":"TCP"})"}},
    {"ListMapKeyIsMissing",
     R"({"type": "array",
           "items": {"type": "object", "required": ["k"],
                     "properties": {"k": {"type": "string"}, "v": {"type": "string"}}},
           "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]})",
     R"([{"k": "a"}])",
     R"([{"v": "a"}])",
     {"FieldValueRequired AT[0].k: Required value"}},
    {"ListSetItemsAreUnique",
     R"({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"})",
     R"(["a", "b"])",
     R"(["a", "b", "a"])",
     {R"(FieldValueDuplicate AT[2]: Duplicate value: "a")"}},
    FormatRule("DateTime", "date-time", "2020-01-01T00:00:00Z", "2020-01-01"),
    FormatRule("Date", "date", "2020-01-01", "x"),
    FormatRule("Duration", "duration", "5s", "x"),
    FormatRule("Byte", "byte", "YQ==", "%"),
    FormatRule("Uuid", "uuid", "6f0e7f0a-0f3b-4b8e-9f0a-6f0e7f0a0f3b", "x"),
    FormatRule("Email", "email", "a@b.c", "x"),
    FormatRule("Hostname", "hostname", "example.com", "_"),
    FormatRule("Ipv4", "ipv4", "1.2.3.4", "x"),
    FormatRule("Ipv6", "ipv6", "::1", "x"),
    FormatRule("Cidr", "cidr", "10.0.0.0/8", "x"),
    FormatRule("Uri", "uri", "http://a/b", "x"),
};

/// Fixture of tests of one Widget whose spec has one property for each rule, with the name of the
/// rule.
class CrdValueValidationTest : public CustomResourceTest,
                               public ::testing::WithParamInterface<SchemaRule> {
 protected:
  static void SetUpTestSuite() {
    json properties;
    for (const SchemaRule& rule : schema_value_rules)
      properties[rule.name] = json::parse(rule.schema);
    CreateCrd(ObjectSchema({{"spec", ObjectSchema(properties)}}));
  }
  static void TearDownTestSuite() { DeleteCrd(); }

  JsonResponse PostValue(const std::string& value) {
    return Post(Widgets(), MakeWidget("w", {{GetParam().name, json::parse(value)}}));
  }
};

TEST_P(CrdValueValidationTest, ValidValueIsAccepted) {
  const JsonResponse created = PostValue(GetParam().valid_value);

  EXPECT_EQ(created.status, 201) << created.text;
}

TEST_P(CrdValueValidationTest, InvalidValueIsRejectedWithItsCauses) {
  std::vector<std::string> causes = GetParam().causes;
  for (std::string& cause : causes) {
    for (auto position = cause.find("AT"); position != std::string::npos;
         position = cause.find("AT")) {
      cause.replace(position, 2, "spec." + GetParam().name);
    }
  }

  const JsonResponse response = PostValue(GetParam().invalid_value);

  EXPECT_EQ(response.status, 422);
  EXPECT_EQ(response.reason(), "Invalid");
  EXPECT_EQ(response.str("/details/group"), group());
  EXPECT_EQ(response.str("/details/kind"), "Widget");
  EXPECT_THAT(Causes(response), UnorderedElementsAreArray(causes));
}

INSTANTIATE_TEST_SUITE_P(, CrdValueValidationTest, ::testing::ValuesIn(schema_value_rules),
                         [](const auto& rule) { return rule.param.name; });

struct UncheckedFormat {
  std::string name{};
  std::string schema{};
  std::string value{};
};
void PrintTo(const UncheckedFormat& format, std::ostream* out) { *out << format.schema; }

const UncheckedFormat unchecked_formats[] = {
    {"Int32OutOfRange", R"({"type": "integer", "format": "int32"})", "2147483648"},
    {"UnknownFormat", R"({"type": "string", "format": "nope"})", R"("x")"},
    {"DurationWithTrailingText", R"({"type": "string", "format": "duration"})", R"("1h5x")"},
    {"DurationInWords", R"({"type": "string", "format": "duration"})", R"("about 5 Minutes")"},
    {"Password", R"({"type": "string", "format": "password"})", R"("x")"},
};

/// Fixture of tests of formats that the server does not check, or checks only in part.
class CrdUncheckedFormatTest : public CustomResourceTest,
                               public ::testing::WithParamInterface<UncheckedFormat> {
 protected:
  static void SetUpTestSuite() {
    json properties;
    for (const UncheckedFormat& format : unchecked_formats)
      properties[format.name] = json::parse(format.schema);
    CreateCrd(ObjectSchema({{"spec", ObjectSchema(properties)}}));
  }
  static void TearDownTestSuite() { DeleteCrd(); }
};

TEST_P(CrdUncheckedFormatTest, ValueIsAcceptedUnchanged) {
  const json spec{{GetParam().name, json::parse(GetParam().value)}};

  EXPECT_EQ(Post(Widgets(), MakeWidget("w", spec)).at("/spec"), spec);
}

INSTANTIATE_TEST_SUITE_P(, CrdUncheckedFormatTest, ::testing::ValuesIn(unchecked_formats),
                         [](const auto& format) { return format.param.name; });

/// A list of [value, "the formats that accept it"] from a kube-apiserver 1.34.4. On a real server,
/// the test below compares it with that server.
constexpr const char* kRecordedFormats =
#include "recorded_formats.inc"
    ;

const std::vector<std::string> recorded_formats = {
    "bsonobjectid", "byte",     "cidr", "creditcard", "date",  "date-time", "duration", "email",
    "hexcolor",     "hostname", "ipv4", "ipv6",       "isbn",  "isbn10",    "isbn13",   "mac",
    "rgbcolor",     "ssn",      "uri",  "uuid",       "uuid3", "uuid4",     "uuid5"};

/// A Widget with a field for each format.
class CrdFormatsTest : public CustomResourceTest {
 protected:
  static void SetUpTestSuite() {
    json properties;
    for (const std::string& format : recorded_formats) {
      properties[format] = {{"type", "string"}, {"format", format}};
    }
    CreateCrd(ObjectSchema({{"spec", ObjectSchema(properties)}}));
  }
  static void TearDownTestSuite() { DeleteCrd(); }

  /// Returns the formats whose fields accept `value`, separated by blanks.
  std::string FormatsOf(const std::string& value) {
    json spec;
    for (const std::string& format : recorded_formats) spec[format] = value;
    const JsonResponse response = Post(Widgets() + "?dryRun=All", MakeWidget("w", spec));
    EXPECT_TRUE(response.status == 201 || response.status == 422) << response.text;
    const std::vector<std::string> causes = Causes(response);
    std::string accepted;
    for (const std::string& format : recorded_formats) {
      const auto names = [&](const std::string& cause) {
        return cause.find(" spec." + format + ':') != std::string::npos;
      };
      if (std::ranges::none_of(causes, names)) accepted += (accepted.empty() ? "" : " ") + format;
    }
    return accepted;
  }
};

TEST_F(CrdFormatsTest, EachValueIsAcceptedByTheFormatsThatTheRecordNames) {
  const json record = json::parse(kRecordedFormats);
  EXPECT_GT(record.size(), 400U);
  for (const json& each : record) {
    EXPECT_EQ(FormatsOf(each.at(0)), each.at(1).get<std::string>()) << each.at(0);
  }
}

}  // namespace
}  // namespace kopp::conformance
