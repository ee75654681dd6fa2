#include "custom_resources.hpp"

#include <string>
#include <vector>

namespace kopp::conformance {
namespace {

using ::testing::UnorderedElementsAreArray;

/// A rule of a schema, with a value that keeps it and one that breaks it.
struct Rule {
  std::string name{};
  std::string schema{};
  std::string good{};
  std::string bad{};
  std::vector<std::string> causes{};  ///< of `bad`, with "AT" for where it stands
};
void PrintTo(const Rule& rule, std::ostream* out) { *out << rule.schema; }

std::string TypeCause(const std::string& wanted, const std::string& found) {
  return "FieldValueTypeInvalid AT: Invalid value: \"" + found + "\": AT in body must be of type " +
         wanted + ": \"" + found + "\"";
}
std::string InvalidCause(const std::string& value, const std::string& what) {
  return "FieldValueInvalid AT: Invalid value: " + value + ": AT in body " + what;
}
std::string SchemasCause(const std::string& what) {
  return "FieldValueInvalid <nil>: Invalid value: \"\": \"AT\" must " + what;
}
Rule Format(const std::string& name, const std::string& format, const std::string& good,
            const std::string& bad) {
  return {name,
          R"({"type": "string", "format": ")" + format + "\"}",
          '"' + good + '"',
          '"' + bad + '"',
          {TypeCause(format, bad)}};
}

const Rule rules[] = {
    {"String", R"({"type": "string"})", R"("x")", "5", {TypeCause("string", "integer")}},
    {"StringNoBoolean", R"({"type": "string"})", R"("")", "true", {TypeCause("string", "boolean")}},
    {"Integer",
     R"({"type": "integer"})",
     "9223372036854775807",
     "1.5",
     {TypeCause("integer", "number")}},
    {"IntegerNoString", R"({"type": "integer"})", "-5", R"("5")", {TypeCause("integer", "string")}},
    {"IntegerTooLarge",
     R"({"type": "integer", "format": "int64"})",
     "1.0",
     "9223372036854775808",
     {TypeCause("integer", "number")}},
    {"Number", R"({"type": "number"})", "1", R"("x")", {TypeCause("number", "string")}},
    {"Boolean", R"({"type": "boolean"})", "true", R"("true")", {TypeCause("boolean", "string")}},
    {"List",
     R"({"type": "array", "items": {"type": "string"}})",
     "[]",
     "{}",
     {TypeCause("array", "object")}},
    {"Object", R"({"type": "object"})", "{}", "[]", {TypeCause("object", "array")}},
    {"IntOrString",
     R"({"x-kubernetes-int-or-string": true})",
     "5",
     "1.5",
     {TypeCause("integer,string", "number")}},
    {"ItemsOfAList",
     R"({"type": "array", "items": {"type": "integer"}})",
     "[1]",
     R"([1, "a", "b"])",
     {"FieldValueTypeInvalid AT[1]: Invalid value: \"string\": AT[1] in body must be of type "
      "integer: \"string\"",
      "FieldValueTypeInvalid AT[2]: Invalid value: \"string\": AT[2] in body must be of type "
      "integer: \"string\""}},
    {"PropertiesOfAnObject",
     R"({"type": "object", "properties": {"a": {"type": "integer"}}})",
     R"({"a": 1})",
     R"({"a": "x"})",
     {"FieldValueTypeInvalid AT.a: Invalid value: \"string\": AT.a in body must be of type "
      "integer: \"string\""}},
    {"EntriesOfAMap",
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
    {"EnumOfNumbers",
     R"({"type": "integer", "enum": [1, 2]})",
     "2",
     "3",
     {R"(FieldValueNotSupported AT: Unsupported value: 3: supported values: "1", "2")"}},
    {"Minimum",
     R"({"type": "integer", "minimum": 3})",
     "3",
     "2",
     {InvalidCause("2", "should be greater than or equal to 3")}},
    {"MinimumOfANumber",
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
    {"MultipleOfLess",
     R"({"type": "number", "multipleOf": 0.5})",
     "1.5",
     "1.25",
     {InvalidCause("1.25", "should be a multiple of 0.5")}},
    {"MultipleNearlyAsAFraction",
     R"({"type": "number", "multipleOf": 0.01})",
     "1.1",
     "1.105",
     {InvalidCause("1.105", "should be a multiple of 0.01")}},
    {"MultipleOfAFractionAsAWholeNumber",
     R"({"type": "number", "multipleOf": 2.5})",
     "4",
     "5",
     {InvalidCause("5", "should be a multiple of 2")}},
    {"MultipleThatIsTooLargeToTell",
     R"({"type": "number", "multipleOf": 0.5})",
     "4.5",
     "1e300",
     {InvalidCause("1e+300", "should be a multiple of 0.5")}},
    {"DurationOfTooMany",
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
    {"PatternAnywhere",
     R"({"type": "string", "pattern": "b"})",
     R"("abc")",
     R"("ac")",
     {InvalidCause(R"("ac")", "should match 'b'")}},
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
    {"RequiredButNull",
     R"({"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}})",
     R"({"a": "x"})",
     R"({"a": null})",
     {"FieldValueRequired AT.a: Required value"}},
    {"AllOf",
     R"({"type": "integer", "allOf": [{"minimum": 1}, {"maximum": 5}]})",
     "3",
     "9",
     {InvalidCause("9", "should be less than or equal to 5"),
      SchemasCause("validate all the schemas (allOf)")}},
    {"AnyOf",
     R"({"type": "integer", "anyOf": [{"minimum": 1}, {"maximum": -1}]})",
     "1",
     "0",
     {SchemasCause("validate at least one schema (anyOf)"),
      InvalidCause("0", "should be greater than or equal to 1")}},
    {"OneOfButTwo",
     R"({"type": "integer", "oneOf": [{"minimum": 1}, {"minimum": 2}]})",
     "1",
     "5",
     {SchemasCause("validate one and only one schema (oneOf). Found 2 valid alternatives")}},
    {"OneOfButNone",
     R"({"type": "integer", "oneOf": [{"minimum": 1}, {"minimum": 2}]})",
     "1",
     "0",
     {SchemasCause("validate one and only one schema (oneOf). Found none valid"),
      InvalidCause("0", "should be greater than or equal to 1")}},
    {"Not",
     R"({"type": "integer", "not": {"minimum": 1}})",
     "0",
     "1",
     {SchemasCause("not validate the schema (not)")}},
    {"KeysOfAList",
     R"({"type": "array",
           "items": {"type": "object", "required": ["k"],
                     "properties": {"k": {"type": "string"},
                                    "p": {"type": "string", "default": "TCP"}}},
           "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k", "p"]})",
     R"([{"k": "a"}, {"k": "a", "p": "UDP"}])",
     R"([{"k": "a"}, {"k": "b"}, {"k": "a"}])",
     {R"(FieldValueDuplicate AT[2]: Duplicate value: {"k":"a","p":"TCP"})"}},
    {"KeysThatAreMissing",
     R"({"type": "array",
           "items": {"type": "object", "required": ["k"],
                     "properties": {"k": {"type": "string"}, "v": {"type": "string"}}},
           "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]})",
     R"([{"k": "a"}])",
     R"([{"v": "a"}])",
     {"FieldValueRequired AT[0].k: Required value"}},
    {"Set",
     R"({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"})",
     R"(["a", "b"])",
     R"(["a", "b", "a"])",
     {R"(FieldValueDuplicate AT[2]: Duplicate value: "a")"}},
    Format("DateTime", "date-time", "2020-01-01T00:00:00Z", "2020-01-01"),
    Format("Date", "date", "2020-01-01", "x"),
    Format("Duration", "duration", "5s", "x"),
    Format("Byte", "byte", "YQ==", "%"),
    Format("Uuid", "uuid", "6f0e7f0a-0f3b-4b8e-9f0a-6f0e7f0a0f3b", "x"),
    Format("Email", "email", "a@b.c", "x"),
    Format("Hostname", "hostname", "example.com", "_"),
    Format("Ipv4", "ipv4", "1.2.3.4", "x"),
    Format("Ipv6", "ipv6", "::1", "x"),
    Format("Cidr", "cidr", "10.0.0.0/8", "x"),
    Format("Uri", "uri", "http://a/b", "x"),
};

/// One Widget, with a property for each rule.
class CrdValuesTest : public CustomResourceTest, public ::testing::WithParamInterface<Rule> {
 protected:
  static void SetUpTestSuite() {
    json properties;
    for (const Rule& rule : rules) properties[rule.name] = json::parse(rule.schema);
    Define(AnObject({{"spec", AnObject(properties)}}));
  }
  static void TearDownTestSuite() { Undefine(); }

  Answer PostValue(const std::string& value) {
    return Post(Widgets(), AWidget("w", {{GetParam().name, json::parse(value)}}));
  }
};

TEST_P(CrdValuesTest, AreTakenWhereTheyKeepTheRule) {
  const Answer made = PostValue(GetParam().good);

  EXPECT_EQ(made.status, 201) << made.text;
}

TEST_P(CrdValuesTest, AreRefusedWhereTheyBreakIt) {
  std::vector<std::string> causes = GetParam().causes;
  for (std::string& cause : causes) {
    for (auto at = cause.find("AT"); at != std::string::npos; at = cause.find("AT")) {
      cause.replace(at, 2, "spec." + GetParam().name);
    }
  }

  const Answer answer = PostValue(GetParam().bad);

  EXPECT_EQ(answer.status, 422);
  EXPECT_EQ(answer.reason(), "Invalid");
  EXPECT_EQ(answer.str("/details/group"), group());
  EXPECT_EQ(answer.str("/details/kind"), "Widget");
  EXPECT_THAT(Causes(answer), UnorderedElementsAreArray(causes));
}

INSTANTIATE_TEST_SUITE_P(, CrdValuesTest, ::testing::ValuesIn(rules),
                         [](const auto& rule) { return rule.param.name; });

struct Lenient {
  std::string name{};
  std::string schema{};
  std::string value{};
};
void PrintTo(const Lenient& lenient, std::ostream* out) { *out << lenient.schema; }

const Lenient all_lenient[] = {
    {"Int32", R"({"type": "integer", "format": "int32"})", "2147483648"},
    {"AFormatThatItDoesNotKnow", R"({"type": "string", "format": "nope"})", R"("x")"},
    {"DurationWithSomethingBehind", R"({"type": "string", "format": "duration"})", R"("1h5x")"},
    {"DurationInWords", R"({"type": "string", "format": "duration"})", R"("about 5 Minutes")"},
    {"Password", R"({"type": "string", "format": "password"})", R"("x")"},
};

/// What a schema says and the server does not check.
class CrdLenientTest : public CustomResourceTest, public ::testing::WithParamInterface<Lenient> {
 protected:
  static void SetUpTestSuite() {
    json properties;
    for (const Lenient& lenient : all_lenient)
      properties[lenient.name] = json::parse(lenient.schema);
    Define(AnObject({{"spec", AnObject(properties)}}));
  }
  static void TearDownTestSuite() { Undefine(); }
};

TEST_P(CrdLenientTest, IsTaken) {
  const json spec{{GetParam().name, json::parse(GetParam().value)}};

  EXPECT_EQ(Post(Widgets(), AWidget("w", spec)).at("/spec"), spec);
}

INSTANTIATE_TEST_SUITE_P(, CrdLenientTest, ::testing::ValuesIn(all_lenient),
                         [](const auto& lenient) { return lenient.param.name; });

}  // namespace
}  // namespace kopp::conformance
