#include "schema_markers.hpp"

#include "source_text.hpp"

#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <schema/yaml.hpp>

namespace kopp::command {
namespace {

using ::testing::ElementsAre;

// Returns the markers of a member for a schema in flow YAML.
std::vector<std::string> MarkersFor(const std::string& schema, const char* type,
                                    bool required = false) {
  return MarkersOf(schema::ParseYaml(schema), type, required);
}

TEST(SchemaMarkersTest, NumbersHaveTheirLimits) {
  EXPECT_THAT(MarkersFor("{minimum: 1, maximum: 5, multipleOf: 2}", "std::optional<std::int32_t>"),
              ElementsAre("Minimum(1)", "Maximum(5)", "MultipleOf(2)"));
  EXPECT_THAT(MarkersFor("{minimum: 0.5, exclusiveMinimum: true, maximum: 2, "
                         "exclusiveMaximum: true}",
                         "double"),
              ElementsAre("ExclusiveMinimum(0.5)", "ExclusiveMaximum(2)"));
}

TEST(SchemaMarkersTest, LimitsAtTheEndsOf64BitsAreLiteralsOfCpp) {
  EXPECT_THAT(
      MarkersFor("{minimum: -9223372036854775808, maximum: 9223372036854775807}", "std::int64_t"),
      ElementsAre("Minimum(-9223372036854775807 - 1)", "Maximum(9223372036854775807)"));
  EXPECT_THAT(
      MarkersFor("{maximum: 18446744073709551615, default: -9223372036854775808}", "std::int64_t"),
      ElementsAre("Maximum(1.8446744073709552e+19)", "Default(-9223372036854775807 - 1)"));
}

TEST(SchemaMarkersTest, LimitsOfEachSizeAreWritten) {
  EXPECT_THAT(MarkersFor("{minimum: -1e300, maximum: 123456789012345678901234567890}", "double"),
              ElementsAre("Minimum(-1e+300)", "Maximum(1.2345678901234568e+29)"));
  EXPECT_THAT(MarkersFor("{default: 1e100, enum: [1e100, 5]}", "double"),
              ElementsAre("Enum(1e+100, 5)", "Default(1e+100)"));
  EXPECT_THAT(MarkersFor("{minLength: 3.0, maxLength: 1e30}", "std::string"),
              ElementsAre("MinLength(3)"));
}

TEST(SchemaMarkersTest, ContradictoryLimitsAndInfiniteNumbersAreOmitted) {
  EXPECT_THAT(MarkersFor("{minimum: 5, maximum: 3, multipleOf: 0}", "double"), ElementsAre());
  EXPECT_THAT(MarkersFor("{minItems: 5, maxItems: 3}", "std::vector<std::string>"), ElementsAre());
  EXPECT_THAT(MarkersFor("{minLength: -1}", "std::string"), ElementsAre());
  EXPECT_THAT(MarkersFor("{minLength: 5, maxProperties: 3}", "kopp::RawJson"),
              ElementsAre("MinLength(5)"));
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_THAT(MarkersOf({{"maximum", infinity}, {"default", infinity}}, "double", false),
              ElementsAre());
}

TEST(SchemaMarkersTest, NullableElementsHaveTheMarkersOfTheirType) {
  EXPECT_THAT(MarkersFor("{items: {nullable: true, minimum: 1}}",
                         "std::vector<std::optional<std::int64_t>>"),
              ElementsAre("Items(Minimum(1), Nullable())"));
  EXPECT_THAT(MarkersFor("{x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a]}",
                         "std::vector<std::optional<Item>>"),
              ElementsAre("ListType(\"map\")"));
}

TEST(SchemaMarkersTest, TheDefaultOfAnIntegerIsAnInteger) {
  EXPECT_THAT(MarkersFor("{default: 3.0}", "std::int32_t"), ElementsAre("Default(3)"));
  EXPECT_THAT(MarkersFor("{default: 18446744073709551615}", "std::int64_t"), ElementsAre());
  EXPECT_THAT(MarkersFor("{default: 1.5}", "std::int64_t"), ElementsAre());
}

TEST(SchemaMarkersTest, AnIntOrStringHasADefaultOfEitherTypeAndAQuantityNoPattern) {
  EXPECT_THAT(MarkersFor("{default: http, pattern: a}", "kopp::k8s::IntOrString"),
              ElementsAre("Pattern(\"a\")", "Default(\"http\")"));
  EXPECT_THAT(MarkersFor("{default: 1Gi, pattern: a}", "kopp::k8s::Quantity"),
              ElementsAre("Default(\"1Gi\")"));
}

TEST(SchemaMarkersTest, StringsHaveLengthsPatternFormatAndEnum) {
  EXPECT_THAT(MarkersFor("{minLength: 1, maxLength: 9, pattern: '^\\d+\"$', format: date-time}",
                         "std::string"),
              ElementsAre("MinLength(1)", "MaxLength(9)", "Pattern(\"^\\\\d+\\\"$\")",
                          "Format(\"date-time\")"));
  EXPECT_THAT(MarkersFor("{enum: [A, '']}", "std::string"), ElementsAre("Enum(\"A\", \"\")"));
}

TEST(SchemaMarkersTest, ListsHaveTheirTypeAndTheMarkersOfTheirItems) {
  EXPECT_THAT(MarkersFor("{minItems: 1, maxItems: 3, x-kubernetes-list-type: set, "
                         "items: {maxLength: 5}}",
                         "std::vector<std::string>", true),
              ElementsAre("Required()", "MinItems(1)", "MaxItems(3)", "ListType(\"set\")",
                          "Items(MaxLength(5))"));
  EXPECT_THAT(MarkersFor("{x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a, b]}",
                         "std::vector<Item>"),
              ElementsAre("ListMapKeys(\"a\", \"b\")"));
}

TEST(SchemaMarkersTest, MapsHaveLimitsAndTheMarkersOfTheirValues) {
  EXPECT_THAT(MarkersFor("{minProperties: 1, maxProperties: 3, x-kubernetes-map-type: atomic, "
                         "additionalProperties: {minimum: 5}}",
                         "std::map<std::string, std::int64_t>"),
              ElementsAre("MinProperties(1)", "MaxProperties(3)", "MapType(\"atomic\")",
                          "Items(Minimum(5))"));
}

TEST(SchemaMarkersTest, DefaultsAreLiteralsOrJsonText) {
  EXPECT_THAT(MarkersFor("{default: 3}", "std::int32_t", true),
              ElementsAre("Required()", "Default(3)"));
  EXPECT_THAT(MarkersFor("{default: \"on\"}", "std::string"), ElementsAre("Default(\"on\")"));
  EXPECT_THAT(MarkersFor("{default: {a: [1]}}", "Struct"),
              ElementsAre("Default(\"{\\\"a\\\":[1]}\")"));
}

TEST(SchemaMarkersTest, RulesHaveTheirMessageAndOptions) {
  EXPECT_THAT(MarkersFor("{x-kubernetes-validations: [{rule: self > 0}, {rule: 'self == oldSelf', "
                         "message: No., reason: FieldValueForbidden, optionalOldSelf: true}]}",
                         "std::int64_t"),
              ElementsAre("Validation(\"self > 0\")",
                          "Validation(\"self == oldSelf\", \"No.\", {.reason = "
                          "\"FieldValueForbidden\", .optional_old_self = true})"));
}

TEST(SchemaMarkersTest, StringLiteralEscapesWhatCppRequires) {
  EXPECT_EQ(StringLiteral("a\"b\\c\nd\x01"
                          "2ü"),
            "\"a\\\"b\\\\c\\nd\\0012ü\"");
  EXPECT_EQ(StringLiteral("\xE2\x80\xAE\xff?\?/?"), R"("\342\200\256\377?\?/?")");
}

}  // namespace
}  // namespace kopp::command
