#include "conformance.hpp"

#include <string>

namespace kopp::conformance {
namespace {

/// Fixture of tests of watches with selectors. The history has one ConfigMap whose label x changes
/// from 1 to 2 and back to 1, and which is then deleted.
class WatchSelectorsTest : public ConformanceTest {
 protected:
  void SetUp() override {
    created_ = Post(Path("configmaps"), {{"metadata", {{"name", "a"}, {"labels", {{"x", "1"}}}}},
                                         {"data", {{"k", "1"}}}});
    label_changed_ = MergePatch(Path("configmaps") + "/a",
                                {{"metadata", {{"labels", {{"x", "2"}}}}}, {"data", {{"k", "2"}}}});
    label_restored_ =
        MergePatch(Path("configmaps") + "/a", {{"metadata", {{"labels", {{"x", "1"}}}}}});
    Delete(Path("configmaps") + "/a");
  }

  /// Watches from the version in which the object was created.
  std::unique_ptr<Watch> Start(const std::string& query) {
    return StartWatch(Path("configmaps") +
                      "?watch=true&resourceVersion=" + created_.resource_version() + query);
  }

  JsonResponse created_{};
  JsonResponse label_changed_{};
  JsonResponse label_restored_{};
};

json WithVersion(json object, const std::string& version) {
  object["metadata"]["resourceVersion"] = version;
  return object;
}

TEST_F(WatchSelectorsTest, ObjectThatStopsMatchingIsReportedAsDeletedInItsLastMatchingState) {
  const auto watch = Start("&labelSelector=x%3D1");

  EXPECT_EQ(watch->NextEvent(),
            json({{"type", "DELETED"},
                  {"object", WithVersion(created_.body, label_changed_.resource_version())}}));
}

TEST_F(WatchSelectorsTest, ObjectThatStartsToMatchIsReportedAsAdded) {
  const auto watch = Start("&labelSelector=x%3D2");

  EXPECT_EQ(watch->NextEvent(), json({{"type", "ADDED"}, {"object", label_changed_.body}}));
}

TEST_F(WatchSelectorsTest, ObjectThatMatchesAgainIsReportedAsAddedAgain) {
  const auto watch = Start("&labelSelector=x%3D1");
  watch->NextEvent();

  EXPECT_EQ(watch->NextEvent(), json({{"type", "ADDED"}, {"object", label_restored_.body}}));
  EXPECT_EQ(watch->NextEvent()["type"], "DELETED");
}

TEST_F(WatchSelectorsTest, DeletionOfANonMatchingObjectIsNotReported) {
  const auto watch = Start("&labelSelector=x%3D2");
  Post(Path("configmaps"), {{"metadata", {{"name", "next"}, {"labels", {{"x", "2"}}}}}});

  EXPECT_EQ(watch->NextEvent()["type"], "ADDED");
  EXPECT_EQ(watch->NextEvent()["type"], "DELETED");
  EXPECT_EQ(watch->NextEvent()["object"]["metadata"]["name"], "next");
}

TEST_F(WatchSelectorsTest, LabelSelectorFiltersTheInitialEvents) {
  Post(Path("configmaps"), MakeConfigMap("b"));
  Post(Path("configmaps"), {{"metadata", {{"name", "c"}, {"labels", {{"x", "3"}}}}}});

  const auto watch = StartWatch(Path("configmaps") + "?watch=true&labelSelector=x+in+(3,4)");

  EXPECT_EQ(watch->NextEvent()["object"]["metadata"]["name"], "c");
}

TEST_F(WatchSelectorsTest, FieldSelectorByNameFiltersEvents) {
  const auto watch = Start("&fieldSelector=metadata.name%3Db");
  Post(Path("configmaps"), MakeConfigMap("c"));
  Post(Path("configmaps"), MakeConfigMap("b"));

  EXPECT_EQ(watch->NextEvent()["object"]["metadata"]["name"], "b");
}

TEST_F(WatchSelectorsTest, FieldSelectorCanExcludeAName) {
  const auto watch = Start("&fieldSelector=metadata.name%21%3Da,metadata.namespace%3D" + ns());
  Post(Path("configmaps"), MakeConfigMap("b"));

  EXPECT_EQ(watch->NextEvent()["object"]["metadata"]["name"], "b");
}

TEST_F(WatchSelectorsTest, PodThatLeavesTheSelectedPhaseIsReportedAsDeleted) {
  const std::string pod = PodsPath() + "/a";
  const std::string version = Post(PodsPath(), MakePod("a")).resource_version();
  const JsonResponse running = MergePatch(pod + "/status", {{"status", {{"phase", "Running"}}}});
  const JsonResponse done = MergePatch(pod + "/status", {{"status", {{"phase", "Succeeded"}}}});

  const auto watch = StartWatch(PodsPath() + "?watch=true&fieldSelector=status.phase%3DRunning" +
                                "&resourceVersion=" + version);

  EXPECT_EQ(watch->NextEvent(), json({{"type", "ADDED"}, {"object", running.body}}));
  EXPECT_EQ(
      watch->NextEvent(),
      json({{"type", "DELETED"}, {"object", WithVersion(running.body, done.resource_version())}}));
}

}  // namespace
}  // namespace kopp::conformance
