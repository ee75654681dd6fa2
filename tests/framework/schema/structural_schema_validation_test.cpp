#include "schema/structural_schema_validation.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kopp::schema {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;

/// Returns the field paths of the errors in a schema at the path "S".
std::vector<std::string> ErrorPaths(const std::string& schema) {
  std::vector<std::string> paths;
  const json parsed = json::parse(schema);
  for (const FieldError& error : ValidateStructuralSchema({parsed, "S"})) {
    paths.push_back(error.field);
  }
  return paths;
}

TEST(StructuralSchemaTest, NestedValueValidationMustNotSpecifyTypesOrDefaults) {
  EXPECT_THAT(
      ErrorPaths(R"({"type": "object", "anyOf": [
                  {"default": 1, "nullable": true, "properties": {"z": {"type": "string"}}}]})"),
      ElementsAre("S.anyOf[0].default", "S.anyOf[0].nullable", "S.anyOf[0].properties[z].type"));
}

TEST(StructuralSchemaTest, NestedValueValidationMaySpecifyTypesOfIntOrString) {
  EXPECT_THAT(ErrorPaths(R"({"type": "object", "properties": {"a": {
                  "x-kubernetes-int-or-string": true,
                  "allOf": [{"anyOf": [{"type": "integer"}, {"type": "string"}]}]}}})"),
              ElementsAre());
}

TEST(StructuralSchemaTest, DefaultThatViolatesTheSchemaIsAnError) {
  EXPECT_THAT(ErrorPaths(R"({"type": "object", "properties": {"a": {
                  "type": "object", "required": ["b"], "default": {},
                  "properties": {"b": {"type": "string"}}}}})"),
              ElementsAre("S.properties[a].default.b"));
}

TEST(StructuralSchemaTest, DefaultWithAWrongTypeInAnEmbeddedResourceIsAnError) {
  const auto error_paths = [](const std::string& metadata) {
    return ErrorPaths(R"({"type": "object", "properties": {"a": {
        "type": "object", "x-kubernetes-embedded-resource": true,
        "x-kubernetes-preserve-unknown-fields": true,
        "default": {"apiVersion": "v1", "kind": "Pod", "metadata": )" +
                      metadata + "}}}}");
  };
  EXPECT_THAT(error_paths(R"({"annotations": {"b": 5}})"),
              ElementsAre("S.properties[a].default.metadata.annotations.b"));
  EXPECT_THAT(error_paths(R"({"annotations": {"b": null}})"), ElementsAre());
  EXPECT_THAT(error_paths("5"), ElementsAre("S.properties[a].default.metadata"));
}

TEST(StructuralSchemaTest, PatternThatIsNoRegularExpressionIsAnError) {
  EXPECT_THAT(
      ErrorPaths(R"({"type": "object", "properties": {"a": {"type": "string", "pattern": "("}}})"),
      ElementsAre("S.properties[a].pattern"));
}

}  // namespace
}  // namespace kopp::schema
