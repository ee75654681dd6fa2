#include "conformance.hpp"

#include <string>
#include <vector>

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::MatchesRegex;

const std::string send_initial_events = "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
const std::string watch_list = send_initial_events + "&allowWatchBookmarks=true";

/// Fixture of tests of watches with sendInitialEvents, which replace a list ("watch list").
class WatchListTest : public ConformanceTest {
 protected:
  std::unique_ptr<Watch> Start(const std::string& query) {
    return StartWatch(Path("configmaps") + "?watch=true" + query);
  }
};

TEST_F(WatchListTest, InitialObjectsByNameAreFollowedByABookmarkAndLaterEvents) {
  const JsonResponse b = Post(Path("configmaps"), MakeConfigMap("b"));
  const JsonResponse a = Post(Path("configmaps"), MakeConfigMap("a"));

  const auto watch = Start(watch_list);

  EXPECT_EQ(watch->NextEvent(), json({{"type", "ADDED"}, {"object", a.body}}));
  EXPECT_EQ(watch->NextEvent(), json({{"type", "ADDED"}, {"object", b.body}}));
  json bookmark = watch->NextEvent();
  EXPECT_EQ(bookmark["type"], "BOOKMARK");
  const std::string version = bookmark["object"]["metadata"]["resourceVersion"];
  EXPECT_GE(std::stoull(version), std::stoull(a.resource_version()));
  EXPECT_EQ(bookmark["object"],
            json({{"kind", "ConfigMap"},
                  {"apiVersion", "v1"},
                  {"metadata",
                   {{"resourceVersion", version},
                    {"annotations", {{"k8s.io/initial-events-end", "true"}}}}}}));
  const JsonResponse live = Post(Path("configmaps"), MakeConfigMap("live"));
  EXPECT_EQ(watch->NextEvent(), json({{"type", "ADDED"}, {"object", live.body}}));
}

TEST_F(WatchListTest, EmptyCollectionSendsOnlyTheBookmark) {
  const auto watch = Start(watch_list);

  EXPECT_EQ(watch->NextEvent()["type"], "BOOKMARK");
}

TEST_F(WatchListTest, LabelSelectorFiltersTheInitialEvents) {
  Post(Path("configmaps"), MakeConfigMap("a"));
  Post(Path("configmaps"), {{"metadata", {{"name", "b"}, {"labels", {{"x", "1"}}}}}});

  const auto watch = Start(watch_list + "&labelSelector=x");

  EXPECT_EQ(watch->NextEvent()["object"]["metadata"]["name"], "b");
  EXPECT_EQ(watch->NextEvent()["type"], "BOOKMARK");
}

TEST_F(WatchListTest, NoBookmarkEndsTheInitialEventsWithoutAllowWatchBookmarks) {
  Post(Path("configmaps"), MakeConfigMap("a"));

  const auto watch = Start(send_initial_events);
  Post(Path("configmaps"), MakeConfigMap("live"));

  EXPECT_EQ(watch->NextEvent()["object"]["metadata"]["name"], "a");
  EXPECT_EQ(watch->NextEvent()["object"]["metadata"]["name"], "live");
}

TEST_F(WatchListTest, InitialEventsAreAtLeastAsNewAsTheResourceVersion) {
  Post(Path("configmaps"), MakeConfigMap("a"));
  const std::string version = Post(Path("configmaps"), MakeConfigMap("b")).resource_version();

  const auto watch = Start(watch_list + "&resourceVersion=" + version);

  EXPECT_EQ(watch->NextEvent()["object"]["metadata"]["name"], "a");
  EXPECT_EQ(watch->NextEvent()["object"]["metadata"]["name"], "b");
  EXPECT_EQ(watch->NextEvent()["type"], "BOOKMARK");
}

TEST_F(WatchListTest, OldResourceVersionIsAccepted) {
  const JsonResponse created = Post(Path("configmaps"), MakeConfigMap("a"));

  const auto watch = Start(watch_list + "&resourceVersion=1");

  EXPECT_EQ(watch->NextEvent(), json({{"type", "ADDED"}, {"object", created.body}}));
  EXPECT_EQ(watch->NextEvent()["type"], "BOOKMARK");
}

TEST_F(WatchListTest, FutureResourceVersionIsATimeoutErrorEvent) {
  const std::string future =
      Post(Path("configmaps"), MakeConfigMap("a")).resource_version() + "000";

  const auto watch = Start(watch_list + "&resourceVersion=" + future);

  json event = watch->NextEvent();
  ASSERT_EQ(event["type"], "ERROR");
  EXPECT_THAT(event["object"]["message"].get<std::string>(),
              MatchesRegex("Timeout: Too large resource version: " + future + ", current: [0-9]+"));
  event["object"].erase("message");
  EXPECT_EQ(event["object"], json({{"kind", "Status"},
                                   {"apiVersion", "v1"},
                                   {"metadata", json::object()},
                                   {"status", "Failure"},
                                   {"reason", "Timeout"},
                                   {"details",
                                    {{"causes",
                                      {{{"reason", "ResourceVersionTooLarge"},
                                        {"message", "Too large resource version"}}}},
                                     {"retryAfterSeconds", 1}}},
                                   {"code", 504}}));
}

TEST_F(WatchListTest, SendInitialEventsFalseSendsOnlyNewEvents) {
  Post(Path("configmaps"), MakeConfigMap("a"));

  const auto watch = Start("&sendInitialEvents=false&resourceVersionMatch=NotOlderThan");
  Post(Path("configmaps"), MakeConfigMap("live"));

  EXPECT_EQ(watch->NextEvent()["object"]["metadata"]["name"], "live");
}

TEST_F(WatchListTest, SendInitialEventsFalseStartsAtTheResourceVersion) {
  const std::string version = Post(Path("configmaps"), MakeConfigMap("a")).resource_version();
  Post(Path("configmaps"), MakeConfigMap("b"));

  const auto watch = Start("&sendInitialEvents=false&resourceVersionMatch=NotOlderThan" +
                           ("&resourceVersion=" + version));

  EXPECT_EQ(watch->NextEvent()["object"]["metadata"]["name"], "b");
}

/// A query whose combination of sendInitialEvents and resourceVersionMatch is invalid.
struct InvalidWatchList {
  std::string test_name{};
  std::string query{};
  std::vector<std::string> causes{};
};
void PrintTo(const InvalidWatchList& invalid, std::ostream* out) { *out << invalid.query; }

class InvalidWatchListTest : public ConformanceTest,
                             public ::testing::WithParamInterface<InvalidWatchList> {};

TEST_P(InvalidWatchListTest, InvalidOptionsAreRejected) {
  const JsonResponse response = Get(Path("configmaps") + "?" + GetParam().query);

  EXPECT_EQ(response.status, 422);
  EXPECT_EQ(response.reason(), "Invalid");
  EXPECT_EQ(response.str("/details/group"), "meta.k8s.io");
  EXPECT_EQ(response.str("/details/kind"), "ListOptions");
  EXPECT_EQ(Causes(response), GetParam().causes);
}

const std::string initial_events_need_match =
    "FieldValueForbidden resourceVersionMatch: Forbidden: sendInitialEvents requires setting "
    "resourceVersionMatch to NotOlderThan";
const std::string match_forbidden_for_watch =
    "FieldValueForbidden resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for "
    "watch unless sendInitialEvents is provided";
const std::string exact_not_supported =
    "FieldValueNotSupported resourceVersionMatch: Unsupported value: \"Exact\": supported values: "
    "\"NotOlderThan\"";
const std::string initial_events_forbidden_for_list =
    "FieldValueForbidden sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list";
const std::string match_needs_version =
    "FieldValueForbidden resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden "
    "unless resourceVersion is provided";

const InvalidWatchList invalid_watch_lists[] = {
    {"InitialEventsWithoutMatch", "watch=true&sendInitialEvents=true", {initial_events_need_match}},
    {"InitialEventsFalseWithoutMatch",
     "watch=true&sendInitialEvents=false&resourceVersion=1",
     {initial_events_need_match}},
    {"InitialEventsWithExactMatch",
     "watch=true&sendInitialEvents=true&resourceVersionMatch=Exact",
     {initial_events_need_match, exact_not_supported}},
    {"MatchWithoutInitialEvents",
     "watch=true&resourceVersionMatch=NotOlderThan&resourceVersion=0",
     {match_forbidden_for_watch}},
    {"ExactMatchWithoutInitialEvents",
     "watch=true&resourceVersionMatch=Exact",
     {match_forbidden_for_watch, exact_not_supported}},
    {"InitialEventsOfAList", "sendInitialEvents=true", {initial_events_forbidden_for_list}},
    {"InitialEventsOfAListWithMatch",
     "sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
     {match_needs_version, initial_events_forbidden_for_list}},
};
INSTANTIATE_TEST_SUITE_P(, InvalidWatchListTest, ::testing::ValuesIn(invalid_watch_lists),
                         [](const auto& invalid) { return invalid.param.test_name; });

}  // namespace
}  // namespace kopp::conformance
