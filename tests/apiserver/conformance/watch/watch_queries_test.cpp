#include "conformance.hpp"
#include "custom_resources.hpp"

#include <string>

namespace kopp::conformance {
namespace {

using ::testing::MatchesRegex;

/// A watch query that the server rejects with a Status.
struct RejectedWatch {
  std::string test_name{};
  std::string query{};
  int status = 0;
  std::string reason{};
  std::string message{};
};
void PrintTo(const RejectedWatch& watch, std::ostream* out) { *out << watch.query; }

class RejectedWatchTest : public ConformanceTest,
                          public ::testing::WithParamInterface<RejectedWatch> {};

TEST_P(RejectedWatchTest, InvalidWatchQueryIsRejectedWithAStatus) {
  const JsonResponse response = Get(Path("configmaps") + "?watch=true&" + GetParam().query);

  EXPECT_EQ(response.status, GetParam().status);
  EXPECT_EQ(response.reason(), GetParam().reason);
  EXPECT_EQ(response.message(), GetParam().message);
}

const RejectedWatch rejected_watches[] = {
    {"ResourceVersionNotANumber", "resourceVersion=abc", 500, "",
     R"(resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax)"},
    {"NegativeResourceVersion", "resourceVersion=-1", 500, "",
     R"(resourceVersion: Invalid value: "-1": strconv.ParseUint: parsing "-1": invalid syntax)"},
    {"TimeoutNotANumber", "timeoutSeconds=abc", 400, "BadRequest",
     R"(strconv.ParseInt: parsing "abc": invalid syntax)"},
    {"LabelSelectorWithTripleEqualsSign", "labelSelector=a%3D%3D%3Db", 400, "BadRequest",
     "unable to parse requirement: found '=', expected: identifier"},
    {"FieldSelectorWithoutOperator", "fieldSelector=metadata.name", 400, "BadRequest",
     "invalid selector: 'metadata.name'; can't understand 'metadata.name'"},
    {"UnsupportedFieldSelector", "fieldSelector=spec.x%3Db", 400, "BadRequest",
     R"("spec.x" is not a known field selector: only "metadata.name", "metadata.namespace")"},
    {"ContinueToken", "continue=abc", 422, "Invalid",
     R"(ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: )"
     "resourceVersionMatch is forbidden when continue is provided"},
};
INSTANTIATE_TEST_SUITE_P(, RejectedWatchTest, ::testing::ValuesIn(rejected_watches),
                         [](const auto& watch) { return watch.param.test_name; });

/// A value of the query parameter `watch`.
struct WatchParameter {
  std::string test_name{};
  std::string query{};
  bool is_watch = false;
};
void PrintTo(const WatchParameter& parameter, std::ostream* out) { *out << parameter.query; }

class WatchParameterTest : public ConformanceTest,
                           public ::testing::WithParamInterface<WatchParameter> {};

TEST_P(WatchParameterTest, WatchParameterSelectsWatchOrList) {
  Post(Path("configmaps"), MakeConfigMap("a"));

  const auto response = StartWatch(Path("configmaps") + "?" + GetParam().query);

  const json first = response->NextEvent();
  EXPECT_EQ(first.value("kind", "") == "ConfigMapList", !GetParam().is_watch) << first;
  EXPECT_EQ(first.value("type", "") == "ADDED", GetParam().is_watch) << first;
}

const WatchParameter watch_parameters[] = {
    {"One", "watch=1", true},
    {"UpperCase", "watch=TRUE", true},
    {"AnyOtherValue", "watch=yes", true},
    {"NoValue", "watch", true},
    {"False", "watch=false", false},
    {"Zero", "watch=0", false},
    {"TrueWithLimit", "watch=true&limit=1", true},
};
INSTANTIATE_TEST_SUITE_P(, WatchParameterTest, ::testing::ValuesIn(watch_parameters),
                         [](const auto& parameter) { return parameter.param.test_name; });

/// Fixture of tests of watches of custom resources.
class CustomResourceWatchTest : public CrdPerTest {};

// The event history of a custom resource starts when its CRD is created. So version 1 is older than
// the history of a new CRD, on every server.
TEST_F(CustomResourceWatchTest, ResourceVersionOlderThanTheHistoryIsAnExpiredErrorEvent) {
  CreateCrd(AnyObjectSchema());

  const auto watch = StartWatch(Widgets() + "?watch=true&resourceVersion=1");

  EXPECT_EQ(watch->status(), 200);
  json event = watch->NextEvent();
  ASSERT_EQ(event["type"], "ERROR");
  EXPECT_THAT(event["object"]["message"].get<std::string>(),
              MatchesRegex("too old resource version: 1 \\([0-9]+\\)"));
  event["object"].erase("message");
  EXPECT_EQ(event["object"], json({{"kind", "Status"},
                                   {"apiVersion", "v1"},
                                   {"metadata", json::object()},
                                   {"status", "Failure"},
                                   {"reason", "Expired"},
                                   {"code", 410}}));
  EXPECT_TRUE(watch->WaitForEnd());
}

TEST_F(CustomResourceWatchTest, DeprecatedWatchPathWatchesCustomResources) {
  CreateCrd(AnyObjectSchema());
  const JsonResponse created = Post(Widgets(), MakeWidget("a"));

  const auto watch = StartWatch("/apis/" + group() + "/v1/watch/widgets");

  EXPECT_EQ(watch->NextEvent(), json({{"type", "ADDED"}, {"object", created.body}}));
}

}  // namespace
}  // namespace kopp::conformance
