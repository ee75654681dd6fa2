#include "schema/value_validation.hpp"

#include "schema/formats.hpp"
#include "schema/structural_schema.hpp"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopp::schema {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Returns the schema of an object whose field `spec` has the given schema.
std::shared_ptr<const Schema> WithSpec(const std::string& spec) {
  return StructuralSchema({{"type", "object"}, {"properties", {{"spec", json::parse(spec)}}}});
}

json Object(const std::string& spec) { return {{"spec", json::parse(spec)}}; }

std::vector<std::string> Messages(const FieldErrors& errors) {
  std::vector<std::string> messages;
  for (const FieldError& error : errors) messages.push_back(error.field + ": " + error.message);
  return messages;
}

TEST(ValidateValueTest, AListIsAcceptedForAStringWithAFormat) {
  const auto schema = WithSpec(R"({"type": "string", "format": "byte"})");

  EXPECT_THAT(ValidateValue(Object("[1]"), *schema), IsEmpty()) << "kube-apiserver accepts it too";
  EXPECT_THAT(Messages(ValidateValue(Object("5"), *schema)),
              ElementsAre("spec: Invalid value: \"int64\": spec in body must be of type byte: "
                          "\"int64\""));
}

TEST(ValidateValueTest, MinPropertiesIsCheckedBeforeTheProperties) {
  const auto schema = WithSpec(R"({"type": "object", "minProperties": 1, "required": ["a"],
                                   "properties": {"a": {"type": "string"}}})");

  EXPECT_THAT(
      Messages(ValidateValue(Object("{}"), *schema)),
      ElementsAre("spec: Invalid value: 0: spec in body should have at least 1 properties"));
}

TEST(ValidateValueTest, UnchangedInvalidFieldIsAccepted) {
  const auto schema = WithSpec(R"({"type": "object", "properties": {
      "old": {"type": "integer", "minimum": 5}, "new": {"type": "integer", "minimum": 5}}})");
  const json before = Object(R"({"old": 1, "new": 9})");

  EXPECT_THAT(Messages(ValidateValue(Object(R"({"old": 1, "new": 2})"), *schema, "", &before)),
              ElementsAre("spec.new: Invalid value: 2: spec.new in body should be greater than or "
                          "equal to 5"));
}

TEST(ValidateValueTest, UnchangedInvalidListItemIsAcceptedAfterAMove) {
  const auto schema = WithSpec(R"({"type": "array", "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["k"],
      "items": {"type": "object", "required": ["k"], "properties": {
          "k": {"type": "string"}, "v": {"type": "integer", "minimum": 5}}}})");
  const json before = Object(R"([{"k": "a", "v": 1}])");

  EXPECT_THAT(
      ValidateValue(Object(R"([{"k": "b", "v": 7}, {"k": "a", "v": 1}])"), *schema, "", &before),
      IsEmpty());
}

TEST(ValidateValueTest, MetadataOfAnEmbeddedResourceIsValidated) {
  const auto schema = WithSpec(R"({"type": "object", "x-kubernetes-embedded-resource": true,
                                   "x-kubernetes-preserve-unknown-fields": true})");

  const FieldErrors errors = ValidateValue(
      Object(R"({"apiVersion": "v1", "kind": "", "metadata": {"labels": {"a": "-"}}})"), *schema);

  ASSERT_EQ(errors.size(), 2U);
  EXPECT_EQ(errors[0].field, "spec.kind");
  EXPECT_EQ(errors[1].field, "spec.metadata.labels");
}

TEST(ValidateValueTest, TypesInAnEmbeddedResourceAreValidated) {
  const auto schema = WithSpec(R"({"type": "object", "x-kubernetes-embedded-resource": true,
                                   "x-kubernetes-preserve-unknown-fields": true})");
  const auto messages_for = [&](const std::string& spec) {
    return Messages(ValidateValue(Object(spec), *schema));
  };
  EXPECT_THAT(
      messages_for(R"({"apiVersion": 1, "kind": "Pod", "metadata": {
          "name": ["a"], "labels": {"a": 5}, "annotations": {"b": 5, "c": null}, "generation": 1.5,
          "ownerReferences": {}, "creationTimestamp": "2026-01-02T03:04:05Z", "no": 1,
          "deletionTimestamp": "yesterday"}})"),
      ElementsAre(
          "spec.apiVersion: Invalid value: 1: must be a string",
          "spec.metadata.annotations.b: Invalid value: 5: must be a string",
          R"(spec.metadata.deletionTimestamp: Invalid value: "yesterday": must be an RFC 3339 time)",
          "spec.metadata.generation: Invalid value: 1.5: must be an integer",
          "spec.metadata.labels.a: Invalid value: 5: must be a string",
          R"(spec.metadata.name: Invalid value: ["a"]: must be a string)",
          "spec.metadata.ownerReferences: Invalid value: {}: must be an array"));
  EXPECT_THAT(
      messages_for(R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"annotations": "x"}})"),
      ElementsAre(R"(spec.metadata.annotations: Invalid value: "x": must be an object)"));
}

struct FormatCase {
  std::string format{};
  std::string valid{};
  std::string invalid{};
};
void PrintTo(const FormatCase& format_case, std::ostream* out) { *out << format_case.format; }

class FormatTest : public ::testing::TestWithParam<FormatCase> {};

TEST_P(FormatTest, MatchesValidTextsOnly) {
  EXPECT_TRUE(IsKnownFormat(GetParam().format));
  EXPECT_TRUE(MatchesFormat(GetParam().valid, GetParam().format));
  EXPECT_FALSE(MatchesFormat(GetParam().invalid, GetParam().format));
}

const FormatCase format_cases[] = {
    {"date-time", "2026-11-21T10:00:00.123+01:00", "2026-13-21T10:00:00Z"},
    {"date", "2026-11-21", "2026-11-41"},
    {"duration", "1h30m", "5 q"},
    {"byte", "YWI=", "YWI"},
    {"cidr", "fd00::/64", "10.0.0.0/33"},
    {"ipv6", "2001:db8::1", "1.2.3.4"},
    {"mac", "00:1b:44:11:3a:b7", "00:1b:44"},
    {"uuid", "6F0E7F0A-0F3B-4B8E-9F0A-6F0E7F0A0F3B", "6f0e7f0a"},
    {"uuid4", "6f0e7f0a-0f3b-4b8e-9f0a-6f0e7f0a0f3b", "6f0e7f0a-0f3b-3b8e-9f0a-6f0e7f0a0f3b"},
    {"hexcolor", "#a0B", "#a0"},
    {"uri", "/a/b", "a b"},
};
INSTANTIATE_TEST_SUITE_P(, FormatTest, ::testing::ValuesIn(format_cases));

}  // namespace
}  // namespace kopp::schema
