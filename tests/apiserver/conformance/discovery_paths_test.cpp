#include "conformance.hpp"

#include <string>
#include <vector>

namespace kopp::conformance {
namespace {

using ::testing::IsSupersetOf;

struct Health {
  std::string name{};
  std::string path{};
};
void PrintTo(const Health& health, std::ostream* out) { *out << health.path; }

class HealthTest : public ConformanceTest, public ::testing::WithParamInterface<Health> {};

TEST_P(HealthTest, IsOk) {
  const Answer answer = Get(GetParam().path);

  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.text, "ok");
}

const Health health_paths[] = {{"Readyz", "/readyz"},
                               {"Livez", "/livez"},
                               {"Healthz", "/healthz"},
                               {"OneCheck", "/readyz/ping"}};
INSTANTIATE_TEST_SUITE_P(, HealthTest, ::testing::ValuesIn(health_paths),
                         [](const auto& health) { return health.param.name; });

/// What is not there: below a group that there is a Status tells so, elsewhere plain text.
struct Missing {
  std::string name{};
  std::string path{};
  bool is_status = false;
};
void PrintTo(const Missing& missing, std::ostream* out) { *out << missing.path; }

class MissingPathTest : public ConformanceTest, public ::testing::WithParamInterface<Missing> {};

TEST_P(MissingPathTest, IsNotFound) {
  const Answer answer = Get(GetParam().path);

  EXPECT_EQ(answer.status, 404);
  if (GetParam().is_status) {
    EXPECT_EQ(answer.body, json({{"kind", "Status"},
                                 {"apiVersion", "v1"},
                                 {"metadata", json::object()},
                                 {"status", "Failure"},
                                 {"message", "the server could not find the requested resource"},
                                 {"reason", "NotFound"},
                                 {"details", json::object()},
                                 {"code", 404}}));
  } else {
    EXPECT_EQ(answer.text, "404 page not found\n");
  }
}

const Missing missing_paths[] = {
    {"NoSuchPath", "/nope", false},
    {"NoSuchGroup", "/apis/nothing", false},
    {"NoSuchGroupsVersion", "/apis/nothing/v1", false},
    {"NoSuchGroupsResource", "/apis/nothing/v1/things", false},
    {"UpperCase", "/APIS", false},
    {"NoSuchHealthCheck", "/livez/nope", false},
    {"NoSuchCoreVersion", "/api/v2", true},
    {"NoSuchVersion", "/apis/apps/v9", true},
    {"NoSuchResource", "/apis/apps/v1/nope", true},
    {"NoSuchNamespacedResource", "/api/v1/namespaces/default/nope", true},
    {"AResourceOfAnotherGroup", "/apis/apps/v1/namespaces/default/pods", true},
    {"NoSuchSubresource", "/api/v1/namespaces/default/configmaps/a/status", true},
    {"TooDeep", "/api/v1/nodes/a/b/c", true},
    {"AnEmptySegment", "/api/v1//nodes", true},
};
INSTANTIATE_TEST_SUITE_P(, MissingPathTest, ::testing::ValuesIn(missing_paths),
                         [](const auto& missing) { return missing.param.name; });

struct Verb {
  std::string name{};
  std::string method{};
  std::string path{};
};
void PrintTo(const Verb& verb, std::ostream* out) { *out << verb.method << ' ' << verb.path; }

class WrongVerbTest : public ConformanceTest, public ::testing::WithParamInterface<Verb> {};

TEST_P(WrongVerbTest, IsNotAllowed) {
  const bool has_body = GetParam().method != "DELETE";

  const Answer answer =
      Call({.method = GetParam().method, .target = GetParam().path, .body = has_body ? "{}" : ""});

  EXPECT_EQ(answer.body,
            json({{"kind", "Status"},
                  {"apiVersion", "v1"},
                  {"metadata", json::object()},
                  {"status", "Failure"},
                  {"message", "the server does not allow this method on the requested resource"},
                  {"reason", "MethodNotAllowed"},
                  {"details", json::object()},
                  {"code", 405}}));
  EXPECT_EQ(answer.status, 405);
}

const Verb verbs[] = {
    {"DeleteOfAllNamespaces", "DELETE", "/api/v1/namespaces"},
    {"PutOfACollection", "PUT", "/api/v1/namespaces"},
    {"PostOfOneObject", "POST", "/api/v1/namespaces/default"},
    {"PostInNoNamespace", "POST", "/api/v1/configmaps"},
    {"DeleteInAllNamespaces", "DELETE", "/apis/apps/v1/deployments"},
    {"PostOfTheVersion", "POST", "/version"},
    {"PostOfDiscovery", "POST", "/api"},
};
INSTANTIATE_TEST_SUITE_P(, WrongVerbTest, ::testing::ValuesIn(verbs),
                         [](const auto& verb) { return verb.param.name; });

class PathTest : public ConformanceTest {};

TEST_F(PathTest, TheRootListsPaths) {
  const Answer answer = Get("/");

  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.at("/paths").get<std::vector<std::string>>(),
              IsSupersetOf({"/api", "/api/v1", "/apis", "/apis/apps", "/apis/apps/v1", "/healthz",
                            "/livez", "/readyz", "/version"}));
}

TEST_F(PathTest, ASlashAtTheEndOfDiscoveryDoesNotMatter) {
  EXPECT_EQ(Get("/api/").str("/kind"), "APIVersions");
  EXPECT_EQ(Get("/apis/").str("/kind"), "APIGroupList");
  EXPECT_EQ(Get("/api/v1/").str("/kind"), "APIResourceList");
}

}  // namespace
}  // namespace kopp::conformance
