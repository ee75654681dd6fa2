#include "conformance.hpp"

#include <string>

namespace kopp::conformance {
namespace {

/// A ConfigMap whose label x goes from 1 to 2 and back, while its data changes with each write.
class WatchSelectorsTest : public ConformanceTest {
 protected:
  void SetUp() override {
    made_ = Post(Path("configmaps"),
                 {{"metadata", {{"name", "a"}, {"labels", {{"x", "1"}}}}}, {"data", {{"k", "1"}}}});
    left_ = MergePatch(Path("configmaps") + "/a",
                       {{"metadata", {{"labels", {{"x", "2"}}}}}, {"data", {{"k", "2"}}}});
    returned_ = MergePatch(Path("configmaps") + "/a", {{"metadata", {{"labels", {{"x", "1"}}}}}});
    Delete(Path("configmaps") + "/a");
  }

  /// From when the object was there first.
  std::unique_ptr<Watch> Start(const std::string& query) {
    return StartWatch(Path("configmaps") + "?watch=true&resourceVersion=" + made_.version() +
                      query);
  }

  Answer made_{};
  Answer left_{};
  Answer returned_{};
};

json WithVersion(json object, const std::string& version) {
  object["metadata"]["resourceVersion"] = version;
  return object;
}

TEST_F(WatchSelectorsTest, AnObjectThatStopsMatchingIsDeletedAsItLastMatched) {
  const auto watch = Start("&labelSelector=x%3D1");

  EXPECT_EQ(watch->Next(),
            json({{"type", "DELETED"}, {"object", WithVersion(made_.body, left_.version())}}));
}

TEST_F(WatchSelectorsTest, AnObjectThatBeginsToMatchIsAdded) {
  const auto watch = Start("&labelSelector=x%3D2");

  EXPECT_EQ(watch->Next(), json({{"type", "ADDED"}, {"object", left_.body}}));
}

TEST_F(WatchSelectorsTest, AnObjectThatMatchesAgainIsAddedAgain) {
  const auto watch = Start("&labelSelector=x%3D1");
  watch->Next();

  EXPECT_EQ(watch->Next(), json({{"type", "ADDED"}, {"object", returned_.body}}));
  EXPECT_EQ(watch->Next()["type"], "DELETED");
}

TEST_F(WatchSelectorsTest, TheDeletionOfWhatDoesNotMatchIsNotTold) {
  const auto watch = Start("&labelSelector=x%3D2");
  Post(Path("configmaps"), {{"metadata", {{"name", "next"}, {"labels", {{"x", "2"}}}}}});

  EXPECT_EQ(watch->Next()["type"], "ADDED");
  EXPECT_EQ(watch->Next()["type"], "DELETED");
  EXPECT_EQ(watch->Next()["object"]["metadata"]["name"], "next");
}

TEST_F(WatchSelectorsTest, ALabelSelectorChoosesWhatIsThereAtFirst) {
  Post(Path("configmaps"), AConfigMap("b"));
  Post(Path("configmaps"), {{"metadata", {{"name", "c"}, {"labels", {{"x", "3"}}}}}});

  const auto watch = StartWatch(Path("configmaps") + "?watch=true&labelSelector=x+in+(3,4)");

  EXPECT_EQ(watch->Next()["object"]["metadata"]["name"], "c");
}

TEST_F(WatchSelectorsTest, AFieldSelectorChoosesByName) {
  const auto watch = Start("&fieldSelector=metadata.name%3Db");
  Post(Path("configmaps"), AConfigMap("c"));
  Post(Path("configmaps"), AConfigMap("b"));

  EXPECT_EQ(watch->Next()["object"]["metadata"]["name"], "b");
}

TEST_F(WatchSelectorsTest, AFieldSelectorLeavesOutByName) {
  const auto watch = Start("&fieldSelector=metadata.name%21%3Da,metadata.namespace%3D" + ns());
  Post(Path("configmaps"), AConfigMap("b"));

  EXPECT_EQ(watch->Next()["object"]["metadata"]["name"], "b");
}

TEST_F(WatchSelectorsTest, APodThatLeavesThePhaseIsDeletedAsItWasInIt) {
  const std::string pod = Pods() + "/a";
  const std::string version = Post(Pods(), APod("a")).version();
  const Answer running = MergePatch(pod + "/status", {{"status", {{"phase", "Running"}}}});
  const Answer done = MergePatch(pod + "/status", {{"status", {{"phase", "Succeeded"}}}});

  const auto watch = StartWatch(Pods() + "?watch=true&fieldSelector=status.phase%3DRunning" +
                                "&resourceVersion=" + version);

  EXPECT_EQ(watch->Next(), json({{"type", "ADDED"}, {"object", running.body}}));
  EXPECT_EQ(watch->Next(),
            json({{"type", "DELETED"}, {"object", WithVersion(running.body, done.version())}}));
}

}  // namespace
}  // namespace kopp::conformance
