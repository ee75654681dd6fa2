// Tests of the parts of /openapi/v3 that kubectl reads to learn whether the server validates
// fields.
#include "custom_resources.hpp"

#include <string>
#include <vector>

namespace kopp::conformance {
namespace {

using ::testing::Contains;
using ::testing::StartsWith;

class OpenApiTest : public CrdPerTest {
 protected:
  /// Returns the document of a group version ("apis/apps/v1") from the URL in the index.
  static json GetDocument(const std::string& group_version) {
    const json index = Get("/openapi/v3").at("/paths");
    const std::string url =
        index.value(group_version, json::object()).value("serverRelativeURL", "");
    EXPECT_THAT(url, StartsWith("/openapi/v3/" + group_version + "?hash="));
    return Get(url).body;
  }
  /// Returns the names of the query parameters of the PATCH operation.
  static std::vector<std::string> PatchQueryParameters(const json& path) {
    std::vector<std::string> names;
    for (const json& parameter : path.at("patch").at("parameters")) {
      if (parameter.at("in") == "query") names.push_back(parameter.at("name"));
    }
    return names;
  }
};

TEST_F(OpenApiTest, PatchOfABuiltInKindHasAFieldValidationParameter) {
  const json path = GetDocument("api/v1")["paths"]["/api/v1/namespaces/{namespace}/pods/{name}"];

  EXPECT_THAT(PatchQueryParameters(path), Contains("fieldValidation"));
  EXPECT_EQ(path.at("patch").at("x-kubernetes-group-version-kind"),
            json({{"group", ""}, {"version", "v1"}, {"kind", "Pod"}}));
}

TEST_F(OpenApiTest, OperationsOfAKindHaveItsGroupVersionAndKind) {
  const json paths = GetDocument("apis/apps/v1")["paths"];
  const std::string deployments = "/apis/apps/v1/namespaces/{namespace}/deployments";
  const json kind{{"group", "apps"}, {"version", "v1"}, {"kind", "Deployment"}};

  EXPECT_EQ(paths.at(deployments).at("post").at("x-kubernetes-group-version-kind"), kind);
  EXPECT_EQ(paths.at(deployments + "/{name}").at("get").at("x-kubernetes-group-version-kind"),
            kind);
}

TEST_F(OpenApiTest, PatchOfABuiltInKindAcceptsAStrategicMergePatch) {
  const json path = GetDocument("api/v1")["paths"]["/api/v1/namespaces/{namespace}/pods/{name}"];

  EXPECT_TRUE(path.at("patch")
                  .at("requestBody")
                  .at("content")
                  .contains("application/strategic-merge-patch+json"));
}

TEST_F(OpenApiTest, PathOfAClusterScopedKindHasNoNamespace) {
  const std::string group_version = "apis/rbac.authorization.k8s.io/v1";

  const json path =
      GetDocument(group_version)["paths"]["/" + group_version + "/clusterroles/{name}"];

  EXPECT_THAT(PatchQueryParameters(path), Contains("fieldValidation"));
}

TEST_F(OpenApiTest, PatchOfACustomResourceHasAFieldValidationParameter) {
  CreateCrd(AnyObjectSchema());
  const std::string group_version = "apis/" + group() + "/v1";
  Eventually(200, [&] { return Get("/openapi/v3/" + group_version); });

  const json path = GetDocument(
      group_version)["paths"]["/" + group_version + "/namespaces/{namespace}/widgets/{name}"];

  EXPECT_THAT(PatchQueryParameters(path), Contains("fieldValidation"));
  EXPECT_EQ(path.at("patch").at("x-kubernetes-group-version-kind"),
            json({{"group", group()}, {"version", "v1"}, {"kind", "Widget"}}));
  const json media_types = path.at("patch").at("requestBody").at("content");
  EXPECT_TRUE(media_types.contains("application/merge-patch+json"));
  EXPECT_FALSE(media_types.contains("application/strategic-merge-patch+json"));
}

TEST_F(OpenApiTest, DocumentOfAnUnservedVersionIsNotFound) {
  const JsonResponse response = Get("/openapi/v3/apis/apps/v0");

  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.text, "");
}

}  // namespace
}  // namespace kopp::conformance
