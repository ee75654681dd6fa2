#include "conformance.hpp"

#include <string>
#include <vector>

namespace kopp::conformance {
namespace {

using ::testing::IsSupersetOf;

/// A health check endpoint.
struct HealthCheck {
  std::string test_name{};
  std::string path{};
};
void PrintTo(const HealthCheck& check, std::ostream* out) { *out << check.path; }

class HealthTest : public ConformanceTest, public ::testing::WithParamInterface<HealthCheck> {};

TEST_P(HealthTest, HealthCheckReturnsOk) {
  const JsonResponse response = Get(GetParam().path);

  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.text, "ok");
}

const HealthCheck health_checks[] = {{"Readyz", "/readyz"},
                                     {"Livez", "/livez"},
                                     {"Healthz", "/healthz"},
                                     {"SingleCheckOfReadyz", "/readyz/ping"}};
INSTANTIATE_TEST_SUITE_P(, HealthTest, ::testing::ValuesIn(health_checks),
                         [](const auto& check) { return check.param.test_name; });

/// A path that does not exist. The 404 is a Status if the API group exists, otherwise plain text.
struct MissingPath {
  std::string test_name{};
  std::string path{};
  bool is_status = false;
};
void PrintTo(const MissingPath& missing, std::ostream* out) { *out << missing.path; }

class MissingPathTest : public ConformanceTest,
                        public ::testing::WithParamInterface<MissingPath> {};

TEST_P(MissingPathTest, GetOfAMissingPathReturnsNotFound) {
  const JsonResponse response = Get(GetParam().path);

  EXPECT_EQ(response.status, 404);
  if (GetParam().is_status) {
    EXPECT_EQ(response.body, json({{"kind", "Status"},
                                   {"apiVersion", "v1"},
                                   {"metadata", json::object()},
                                   {"status", "Failure"},
                                   {"message", "the server could not find the requested resource"},
                                   {"reason", "NotFound"},
                                   {"details", json::object()},
                                   {"code", 404}}));
  } else {
    EXPECT_EQ(response.text, "404 page not found\n");
  }
}

const MissingPath missing_paths[] = {
    {"UnknownPath", "/nope", false},
    {"UnknownGroup", "/apis/nothing", false},
    {"VersionOfAnUnknownGroup", "/apis/nothing/v1", false},
    {"ResourceOfAnUnknownGroup", "/apis/nothing/v1/things", false},
    {"UpperCaseApis", "/APIS", false},
    {"UnknownHealthCheck", "/livez/nope", false},
    {"UnknownCoreVersion", "/api/v2", true},
    {"UnknownVersionOfAGroup", "/apis/apps/v9", true},
    {"UnknownResource", "/apis/apps/v1/nope", true},
    {"UnknownNamespacedResource", "/api/v1/namespaces/default/nope", true},
    {"ResourceOfAnotherGroup", "/apis/apps/v1/namespaces/default/pods", true},
    {"UnknownSubresource", "/api/v1/namespaces/default/configmaps/a/status", true},
    {"TooManySegments", "/api/v1/nodes/a/b/c", true},
    {"EmptySegment", "/api/v1//nodes", true},
};
INSTANTIATE_TEST_SUITE_P(, MissingPathTest, ::testing::ValuesIn(missing_paths),
                         [](const auto& missing) { return missing.param.test_name; });

/// An HTTP method that the path does not support.
struct UnsupportedMethod {
  std::string test_name{};
  std::string method{};
  std::string path{};
};
void PrintTo(const UnsupportedMethod& request, std::ostream* out) {
  *out << request.method << ' ' << request.path;
}

class UnsupportedMethodTest : public ConformanceTest,
                              public ::testing::WithParamInterface<UnsupportedMethod> {};

TEST_P(UnsupportedMethodTest, RequestWithAnUnsupportedMethodReturnsMethodNotAllowed) {
  const bool has_body = GetParam().method != "DELETE";

  const JsonResponse response =
      Call({.method = GetParam().method, .target = GetParam().path, .body = has_body ? "{}" : ""});

  EXPECT_EQ(response.body,
            json({{"kind", "Status"},
                  {"apiVersion", "v1"},
                  {"metadata", json::object()},
                  {"status", "Failure"},
                  {"message", "the server does not allow this method on the requested resource"},
                  {"reason", "MethodNotAllowed"},
                  {"details", json::object()},
                  {"code", 405}}));
  EXPECT_EQ(response.status, 405);
}

const UnsupportedMethod unsupported_methods[] = {
    {"DeleteNamespaceCollection", "DELETE", "/api/v1/namespaces"},
    {"PutCollection", "PUT", "/api/v1/namespaces"},
    {"PostNamedObject", "POST", "/api/v1/namespaces/default"},
    {"PostNamespacedKindWithoutNamespace", "POST", "/api/v1/configmaps"},
    {"DeleteCollectionOfAllNamespaces", "DELETE", "/apis/apps/v1/deployments"},
    {"PostVersion", "POST", "/version"},
    {"PostDiscovery", "POST", "/api"},
};
INSTANTIATE_TEST_SUITE_P(, UnsupportedMethodTest, ::testing::ValuesIn(unsupported_methods),
                         [](const auto& request) { return request.param.test_name; });

/// Fixture of tests of the root path and the spelling of discovery paths.
class PathTest : public ConformanceTest {};

TEST_F(PathTest, RootListsTheAvailablePaths) {
  const JsonResponse response = Get("/");

  EXPECT_EQ(response.status, 200);
  EXPECT_THAT(response.at("/paths").get<std::vector<std::string>>(),
              IsSupersetOf({"/api", "/api/v1", "/apis", "/apis/apps", "/apis/apps/v1", "/healthz",
                            "/livez", "/metrics", "/readyz", "/version"}));
}

TEST_F(PathTest, DiscoveryIgnoresATrailingSlash) {
  EXPECT_EQ(Get("/api/").str("/kind"), "APIVersions");
  EXPECT_EQ(Get("/apis/").str("/kind"), "APIGroupList");
  EXPECT_EQ(Get("/api/v1/").str("/kind"), "APIResourceList");
}

}  // namespace
}  // namespace kopp::conformance
