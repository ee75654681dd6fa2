#include "conformance.hpp"

namespace kopp::conformance {
namespace {

/// Fixture of tests of the deletion of Pods. A Pod that is scheduled to a node has a grace period,
/// during which the kubelet stops it.
class PodDeleteTest : public ConformanceTest {
 protected:
  void Create(const json& spec, const json& metadata = json::object()) {
    json pod = MakePod("a");
    pod["spec"].update(spec);
    pod["metadata"].update(metadata);
    const JsonResponse created = Post(PodsPath(), pod);
    EXPECT_EQ(created.status, 201) << created.text;
  }
  std::string PodPath() { return Path("pods") + "/a"; }

  const json scheduled_ = {{"nodeName", "n1"}};
};

TEST_F(PodDeleteTest, UnscheduledPodIsDeletedImmediately) {
  Create(json::object());
  const JsonResponse deleted = Delete(PodPath());

  EXPECT_EQ(deleted.status, 200);
  EXPECT_EQ(deleted.str("/kind"), "Pod");
  EXPECT_EQ(deleted.at("/metadata/deletionGracePeriodSeconds"), 0);
  EXPECT_EQ(Get(PodPath()).status, 404);
}

TEST_F(PodDeleteTest, ScheduledPodRemainsForItsGracePeriod) {
  Create(scheduled_);
  const JsonResponse deleted = Delete(PodPath());

  EXPECT_EQ(deleted.status, 200);
  EXPECT_EQ(deleted.at("/metadata/deletionGracePeriodSeconds"), 30);
  EXPECT_NE(deleted.str("/metadata/deletionTimestamp"), "");
  EXPECT_EQ(deleted.at("/metadata/generation"), 2);
  EXPECT_EQ(deleted.body, Get(PodPath()).body);
}

TEST_F(PodDeleteTest, GracePeriodDefaultsToTerminationGracePeriodSeconds) {
  Create({{"nodeName", "n1"}, {"terminationGracePeriodSeconds", 7}});

  EXPECT_EQ(Delete(PodPath()).at("/metadata/deletionGracePeriodSeconds"), 7);
}

TEST_F(PodDeleteTest, DeletionTimestampIsAheadByTheGracePeriod) {
  Create({{"nodeName", "n1"}, {"terminationGracePeriodSeconds", 100'000'000}});

  // The grace period is three years and two months, so the two years always differ.
  EXPECT_GT(Delete(PodPath()).str("/metadata/deletionTimestamp").substr(0, 4),
            Get("/api/v1/namespaces/" + ns()).str("/metadata/creationTimestamp").substr(0, 4));
}

TEST_F(PodDeleteTest, GracePeriodInTheQueryIsUsed) {
  Create(scheduled_);

  EXPECT_EQ(Delete(PodPath() + "?gracePeriodSeconds=5").at("/metadata/deletionGracePeriodSeconds"),
            5);
}

TEST_F(PodDeleteTest, NegativeGracePeriodBecomesOneSecond) {
  Create(scheduled_);

  EXPECT_EQ(
      Delete(PodPath(), {{"gracePeriodSeconds", -3}}).at("/metadata/deletionGracePeriodSeconds"),
      1);
}

TEST_F(PodDeleteTest, NonNumericGracePeriodIsABadRequest) {
  Create(scheduled_);
  const JsonResponse deleted = Delete(PodPath() + "?gracePeriodSeconds=x");

  EXPECT_EQ(deleted.status, 400);
  EXPECT_EQ(deleted.message(), R"(strconv.ParseInt: parsing "x": invalid syntax)");
}

TEST_F(PodDeleteTest, SecondDeleteCanShortenTheGracePeriod) {
  Create(scheduled_);
  Delete(PodPath());

  EXPECT_EQ(
      Delete(PodPath(), {{"gracePeriodSeconds", 5}}).at("/metadata/deletionGracePeriodSeconds"), 5);
}

TEST_F(PodDeleteTest, SecondDeleteCannotExtendTheGracePeriod) {
  Create(scheduled_);
  const JsonResponse first = Delete(PodPath());

  EXPECT_EQ(Delete(PodPath(), {{"gracePeriodSeconds", 40}}).body, first.body);
}

TEST_F(PodDeleteTest, SecondDeleteWithoutAGracePeriodKeepsALongerOne) {
  Create(scheduled_);
  const JsonResponse first = Delete(PodPath(), {{"gracePeriodSeconds", 60}});
  EXPECT_EQ(first.at("/metadata/deletionGracePeriodSeconds"), 60);

  EXPECT_EQ(Delete(PodPath()).body, first.body);
}

TEST_F(PodDeleteTest, SecondDeleteKeepsTheGracePeriodOfAPodThatHasSucceededMeanwhile) {
  Create(scheduled_);
  Delete(PodPath());
  const JsonResponse succeeded =
      MergePatch(PodPath() + "/status", {{"status", {{"phase", "Succeeded"}}}});

  EXPECT_EQ(Delete(PodPath()).body, succeeded.body);
}

TEST_F(PodDeleteTest, SecondDeleteWithANegativeGracePeriodKeepsOneSecond) {
  Create(scheduled_, {{"finalizers", {"example.com/x"}}});
  const JsonResponse first = Delete(PodPath(), {{"gracePeriodSeconds", 1}});

  EXPECT_EQ(Delete(PodPath(), {{"gracePeriodSeconds", -1}}).body, first.body);
}

TEST_F(PodDeleteTest, GracePeriodOfZeroDeletesThePodImmediately) {
  Create(scheduled_);
  Delete(PodPath(), {{"gracePeriodSeconds", 0}});

  EXPECT_EQ(Get(PodPath()).status, 404);
}

TEST_F(PodDeleteTest, SecondDeleteWithAGracePeriodOfZeroDeletesATerminatingPod) {
  Create(scheduled_);
  Delete(PodPath());
  const JsonResponse deleted = Delete(PodPath(), {{"gracePeriodSeconds", 0}});

  EXPECT_EQ(deleted.status, 200);
  EXPECT_EQ(Get(PodPath()).status, 404);
}

TEST_F(PodDeleteTest, SucceededPodIsDeletedImmediately) {
  Create(scheduled_);
  MergePatch(PodPath() + "/status", {{"status", {{"phase", "Succeeded"}}}});
  Delete(PodPath());

  EXPECT_EQ(Get(PodPath()).status, 404);
}

TEST_F(PodDeleteTest, FinalizerKeepsThePodAfterTheGracePeriod) {
  Create(scheduled_, {{"finalizers", {"example.com/x"}}});
  Delete(PodPath());
  const JsonResponse deleted = Delete(PodPath(), {{"gracePeriodSeconds", 0}});
  EXPECT_EQ(deleted.at("/metadata/deletionGracePeriodSeconds"), 0);
  EXPECT_EQ(Get(PodPath()).status, 200);

  MergePatch(PodPath(), {{"metadata", {{"finalizers", nullptr}}}});

  EXPECT_EQ(Get(PodPath()).status, 404);
}

TEST_F(PodDeleteTest, GracePeriodKeepsThePodAfterItsLastFinalizerIsRemoved) {
  Create(scheduled_, {{"finalizers", {"example.com/x"}}});
  Delete(PodPath());
  MergePatch(PodPath(), {{"metadata", {{"finalizers", nullptr}}}});

  const JsonResponse pod = Get(PodPath());
  EXPECT_EQ(pod.status, 200);
  EXPECT_EQ(pod.at("/metadata/deletionGracePeriodSeconds"), 30);
}

}  // namespace
}  // namespace kopp::conformance
