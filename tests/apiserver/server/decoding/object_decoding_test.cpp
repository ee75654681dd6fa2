#include "decoding/object_decoding.hpp"

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

DecodedObject DecodeBuiltIn(const std::string& kind, const std::string& text) {
  return DecodeStrictly(json::parse(text), text, *Schemas::BuiltIn().Find(kind), true);
}

DecodedObject DecodeCustom(const std::string& text) {
  const std::shared_ptr<const Schema> schema = StructuralSchema(
      R"({"type": "object", "properties": {
            "spec": {"type": "object", "properties": {"a": {"type": "integer", "default": 1}}}}})"_json);
  return DecodeStrictly(json::parse(text), text, *schema, false);
}

TEST(DecodeStrictlyTest, TheObjectHasMetadataAndNoType) {
  const json expected{{"metadata", json::object()}, {"data", {{"k", "v"}}}};
  for (const char* metadata : {"", R"(, "metadata": null)"}) {
    const std::string text = R"({"kind": "ConfigMap", "apiVersion": "v1", "data": {"k": "v"})" +
                             std::string(metadata) + '}';
    EXPECT_EQ(DecodeBuiltIn("ConfigMap", text).object, expected);
  }
  EXPECT_EQ(DecodeCustom(R"({"kind": "Foo", "apiVersion": "a/v1", "metadata": null})").object,
            json({{"metadata", json::object()}}));
}

TEST(DecodeStrictlyTest, AnEmptyListOfManagedFieldsBecomesOneEmptyEntry) {
  const DecodedObject decoded =
      DecodeBuiltIn("ConfigMap", R"({"metadata": {"managedFields": []}})");
  EXPECT_EQ(decoded.object.at("metadata").at("managedFields"), json::array({json::object()}));
}

TEST(DecodeStrictlyTest, ErrorsOfABuiltInKindAreInTheOrderOfTheText) {
  const DecodedObject decoded =
      DecodeBuiltIn("ConfigMap", R"({"z": 1, "data": {"k": "1", "k": "2"}, "a": 1})");
  EXPECT_THAT(decoded.errors, ElementsAre(R"(unknown field "z")", R"(duplicate field "data.k")",
                                          R"(unknown field "a")"));
  EXPECT_EQ(decoded.object.at("data"), json({{"k", "2"}}));
}

TEST(DecodeStrictlyTest, UnknownFieldsOfACustomResourceAreSortedAfterTheDuplicates) {
  const DecodedObject decoded = DecodeCustom(R"({"z": 1, "spec": {"b": 1, "a": 2, "a": 3}})");
  EXPECT_THAT(decoded.errors, ElementsAre(R"(duplicate field "spec.a")",
                                          R"(unknown field "spec.b")", R"(unknown field "z")"));
  EXPECT_EQ(decoded.object.at("spec"), json({{"a", 3}}));
}

TEST(DecodeStrictlyTest, DefaultsOfACustomResourceAreSet) {
  EXPECT_EQ(DecodeCustom(R"({"spec": {}})").object.at("spec"), json({{"a", 1}}));
}

TEST(DecodeStrictlyTest, AValueOfTheWrongTypeIsRejected) {
  EXPECT_THROW((void)DecodeBuiltIn("ConfigMap", R"({"data": 1})"), std::invalid_argument);
}

}  // namespace
}  // namespace kopp::apiserver
