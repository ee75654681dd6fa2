#include "conformance.hpp"

#include <string>
#include <thread>
#include <vector>

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::MatchesRegex;

/// Fixture of tests of the events of a watch, and of its start and end.
class WatchTest : public ConformanceTest {
 protected:
  /// Watches the ConfigMaps of this test's namespace. `query` is empty or "&name=value…".
  std::unique_ptr<Watch> Start(const std::string& query = "") {
    return StartWatch(Path("configmaps") + "?watch=true" + query);
  }
  std::string ConfigMapPath(const std::string& name) { return Path("configmaps") + "/" + name; }
};

/// Returns the type and name of an event, for example "ADDED a".
std::string EventSummary(const json& event) {
  if (event.is_null()) return "no event";
  const json& object = event["object"];
  return event["type"].get<std::string>() + " " + object["metadata"].value("name", "");
}

std::vector<std::string> NextEventSummaries(Watch& watch, int count) {
  std::vector<std::string> summaries;
  for (int i = 0; i < count; ++i) summaries.push_back(EventSummary(watch.NextEvent()));
  return summaries;
}

TEST_F(WatchTest, EachWriteIsAnEventWithTheObjectThatTheWriteReturned) {
  const auto watch = Start();

  const JsonResponse created = Post(Path("configmaps"), MakeConfigMap("a"));
  const JsonResponse changed = MergePatch(ConfigMapPath("a"), {{"data", {{"k", "v"}}}});

  EXPECT_EQ(watch->NextEvent(), json({{"type", "ADDED"}, {"object", created.body}}));
  EXPECT_EQ(watch->NextEvent(), json({{"type", "MODIFIED"}, {"object", changed.body}}));
}

TEST_F(WatchTest, DeletedEventHasTheLastStateAndTheVersionOfTheDeletion) {
  const JsonResponse created = Post(Path("configmaps"), MakeConfigMap("a"));
  const auto watch = Start("&resourceVersion=" + created.resource_version());

  Delete(ConfigMapPath("a"));

  json event = watch->NextEvent();
  EXPECT_EQ(event["type"], "DELETED");
  const std::string version = event["object"]["metadata"]["resourceVersion"];
  EXPECT_GT(std::stoull(version), std::stoull(created.resource_version()));
  event["object"]["metadata"]["resourceVersion"] = created.resource_version();
  EXPECT_EQ(event["object"], created.body);
}

TEST_F(WatchTest, WatchFromAResourceVersionSendsTheLaterEvents) {
  const std::string version = Post(Path("configmaps"), MakeConfigMap("a")).resource_version();
  Post(Path("configmaps"), MakeConfigMap("c"));
  Post(Path("configmaps"), MakeConfigMap("b"));
  MergePatch(ConfigMapPath("c"), {{"data", {{"k", "v"}}}});
  Delete(ConfigMapPath("a"));

  const auto watch = Start("&resourceVersion=" + version);

  EXPECT_THAT(NextEventSummaries(*watch, 4),
              ElementsAre("ADDED c", "ADDED b", "MODIFIED c", "DELETED a"));
}

TEST_F(WatchTest, WatchFromTheVersionOfAListSendsTheEventsAfterTheList) {
  Post(Path("configmaps"), MakeConfigMap("a"));
  const std::string version = Get(Path("configmaps")).resource_version();
  Post(Path("configmaps"), MakeConfigMap("b"));

  const auto watch = Start("&resourceVersion=" + version);

  EXPECT_EQ(EventSummary(watch->NextEvent()), "ADDED b");
}

TEST_F(WatchTest, WatchWithoutVersionStartsWithTheExistingObjectsByName) {
  Post(Path("configmaps"), MakeConfigMap("b"));
  Post(Path("configmaps"), MakeConfigMap("a"));
  Post(Path("configmaps"), MakeConfigMap("gone"));
  Delete(ConfigMapPath("gone"));
  MergePatch(ConfigMapPath("a"), {{"data", {{"k", "v"}}}});

  const auto watch = Start();
  Post(Path("configmaps"), MakeConfigMap("live"));

  EXPECT_THAT(NextEventSummaries(*watch, 3), ElementsAre("ADDED a", "ADDED b", "ADDED live"));
}

TEST_F(WatchTest, WatchFromVersionZeroStartsWithTheExistingObjects) {
  const JsonResponse created = Post(Path("configmaps"), MakeConfigMap("a"));
  Get(Path("configmaps"));  // version 0 may be stale, but not older than this list

  const auto watch = Start("&resourceVersion=0");
  Post(Path("configmaps"), MakeConfigMap("live"));

  EXPECT_EQ(watch->NextEvent(), json({{"type", "ADDED"}, {"object", created.body}}));
  EXPECT_EQ(EventSummary(watch->NextEvent()), "ADDED live");
}

TEST_F(WatchTest, WatchFromAFutureVersionSendsNoEarlierEvents) {
  const std::string version = Post(Path("configmaps"), MakeConfigMap("a")).resource_version();

  const auto watch = Start("&timeoutSeconds=1&resourceVersion=" + version + "000");
  Post(Path("configmaps"), MakeConfigMap("b"));

  EXPECT_EQ(watch->status(), 200);
  EXPECT_EQ(watch->NextEvent(), nullptr);
}

TEST_F(WatchTest, UpdateWithoutAChangeSendsNoEvent) {
  const JsonResponse created = Post(Path("configmaps"), MakeConfigMap("a"));
  const auto watch = Start("&resourceVersion=" + created.resource_version());

  Put(ConfigMapPath("a"), created.body);
  Post(Path("configmaps"), MakeConfigMap("next"));

  EXPECT_EQ(EventSummary(watch->NextEvent()), "ADDED next");
}

TEST_F(WatchTest, DryRunSendsNoEvent) {
  const auto watch = Start();

  Post(Path("configmaps") + "?dryRun=All", MakeConfigMap("a"));
  Post(Path("configmaps"), MakeConfigMap("next"));

  EXPECT_EQ(EventSummary(watch->NextEvent()), "ADDED next");
}

TEST_F(WatchTest, DeletionWithFinalizersSendsAModifiedEventAndThenADeletedEvent) {
  json object = MakeConfigMap("a");
  object["metadata"]["finalizers"] = {"example.com/one"};
  const std::string version = Post(Path("configmaps"), object).resource_version();

  Delete(ConfigMapPath("a"));
  MergePatch(ConfigMapPath("a"), {{"metadata", {{"finalizers", nullptr}}}});

  const auto watch = Start("&resourceVersion=" + version);
  const json marked = watch->NextEvent();
  EXPECT_EQ(EventSummary(marked), "MODIFIED a");
  EXPECT_TRUE(marked["object"]["metadata"].contains("deletionTimestamp"));
  json deleted = watch->NextEvent();
  EXPECT_EQ(EventSummary(deleted), "DELETED a");
  // The DELETED event has the last stored state, which still has the finalizer: the patch that
  // removes the last finalizer deletes the object and stores nothing.
  deleted["object"]["metadata"]["resourceVersion"] =
      marked["object"]["metadata"]["resourceVersion"];
  EXPECT_EQ(deleted["object"], marked["object"]);
}

TEST_F(WatchTest, EventsOfOtherNamespacesAreNotSent) {
  const auto watch = Start();

  const std::string other_namespace = UniqueName("conformance");
  Post("/api/v1/namespaces", {{"metadata", {{"name", other_namespace}}}});
  Post("/api/v1/namespaces/" + other_namespace + "/configmaps", MakeConfigMap("theirs"));
  Post(Path("configmaps"), MakeConfigMap("ours"));

  EXPECT_EQ(EventSummary(watch->NextEvent()), "ADDED ours");
}

TEST_F(WatchTest, PathWithoutNamespaceWatchesAllNamespaces) {
  const std::string test = UniqueName("test");
  const auto labelled = [&](const std::string& name) {
    return json{{"metadata", {{"name", name}, {"labels", {{"test", test}}}}}};
  };
  const std::string other_namespace = UniqueName("conformance");
  Post("/api/v1/namespaces", {{"metadata", {{"name", other_namespace}}}});

  const auto watch = StartWatch("/api/v1/configmaps?watch=true&labelSelector=test%3D" + test);
  Post("/api/v1/namespaces/" + other_namespace + "/configmaps", labelled("theirs"));
  Post(Path("configmaps"), labelled("ours"));

  EXPECT_THAT(NextEventSummaries(*watch, 2), ElementsAre("ADDED theirs", "ADDED ours"));
}

TEST_F(WatchTest, NamespaceCanBeWatchedBeforeItExists) {
  const std::string later = UniqueName("conformance");
  const auto watch = StartWatch("/api/v1/namespaces/" + later + "/configmaps?watch=true");

  Post("/api/v1/namespaces", {{"metadata", {{"name", later}}}});
  Post("/api/v1/namespaces/" + later + "/configmaps", MakeConfigMap("a"));

  EXPECT_EQ(watch->status(), 200);
  EXPECT_EQ(EventSummary(watch->NextEvent()), "ADDED a");
}

TEST_F(WatchTest, TimeoutSecondsEndsTheWatch) {
  const auto watch = Start("&timeoutSeconds=1");

  EXPECT_TRUE(watch->WaitForEnd());
}

TEST_F(WatchTest, BookmarkBeforeTheTimeoutHasTheNewestVersion) {
  std::string version = Post(Path("configmaps"), MakeConfigMap("a")).resource_version();
  const auto watch = Start("&allowWatchBookmarks=true&timeoutSeconds=5&resourceVersion=" + version);

  // A real kube-apiserver sends no bookmark if nothing has changed for a while.
  json event;
  std::string last_seen = version;
  for (int i = 0;; ++i) {
    std::this_thread::sleep_for(50ms);
    version =
        MergePatch(ConfigMapPath("a"), {{"data", {{"k", std::to_string(i)}}}}).resource_version();
    event = watch->NextEvent();
    if (event.is_null() || event["type"] == "BOOKMARK") break;
    last_seen = event["object"]["metadata"]["resourceVersion"];
  }

  // The bookmark may have the version of a later write to another kind.
  version = Post(Path("configmaps"), MakeConfigMap("b")).resource_version();
  ASSERT_EQ(event["type"], "BOOKMARK");
  json& metadata = event["object"]["metadata"];
  EXPECT_GE(std::stoull(metadata["resourceVersion"].get<std::string>()), std::stoull(last_seen));
  EXPECT_LE(std::stoull(metadata["resourceVersion"].get<std::string>()), std::stoull(version));
  metadata.erase("resourceVersion");
  EXPECT_EQ(event["object"],
            json({{"kind", "ConfigMap"}, {"apiVersion", "v1"}, {"metadata", json::object()}}));
}

TEST_F(WatchTest, WatchWithoutVersionSendsABookmarkAfterTheInitialEvents) {
  Post(Path("configmaps"), MakeConfigMap("a"));
  const auto watch = Start("&allowWatchBookmarks=true");

  EXPECT_EQ(EventSummary(watch->NextEvent()), "ADDED a");
  json bookmark = watch->NextEvent();
  EXPECT_EQ(bookmark["type"], "BOOKMARK");
  EXPECT_EQ(bookmark["object"]["metadata"]["annotations"],
            json({{"k8s.io/initial-events-end", "true"}}));
  EXPECT_THAT(bookmark["object"]["metadata"]["resourceVersion"].get<std::string>(),
              MatchesRegex("[1-9][0-9]*"));
}

TEST_F(WatchTest, WatchParameterIsIgnoredForASingleObject) {
  const JsonResponse created = Post(Path("configmaps"), MakeConfigMap("a"));

  EXPECT_EQ(Get(ConfigMapPath("a") + "?watch=true").body, created.body);
}

TEST_F(WatchTest, DeprecatedWatchPathWatchesACollection) {
  Post(Path("configmaps"), MakeConfigMap("a"));

  const auto watch = StartWatch("/api/v1/watch/namespaces/" + ns() + "/configmaps");
  Post(Path("configmaps"), MakeConfigMap("live"));

  EXPECT_THAT(NextEventSummaries(*watch, 2), ElementsAre("ADDED a", "ADDED live"));
}

TEST_F(WatchTest, DeprecatedWatchPathWatchesOneObject) {
  Post(Path("configmaps"), MakeConfigMap("a"));
  Post(Path("configmaps"), MakeConfigMap("b"));

  const auto watch = StartWatch("/api/v1/watch/namespaces/" + ns() + "/configmaps/b");
  Delete(ConfigMapPath("a"));
  Delete(ConfigMapPath("b"));

  EXPECT_THAT(NextEventSummaries(*watch, 2), ElementsAre("ADDED b", "DELETED b"));
}

TEST_F(WatchTest, DeprecatedWatchPathWatchesOneNamespace) {
  const auto watch = StartWatch("/api/v1/watch/namespaces/" + ns());

  EXPECT_EQ(EventSummary(watch->NextEvent()), "ADDED " + ns());
}

}  // namespace
}  // namespace kopp::conformance
