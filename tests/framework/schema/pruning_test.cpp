#include "schema/pruning.hpp"

#include "schema/structural_schema.hpp"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kopp::schema {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;

/// Returns the schema of an object whose field `spec` is a list of embedded resources.
std::shared_ptr<const Schema> ListOfEmbeddedResources() {
  return StructuralSchema(json::parse(R"({"type": "object", "properties": {"spec": {
      "type": "array", "items": {"type": "object", "x-kubernetes-embedded-resource": true}}}})"));
}

TEST(PruneTest, UnknownFieldsOfTheMetadataOfAnEmbeddedResourceAreRemoved) {
  json object = json::parse(R"({"spec": [{"kind": 5, "metadata": {"name": 1, "no": 2}, "z": 3},
                                         {"metadata": null}, {"metadata": "a"}]})");

  EXPECT_THAT(Prune(object, *ListOfEmbeddedResources(), &PruneMetadata),
              ElementsAre("spec[0].metadata.no", "spec[0].z"));

  EXPECT_EQ(object, json::parse(R"({"spec": [{"kind": 5, "metadata": {"name": 1}},
                                             {"metadata": null}, {"metadata": "a"}]})"));
}

TEST(PruneTest, EachEmbeddedResourceIsPassedToTheHandlerAfterItsFieldsWerePruned) {
  json object = json::parse(R"({"spec": [{"kind": "A", "z": 1}, {"kind": "B"}]})");
  std::vector<std::string> calls;
  const auto handler = [&](const json& resource, const std::string& path) {
    calls.push_back(path + ' ' + resource.dump());
    return std::vector{path + ".x"};
  };

  EXPECT_THAT(Prune(object, *ListOfEmbeddedResources(), handler),
              ElementsAre("spec[0].x", "spec[0].z", "spec[1].x"));

  EXPECT_THAT(calls, ElementsAre(R"(spec[0] {"kind":"A"})", R"(spec[1] {"kind":"B"})"));
}

}  // namespace
}  // namespace kopp::schema
