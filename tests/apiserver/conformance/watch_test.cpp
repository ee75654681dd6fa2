#include "conformance.hpp"

#include <string>
#include <thread>
#include <vector>

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::MatchesRegex;

class WatchTest : public ConformanceTest {
 protected:
  /// A watch of this namespace's ConfigMaps; `query` is "&name=value" any number of times.
  std::unique_ptr<Watch> Start(const std::string& query = "") {
    return StartWatch(Path("configmaps") + "?watch=true" + query);
  }
  std::string Named(const std::string& name) { return Path("configmaps") + "/" + name; }
};

/// "ADDED a"
std::string Brief(const json& event) {
  if (event.is_null()) return "nothing";
  const json& object = event["object"];
  return event["type"].get<std::string>() + " " + object["metadata"].value("name", "");
}

std::vector<std::string> NextBriefs(Watch& watch, int n) {
  std::vector<std::string> briefs;
  for (int i = 0; i < n; ++i) briefs.push_back(Brief(watch.Next()));
  return briefs;
}

TEST_F(WatchTest, EachChangeIsToldWithTheObjectAsTheWriterGotIt) {
  const auto watch = Start();

  const Answer made = Post(Path("configmaps"), AConfigMap("a"));
  const Answer changed = MergePatch(Named("a"), {{"data", {{"k", "v"}}}});

  EXPECT_EQ(watch->Next(), json({{"type", "ADDED"}, {"object", made.body}}));
  EXPECT_EQ(watch->Next(), json({{"type", "MODIFIED"}, {"object", changed.body}}));
}

TEST_F(WatchTest, ADeletedObjectComesAsItWasWithTheVersionOfItsDeletion) {
  const Answer made = Post(Path("configmaps"), AConfigMap("a"));
  const auto watch = Start("&resourceVersion=" + made.version());

  Delete(Named("a"));

  json event = watch->Next();
  EXPECT_EQ(event["type"], "DELETED");
  const std::string version = event["object"]["metadata"]["resourceVersion"];
  EXPECT_GT(std::stoull(version), std::stoull(made.version()));
  event["object"]["metadata"]["resourceVersion"] = made.version();
  EXPECT_EQ(event["object"], made.body);
}

TEST_F(WatchTest, FromAVersionOnItTellsWhatHappenedSince) {
  const std::string version = Post(Path("configmaps"), AConfigMap("a")).version();
  Post(Path("configmaps"), AConfigMap("c"));
  Post(Path("configmaps"), AConfigMap("b"));
  MergePatch(Named("c"), {{"data", {{"k", "v"}}}});
  Delete(Named("a"));

  const auto watch = Start("&resourceVersion=" + version);

  EXPECT_THAT(NextBriefs(*watch, 4), ElementsAre("ADDED c", "ADDED b", "MODIFIED c", "DELETED a"));
}

TEST_F(WatchTest, FromTheVersionOfAListItTellsWhatTheListHasNot) {
  Post(Path("configmaps"), AConfigMap("a"));
  const std::string version = Get(Path("configmaps")).version();
  Post(Path("configmaps"), AConfigMap("b"));

  const auto watch = Start("&resourceVersion=" + version);

  EXPECT_EQ(Brief(watch->Next()), "ADDED b");
}

TEST_F(WatchTest, WithoutAVersionWhatIsThereComesFirstByName) {
  Post(Path("configmaps"), AConfigMap("b"));
  Post(Path("configmaps"), AConfigMap("a"));
  Post(Path("configmaps"), AConfigMap("gone"));
  Delete(Named("gone"));
  MergePatch(Named("a"), {{"data", {{"k", "v"}}}});

  const auto watch = Start();
  Post(Path("configmaps"), AConfigMap("live"));

  EXPECT_THAT(NextBriefs(*watch, 3), ElementsAre("ADDED a", "ADDED b", "ADDED live"));
}

TEST_F(WatchTest, FromVersionZeroWhatIsThereComesFirst) {
  const Answer made = Post(Path("configmaps"), AConfigMap("a"));
  Get(Path("configmaps"));  // version 0 may be old: it is at least what a list has shown

  const auto watch = Start("&resourceVersion=0");
  Post(Path("configmaps"), AConfigMap("live"));

  EXPECT_EQ(watch->Next(), json({{"type", "ADDED"}, {"object", made.body}}));
  EXPECT_EQ(Brief(watch->Next()), "ADDED live");
}

TEST_F(WatchTest, AVersionOfTheFutureIsWaitedFor) {
  const std::string version = Post(Path("configmaps"), AConfigMap("a")).version();

  const auto watch = Start("&timeoutSeconds=1&resourceVersion=" + version + "000");
  Post(Path("configmaps"), AConfigMap("b"));

  EXPECT_EQ(watch->status(), 200);
  EXPECT_EQ(watch->Next(), nullptr);
}

TEST_F(WatchTest, AnUpdateThatChangesNothingIsNoEvent) {
  const Answer made = Post(Path("configmaps"), AConfigMap("a"));
  const auto watch = Start("&resourceVersion=" + made.version());

  Put(Named("a"), made.body);
  Post(Path("configmaps"), AConfigMap("next"));

  EXPECT_EQ(Brief(watch->Next()), "ADDED next");
}

TEST_F(WatchTest, ADryRunIsNoEvent) {
  const auto watch = Start();

  Post(Path("configmaps") + "?dryRun=All", AConfigMap("a"));
  Post(Path("configmaps"), AConfigMap("next"));

  EXPECT_EQ(Brief(watch->Next()), "ADDED next");
}

TEST_F(WatchTest, ADeletionThatWaitsForFinalizersIsAChangeAtFirst) {
  json object = AConfigMap("a");
  object["metadata"]["finalizers"] = {"example.com/one"};
  const std::string version = Post(Path("configmaps"), object).version();

  Delete(Named("a"));
  MergePatch(Named("a"), {{"metadata", {{"finalizers", nullptr}}}});

  const auto watch = Start("&resourceVersion=" + version);
  const json marked = watch->Next();
  EXPECT_EQ(Brief(marked), "MODIFIED a");
  EXPECT_TRUE(marked["object"]["metadata"].contains("deletionTimestamp"));
  json deleted = watch->Next();
  EXPECT_EQ(Brief(deleted), "DELETED a");
  // The last state is the one that had the finalizer: what took it away was the deletion itself.
  deleted["object"]["metadata"]["resourceVersion"] =
      marked["object"]["metadata"]["resourceVersion"];
  EXPECT_EQ(deleted["object"], marked["object"]);
}

TEST_F(WatchTest, OtherNamespacesAreNotToldOf) {
  const auto watch = Start();

  const std::string other = Unique("conformance");
  Post("/api/v1/namespaces", {{"metadata", {{"name", other}}}});
  Post("/api/v1/namespaces/" + other + "/configmaps", AConfigMap("theirs"));
  Post(Path("configmaps"), AConfigMap("ours"));

  EXPECT_EQ(Brief(watch->Next()), "ADDED ours");
}

TEST_F(WatchTest, AllNamespacesAreWatchedByThePathWithoutOne) {
  const std::string test = Unique("test");
  const auto labelled = [&](const std::string& name) {
    return json{{"metadata", {{"name", name}, {"labels", {{"test", test}}}}}};
  };
  const std::string other = Unique("conformance");
  Post("/api/v1/namespaces", {{"metadata", {{"name", other}}}});

  const auto watch = StartWatch("/api/v1/configmaps?watch=true&labelSelector=test%3D" + test);
  Post("/api/v1/namespaces/" + other + "/configmaps", labelled("theirs"));
  Post(Path("configmaps"), labelled("ours"));

  EXPECT_THAT(NextBriefs(*watch, 2), ElementsAre("ADDED theirs", "ADDED ours"));
}

TEST_F(WatchTest, ANamespaceThatIsNotThereYetCanBeWatched) {
  const std::string later = Unique("conformance");
  const auto watch = StartWatch("/api/v1/namespaces/" + later + "/configmaps?watch=true");

  Post("/api/v1/namespaces", {{"metadata", {{"name", later}}}});
  Post("/api/v1/namespaces/" + later + "/configmaps", AConfigMap("a"));

  EXPECT_EQ(watch->status(), 200);
  EXPECT_EQ(Brief(watch->Next()), "ADDED a");
}

TEST_F(WatchTest, TimeoutSecondsEndsIt) {
  const auto watch = Start("&timeoutSeconds=1");

  EXPECT_TRUE(watch->Ends());
}

TEST_F(WatchTest, BeforeItsTimeIsUpABookmarkTellsTheNewestVersion) {
  std::string version = Post(Path("configmaps"), AConfigMap("a")).version();
  const auto watch = Start("&allowWatchBookmarks=true&timeoutSeconds=5&resourceVersion=" + version);

  // The real server leaves the bookmark out where nothing has happened for a while.
  json event;
  std::string told = version;
  for (int i = 0;; ++i) {
    std::this_thread::sleep_for(50ms);
    version = MergePatch(Named("a"), {{"data", {{"k", std::to_string(i)}}}}).version();
    event = watch->Next();
    if (event.is_null() || event["type"] == "BOOKMARK") break;
    told = event["object"]["metadata"]["resourceVersion"];
  }

  ASSERT_EQ(event["type"], "BOOKMARK");
  json& metadata = event["object"]["metadata"];
  EXPECT_GE(std::stoull(metadata["resourceVersion"].get<std::string>()), std::stoull(told));
  EXPECT_LE(std::stoull(metadata["resourceVersion"].get<std::string>()), std::stoull(version));
  metadata.erase("resourceVersion");
  EXPECT_EQ(event["object"],
            json({{"kind", "ConfigMap"}, {"apiVersion", "v1"}, {"metadata", json::object()}}));
}

TEST_F(WatchTest, WithoutAVersionABookmarkEndsWhatWasThere) {
  Post(Path("configmaps"), AConfigMap("a"));
  const auto watch = Start("&allowWatchBookmarks=true");

  EXPECT_EQ(Brief(watch->Next()), "ADDED a");
  json bookmark = watch->Next();
  EXPECT_EQ(bookmark["type"], "BOOKMARK");
  EXPECT_EQ(bookmark["object"]["metadata"]["annotations"],
            json({{"k8s.io/initial-events-end", "true"}}));
  EXPECT_THAT(bookmark["object"]["metadata"]["resourceVersion"].get<std::string>(),
              MatchesRegex("[1-9][0-9]*"));
}

TEST_F(WatchTest, ThePathOfOneObjectAnswersWithTheObject) {
  const Answer made = Post(Path("configmaps"), AConfigMap("a"));

  EXPECT_EQ(Get(Named("a") + "?watch=true").body, made.body);
}

TEST_F(WatchTest, TheOldPrefixWatchesACollection) {
  Post(Path("configmaps"), AConfigMap("a"));

  const auto watch = StartWatch("/api/v1/watch/namespaces/" + ns() + "/configmaps");
  Post(Path("configmaps"), AConfigMap("live"));

  EXPECT_THAT(NextBriefs(*watch, 2), ElementsAre("ADDED a", "ADDED live"));
}

TEST_F(WatchTest, TheOldPrefixWatchesOneObject) {
  Post(Path("configmaps"), AConfigMap("a"));
  Post(Path("configmaps"), AConfigMap("b"));

  const auto watch = StartWatch("/api/v1/watch/namespaces/" + ns() + "/configmaps/b");
  Delete(Named("a"));
  Delete(Named("b"));

  EXPECT_THAT(NextBriefs(*watch, 2), ElementsAre("ADDED b", "DELETED b"));
}

TEST_F(WatchTest, TheOldPrefixWatchesOneNamespace) {
  const auto watch = StartWatch("/api/v1/watch/namespaces/" + ns());

  EXPECT_EQ(Brief(watch->Next()), "ADDED " + ns());
}

}  // namespace
}  // namespace kopp::conformance
