#include "conformance.hpp"

#include <string>
#include <vector>

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::MatchesRegex;

const std::string initial = "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
const std::string watch_list = initial + "&allowWatchBookmarks=true";

class WatchListTest : public ConformanceTest {
 protected:
  std::unique_ptr<Watch> Start(const std::string& query) {
    return StartWatch(Path("configmaps") + "?watch=true" + query);
  }
};

TEST_F(WatchListTest, WhatIsThereComesByNameThenABookmarkThenWhatHappens) {
  const Answer b = Post(Path("configmaps"), AConfigMap("b"));
  const Answer a = Post(Path("configmaps"), AConfigMap("a"));

  const auto watch = Start(watch_list);

  EXPECT_EQ(watch->Next(), json({{"type", "ADDED"}, {"object", a.body}}));
  EXPECT_EQ(watch->Next(), json({{"type", "ADDED"}, {"object", b.body}}));
  json bookmark = watch->Next();
  EXPECT_EQ(bookmark["type"], "BOOKMARK");
  const std::string version = bookmark["object"]["metadata"]["resourceVersion"];
  EXPECT_GE(std::stoull(version), std::stoull(a.version()));
  EXPECT_EQ(bookmark["object"],
            json({{"kind", "ConfigMap"},
                  {"apiVersion", "v1"},
                  {"metadata",
                   {{"resourceVersion", version},
                    {"annotations", {{"k8s.io/initial-events-end", "true"}}}}}}));
  const Answer live = Post(Path("configmaps"), AConfigMap("live"));
  EXPECT_EQ(watch->Next(), json({{"type", "ADDED"}, {"object", live.body}}));
}

TEST_F(WatchListTest, WhereNothingIsTheBookmarkComesAlone) {
  const auto watch = Start(watch_list);

  EXPECT_EQ(watch->Next()["type"], "BOOKMARK");
}

TEST_F(WatchListTest, SelectorsChooseWhatComes) {
  Post(Path("configmaps"), AConfigMap("a"));
  Post(Path("configmaps"), {{"metadata", {{"name", "b"}, {"labels", {{"x", "1"}}}}}});

  const auto watch = Start(watch_list + "&labelSelector=x");

  EXPECT_EQ(watch->Next()["object"]["metadata"]["name"], "b");
  EXPECT_EQ(watch->Next()["type"], "BOOKMARK");
}

TEST_F(WatchListTest, WithoutBookmarksTheEndOfTheInitialEventsIsNotMarked) {
  Post(Path("configmaps"), AConfigMap("a"));

  const auto watch = Start(initial);
  Post(Path("configmaps"), AConfigMap("live"));

  EXPECT_EQ(watch->Next()["object"]["metadata"]["name"], "a");
  EXPECT_EQ(watch->Next()["object"]["metadata"]["name"], "live");
}

TEST_F(WatchListTest, AVersionIsTheLeastThatIsShown) {
  Post(Path("configmaps"), AConfigMap("a"));
  const std::string version = Post(Path("configmaps"), AConfigMap("b")).version();

  const auto watch = Start(watch_list + "&resourceVersion=" + version);

  EXPECT_EQ(watch->Next()["object"]["metadata"]["name"], "a");
  EXPECT_EQ(watch->Next()["object"]["metadata"]["name"], "b");
  EXPECT_EQ(watch->Next()["type"], "BOOKMARK");
}

TEST_F(WatchListTest, AVersionThatIsLongPastDoesNotMatter) {
  const Answer made = Post(Path("configmaps"), AConfigMap("a"));

  const auto watch = Start(watch_list + "&resourceVersion=1");

  EXPECT_EQ(watch->Next(), json({{"type", "ADDED"}, {"object", made.body}}));
  EXPECT_EQ(watch->Next()["type"], "BOOKMARK");
}

TEST_F(WatchListTest, AVersionOfTheFutureIsAnErrorEvent) {
  const std::string future = Post(Path("configmaps"), AConfigMap("a")).version() + "000";

  const auto watch = Start(watch_list + "&resourceVersion=" + future);

  json event = watch->Next();
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

TEST_F(WatchListTest, ItCanBeToldToBeginWithWhatHappensNow) {
  Post(Path("configmaps"), AConfigMap("a"));

  const auto watch = Start("&sendInitialEvents=false&resourceVersionMatch=NotOlderThan");
  Post(Path("configmaps"), AConfigMap("live"));

  EXPECT_EQ(watch->Next()["object"]["metadata"]["name"], "live");
}

TEST_F(WatchListTest, WithoutInitialEventsAVersionIsWhereItBegins) {
  const std::string version = Post(Path("configmaps"), AConfigMap("a")).version();
  Post(Path("configmaps"), AConfigMap("b"));

  const auto watch = Start("&sendInitialEvents=false&resourceVersionMatch=NotOlderThan" +
                           ("&resourceVersion=" + version));

  EXPECT_EQ(watch->Next()["object"]["metadata"]["name"], "b");
}

struct WatchListRefusal {
  std::string name{};
  std::string query{};
  std::vector<std::string> causes{};
};
void PrintTo(const WatchListRefusal& refusal, std::ostream* out) { *out << refusal.query; }

class WatchListRefusalTest : public ConformanceTest,
                             public ::testing::WithParamInterface<WatchListRefusal> {};

TEST_P(WatchListRefusalTest, IsInvalid) {
  const Answer answer = Get(Path("configmaps") + "?" + GetParam().query);

  EXPECT_EQ(answer.status, 422);
  EXPECT_EQ(answer.reason(), "Invalid");
  EXPECT_EQ(answer.str("/details/group"), "meta.k8s.io");
  EXPECT_EQ(answer.str("/details/kind"), "ListOptions");
  EXPECT_EQ(Causes(answer), GetParam().causes);
}

const std::string needs_match =
    "FieldValueForbidden resourceVersionMatch: Forbidden: sendInitialEvents requires setting "
    "resourceVersionMatch to NotOlderThan";
const std::string not_for_watch =
    "FieldValueForbidden resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for "
    "watch unless sendInitialEvents is provided";
const std::string not_exact =
    "FieldValueNotSupported resourceVersionMatch: Unsupported value: \"Exact\": supported values: "
    "\"NotOlderThan\"";
const std::string not_for_list =
    "FieldValueForbidden sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list";
const std::string needs_version =
    "FieldValueForbidden resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden "
    "unless resourceVersion is provided";

const WatchListRefusal watch_list_refusals[] = {
    {"InitialEventsWithoutAMatch", "watch=true&sendInitialEvents=true", {needs_match}},
    {"NoInitialEventsWithoutAMatch",
     "watch=true&sendInitialEvents=false&resourceVersion=1",
     {needs_match}},
    {"InitialEventsOfAnExactVersion",
     "watch=true&sendInitialEvents=true&resourceVersionMatch=Exact",
     {needs_match, not_exact}},
    {"AMatchWithoutInitialEvents",
     "watch=true&resourceVersionMatch=NotOlderThan&resourceVersion=0",
     {not_for_watch}},
    {"AnExactMatchWithoutInitialEvents",
     "watch=true&resourceVersionMatch=Exact",
     {not_for_watch, not_exact}},
    {"AList", "sendInitialEvents=true", {not_for_list}},
    {"AListWithAMatch",
     "sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
     {needs_version, not_for_list}},
};
INSTANTIATE_TEST_SUITE_P(, WatchListRefusalTest, ::testing::ValuesIn(watch_list_refusals),
                         [](const auto& refusal) { return refusal.param.name; });

}  // namespace
}  // namespace kopp::conformance
