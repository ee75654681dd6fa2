#include "decoding/custom_resource_decoding.hpp"

#include "json/schema_names.hpp"
#include "schema/structural_schema.hpp"

#include <memory>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;

/// Returns the schema of an object whose field `spec` has the given schema.
std::shared_ptr<const Schema> WithSpec(const std::string& spec) {
  return StructuralSchema({{"type", "object"}, {"properties", {{"spec", json::parse(spec)}}}});
}

json Object(const std::string& spec) { return {{"spec", json::parse(spec)}}; }

/// Returns the message of the exception, or "" if there is none.
std::string ErrorOf(json object, const Schema& schema) {
  try {
    DecodeCustomResource(object, schema);
    return "";
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

TEST(CustomResourceDecodingTest, NullInAListIsReplacedByTheDefaultOfItems) {
  const auto schema = WithSpec(R"({"type": "array", "items": {"type": "string", "default": "D"}})");
  json object = Object(R"([null, "a"])");

  DecodeCustomResource(object, *schema);

  EXPECT_EQ(object["spec"], json({"D", "a"}));
}

TEST(CustomResourceDecodingTest, NullInAMapIsRemovedUnlessNullable) {
  const auto schema = WithSpec(R"({"type": "object", "properties": {
      "no": {"type": "object", "additionalProperties": {"type": "string"}},
      "yes": {"type": "object", "additionalProperties": {"type": "string", "nullable": true}}}})");
  json object = Object(R"({"no": {"k": null}, "yes": {"k": null}})");

  DecodeCustomResource(object, *schema);

  EXPECT_EQ(object["spec"], json::parse(R"({"no": {}, "yes": {"k": null}})"));
}

TEST(CustomResourceDecodingTest, NumberWithoutAFractionBecomesAnInteger) {
  const auto schema = WithSpec(R"({"x-kubernetes-preserve-unknown-fields": true})");
  json object = Object(R"({"a": 1.0, "b": [2.5, 1e30]})");

  DecodeCustomResource(object, *schema);

  EXPECT_EQ(object["spec"].dump(), R"({"a":1,"b":[2.5,1e+30]})");
}

TEST(CustomResourceDecodingTest, SchemaOfMetadataIsIgnored) {
  const auto schema = StructuralSchema(
      json::parse(R"({"type": "object", "properties": {"metadata": {"type": "object"}}})"));
  json object =
      json::parse(R"({"metadata": {"name": "a", "labels": {"b": "c"}, "no": 1}, "z": 1})");

  EXPECT_THAT(DecodeCustomResource(object, *schema), ElementsAre("metadata.no", "z"));

  EXPECT_EQ(object, json::parse(R"({"metadata": {"name": "a", "labels": {"b": "c"}}})"));
}

TEST(CustomResourceDecodingTest, AnEmbeddedResourceIsDecodedLikeABuiltInKind) {
  const auto schema = WithSpec(R"({"type": "object", "x-kubernetes-embedded-resource": true})");
  json object = Object(
      R"({"kind": "Pod", "metadata": {"labels": {"a": null}, "annotations": {}, "no": 1}, "z": 1})");

  EXPECT_THAT(DecodeCustomResource(object, *schema), ElementsAre("spec.metadata.no", "spec.z"));

  EXPECT_EQ(object, Object(R"({"kind": "Pod", "metadata": {"labels": {"a": ""}}})"));
}

TEST(CustomResourceDecodingTest, UnknownFieldsAreSortedWithThoseOfMetadata) {
  const auto schema = WithSpec(R"({"type": "object", "x-kubernetes-embedded-resource": true})");
  json object =
      json::parse(R"({"a": 1, "metadata": {"no": 1}, "spec": {"metadata": null, "z": 1}})");

  EXPECT_THAT(DecodeCustomResource(object, *schema), ElementsAre("a", "metadata.no", "spec.z"));

  EXPECT_EQ(object, json::parse(R"({"metadata": {}, "spec": {"metadata": {}}})"));
}

TEST(CustomResourceDecodingTest, MetadataOfAWrongTypeIsAnError) {
  const auto schema = WithSpec(R"({"type": "object"})");
  EXPECT_EQ(ErrorOf(json{{"metadata", 5}}, *schema),
            "json: cannot unmarshal number into Go value of type v1.ObjectMeta");
}

TEST(CustomResourceDecodingTest, AWrongTypeInAnEmbeddedResourceIsAnError) {
  const auto schema = WithSpec(R"({"type": "object", "x-kubernetes-embedded-resource": true})");

  EXPECT_EQ(ErrorOf(Object(R"({"apiVersion": "v1", "kind": 5})"), *schema),
            "spec.kind: Invalid value: 5: must be a string");
  EXPECT_EQ(ErrorOf(Object(R"({"metadata": [1]})"), *schema),
            "spec.metadata: Invalid value: [1]: "
            "json: cannot unmarshal array into Go value of type v1.ObjectMeta");
  EXPECT_EQ(ErrorOf(Object(R"({"metadata": {"labels": {"a": 5}}})"), *schema),
            R"(spec.metadata: Invalid value: {"labels":{"a":5}}: json: cannot unmarshal number )"
            "into Go struct field ObjectMeta.labels of type string");
}

}  // namespace
}  // namespace kopp::apiserver
