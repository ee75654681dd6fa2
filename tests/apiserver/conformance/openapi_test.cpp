// What kubectl reads of /openapi/v3: whether the server checks fields by itself.
#include "custom_resources.hpp"

#include <string>
#include <vector>

namespace kopp::conformance {
namespace {

using ::testing::Contains;
using ::testing::StartsWith;

class OpenApiTest : public DefinitionTest {
 protected:
  /// The document of a group's version, by the address that the index gives.
  static json DocumentOf(const std::string& place) {
    const json places = Get("/openapi/v3").at("/paths");
    const std::string address = places.value(place, json::object()).value("serverRelativeURL", "");
    EXPECT_THAT(address, StartsWith("/openapi/v3/" + place + "?hash="));
    return Get(address).body;
  }
  /// Of PATCH, in the query.
  static std::vector<std::string> Parameters(const json& path) {
    std::vector<std::string> queries;
    for (const json& parameter : path.at("patch").at("parameters")) {
      if (parameter.at("in") == "query") queries.push_back(parameter.at("name"));
    }
    return queries;
  }
};

TEST_F(OpenApiTest, AKindOfTheCoreTakesFieldValidation) {
  const json path = DocumentOf("api/v1")["paths"]["/api/v1/namespaces/{namespace}/pods/{name}"];

  EXPECT_THAT(Parameters(path), Contains("fieldValidation"));
  EXPECT_EQ(path.at("patch").at("x-kubernetes-group-version-kind"),
            json({{"group", ""}, {"version", "v1"}, {"kind", "Pod"}}));
}

TEST_F(OpenApiTest, AKindOfTheClusterHasNoNamespaceInItsPath) {
  const std::string place = "apis/rbac.authorization.k8s.io/v1";

  const json path = DocumentOf(place)["paths"]["/" + place + "/clusterroles/{name}"];

  EXPECT_THAT(Parameters(path), Contains("fieldValidation"));
}

TEST_F(OpenApiTest, ACustomResourceTakesItToo) {
  Define(Anything());
  const std::string place = "apis/" + group() + "/v1";
  Eventually(200, [&] { return Get("/openapi/v3/" + place); });

  const json path =
      DocumentOf(place)["paths"]["/" + place + "/namespaces/{namespace}/widgets/{name}"];

  EXPECT_THAT(Parameters(path), Contains("fieldValidation"));
  EXPECT_EQ(path.at("patch").at("x-kubernetes-group-version-kind"),
            json({{"group", group()}, {"version", "v1"}, {"kind", "Widget"}}));
}

TEST_F(OpenApiTest, OfAVersionThatIsNotServedThereIsNoDocument) {
  const Answer answer = Get("/openapi/v3/apis/apps/v0");

  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.text, "");
}

}  // namespace
}  // namespace kopp::conformance
