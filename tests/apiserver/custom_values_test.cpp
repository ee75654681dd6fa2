#include "custom_values.hpp"

#include "formats.hpp"
#include "structural_schema.hpp"
#include "value_problems.hpp"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A whole object whose spec has `spec` for a schema.
std::shared_ptr<const Schema> WithSpec(const std::string& spec) {
  return StructuralSchema({{"type", "object"}, {"properties", {{"spec", json::parse(spec)}}}});
}

json Object(const std::string& spec) { return {{"spec", json::parse(spec)}}; }

std::vector<std::string> InWords(const Causes& causes) {
  std::vector<std::string> words;
  for (const Cause& cause : causes) words.push_back(cause.field + ": " + cause.message);
  return words;
}

TEST(CustomValuesTest, ANullInAListGetsTheDefaultOfItems) {
  const auto schema = WithSpec(R"({"type": "array", "items": {"type": "string", "default": "D"}})");
  json object = Object(R"([null, "a"])");

  FitToSchema(object, *schema);

  EXPECT_EQ(object["spec"], json({"D", "a"}));
}

TEST(CustomValuesTest, ANullInAMapIsDroppedUnlessItIsAllowed) {
  const auto schema = WithSpec(R"({"type": "object", "properties": {
      "no": {"type": "object", "additionalProperties": {"type": "string"}},
      "yes": {"type": "object", "additionalProperties": {"type": "string", "nullable": true}}}})");
  json object = Object(R"({"no": {"k": null}, "yes": {"k": null}})");

  FitToSchema(object, *schema);

  EXPECT_EQ(object["spec"], json::parse(R"({"no": {}, "yes": {"k": null}})"));
}

TEST(CustomValuesTest, ANumberWithoutAFractionIsAnInteger) {
  const auto schema = WithSpec(R"({"x-kubernetes-preserve-unknown-fields": true})");
  json object = Object(R"({"a": 1.0, "b": [2.5, 1e30]})");

  FitToSchema(object, *schema);

  EXPECT_EQ(object["spec"].dump(), R"({"a":1,"b":[2.5,1e+30]})");
}

TEST(CustomValuesTest, MetadataIsTheSameForAllKindsWhateverTheSchemaSays) {
  const auto schema = StructuralSchema(
      json::parse(R"({"type": "object", "properties": {"metadata": {"type": "object"}}})"));
  json object =
      json::parse(R"({"metadata": {"name": "a", "labels": {"b": "c"}, "no": 1}, "z": 1})");

  EXPECT_THAT(FitToSchema(object, *schema), ElementsAre("metadata.no", "z"));

  EXPECT_EQ(object, json::parse(R"({"metadata": {"name": "a", "labels": {"b": "c"}}})"));
}

TEST(CustomValuesTest, AnEmbeddedObjectHasAKindThatIsText) {
  const auto schema = WithSpec(R"({"type": "object", "x-kubernetes-embedded-resource": true,
                                   "x-kubernetes-preserve-unknown-fields": true})");
  json object = Object(R"({"apiVersion": "v1", "kind": 5})");

  try {
    FitToSchema(object, *schema);
    ADD_FAILURE() << "it was taken";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "spec.kind: Invalid value: 5: must be a string");
  }
}

TEST(ValueProblemsTest, AListPassesForTextWithAFormat) {
  const auto schema = WithSpec(R"({"type": "string", "format": "byte"})");

  EXPECT_THAT(ValueProblems(Object("[1]"), *schema), IsEmpty()) << "as the real server has it";
  EXPECT_THAT(InWords(ValueProblems(Object("5"), *schema)),
              ElementsAre("spec: Invalid value: \"int64\": spec in body must be of type byte: "
                          "\"int64\""));
}

TEST(ValueProblemsTest, TooFewFieldsAreFoundBeforeTheFieldsAreLookedAt) {
  const auto schema = WithSpec(R"({"type": "object", "minProperties": 1, "required": ["a"],
                                   "properties": {"a": {"type": "string"}}})");

  EXPECT_THAT(
      InWords(ValueProblems(Object("{}"), *schema)),
      ElementsAre("spec: Invalid value: 0: spec in body should have at least 1 properties"));
}

TEST(ValueProblemsTest, WhatIsAsItWasIsTaken) {
  const auto schema = WithSpec(R"({"type": "object", "properties": {
      "old": {"type": "integer", "minimum": 5}, "new": {"type": "integer", "minimum": 5}}})");
  const json before = Object(R"({"old": 1, "new": 9})");

  EXPECT_THAT(InWords(ValueProblems(Object(R"({"old": 1, "new": 2})"), *schema, "", &before)),
              ElementsAre("spec.new: Invalid value: 2: spec.new in body should be greater than or "
                          "equal to 5"));
}

TEST(ValueProblemsTest, AnItemThatIsAsItWasIsTakenWhereverItStands) {
  const auto schema = WithSpec(R"({"type": "array", "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["k"],
      "items": {"type": "object", "required": ["k"], "properties": {
          "k": {"type": "string"}, "v": {"type": "integer", "minimum": 5}}}})");
  const json before = Object(R"([{"k": "a", "v": 1}])");

  EXPECT_THAT(
      ValueProblems(Object(R"([{"k": "b", "v": 7}, {"k": "a", "v": 1}])"), *schema, "", &before),
      IsEmpty());
}

TEST(ValueProblemsTest, TheMetadataOfAnEmbeddedObjectIsLookedAt) {
  const auto schema = WithSpec(R"({"type": "object", "x-kubernetes-embedded-resource": true,
                                   "x-kubernetes-preserve-unknown-fields": true})");

  const Causes causes = ValueProblems(
      Object(R"({"apiVersion": "v1", "kind": "", "metadata": {"labels": {"a": "-"}}})"), *schema);

  ASSERT_EQ(causes.size(), 2U);
  EXPECT_EQ(causes[0].field, "spec.kind");
  EXPECT_EQ(causes[1].field, "spec.metadata.labels");
}

struct Sample {
  std::string format{};
  std::string good{};
  std::string bad{};
};
void PrintTo(const Sample& sample, std::ostream* out) { *out << sample.format; }

class FormatTest : public ::testing::TestWithParam<Sample> {};

TEST_P(FormatTest, TellsTextsApart) {
  EXPECT_TRUE(IsFormat(GetParam().format));
  EXPECT_TRUE(HasFormat(GetParam().good, GetParam().format));
  EXPECT_FALSE(HasFormat(GetParam().bad, GetParam().format));
}

const Sample samples[] = {
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
INSTANTIATE_TEST_SUITE_P(, FormatTest, ::testing::ValuesIn(samples));

}  // namespace
}  // namespace kopp::apiserver
