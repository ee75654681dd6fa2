#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/serving/liveness.hpp>
#include <kopp/testing/fake_clock.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Optional;
using QueueSnapshot = workqueue::Snapshot<ObjectKey>;

TEST(StuckWorkerCheckTest, FailsAndNamesTheItemIfAReconcileRunsLongerThanTheLimit) {
  std::optional<RunningItem> running;
  const HealthCheck check = StuckWorkerCheck(
      "foo", [&] { return running; }, 10min);

  EXPECT_EQ(check(), std::nullopt);
  running = RunningItem{"default/web", 10min};
  EXPECT_EQ(check(), std::nullopt);
  running->running_for += 1s;
  EXPECT_EQ(
      check(),
      "controller foo: the reconcile of default/web has been running for 601 s (limit: 600 s)");
}

TEST(StuckWorkerCheckTest, LongestRunningIsTheItemThatWasTakenFirst) {
  const TimePoint now = TimePoint{} + 1h;
  QueueSnapshot snapshot;
  EXPECT_FALSE(LongestRunning(snapshot, now));

  snapshot.processing = {{.item = {"a", "late"}, .at = now - 1s},
                         {.item = {"a", "untracked"}},
                         {.item = {"a", "early"}, .at = now - 5s},
                         {.item = {"a", "middle"}, .at = now - 3s}};

  const auto longest = LongestRunning(snapshot, now);
  ASSERT_TRUE(longest);
  EXPECT_EQ(longest->item, "a/early");
  EXPECT_EQ(longest->running_for, 5s);
}

class StalledQueueCheckTest : public ::testing::Test {
 protected:
  testing::FakeClock clock_;
  QueueProgress progress_;
  HealthCheck check_ = StalledQueueCheck(
      "foo", [this] { return progress_; }, 60s, clock_);
};

TEST_F(StalledQueueCheckTest, FailsIfItemsAreUnfinishedAndNoReconcileCompletes) {
  progress_ = {.unfinished = 3, .completed = 7};
  EXPECT_EQ(check_(), std::nullopt);
  clock_.Advance(60s);
  EXPECT_EQ(check_(), std::nullopt);
  clock_.Advance(1s);

  EXPECT_EQ(check_(),
            "controller foo: no reconcile was completed for 61 s, and 3 items are unfinished "
            "(limit: 60 s)");
}

TEST_F(StalledQueueCheckTest, PassesWhileReconcilesComplete) {
  progress_.unfinished = 3;
  for (int i = 0; i < 10; ++i) {
    ++progress_.completed;
    EXPECT_EQ(check_(), std::nullopt);
    clock_.Advance(59s);
  }
}

TEST_F(StalledQueueCheckTest, PassesIfTheQueueIsIdle) {
  EXPECT_EQ(check_(), std::nullopt);
  clock_.Advance(24h);

  EXPECT_EQ(check_(), std::nullopt);
}

TEST_F(StalledQueueCheckTest, TimeWithoutWorkDoesNotCount) {
  EXPECT_EQ(check_(), std::nullopt);
  clock_.Advance(24h);
  progress_.unfinished = 1;

  EXPECT_EQ(check_(), std::nullopt);
  clock_.Advance(61s);
  EXPECT_TRUE(check_());
}

TEST_F(StalledQueueCheckTest, PassesAgainAfterProgress) {
  progress_.unfinished = 2;
  EXPECT_EQ(check_(), std::nullopt);
  clock_.Advance(61s);
  EXPECT_TRUE(check_());
  ++progress_.completed;

  EXPECT_EQ(check_(), std::nullopt);
}

TEST(SilentInformerCheckTest, FailsAndNamesTheSyncedInformerWithoutContact) {
  std::vector<informer::InformerStatus> informers(2);
  informers[0] = {.name = "pods", .kind = "Pod", .synced = true, .resource_version_age = 1s};
  informers[1] = {.kind = "Foo", .synced = true, .resource_version_age = 5min};
  const HealthCheck check = SilentInformerCheck([&] { return informers; }, 5min);

  EXPECT_EQ(check(), std::nullopt);
  informers[1].resource_version_age += 1s;
  informers[1].last_error = "connection refused";
  EXPECT_EQ(check(),
            "informer Foo: no contact with the API server for 301 s (limit: 300 s), last error: "
            "connection refused");
  informers[0].resource_version_age = 1h;
  EXPECT_THAT(check(),
              Optional(AllOf(HasSubstr("informer pods: "), HasSubstr("; informer Foo: "))));
}

TEST(SilentInformerCheckTest, InformerThatRetriesAFailedRequestPasses) {
  const HealthCheck check = SilentInformerCheck(
      [] {
        return std::vector<informer::InformerStatus>{
            {.kind = "Foo", .synced = true, .resource_version_age = 1h, .consecutive_failures = 1}};
      },
      5min);

  EXPECT_EQ(check(), std::nullopt);
}

TEST(SilentInformerCheckTest, InformerThatHasNotSyncedPasses) {
  const HealthCheck check = SilentInformerCheck(
      [] {
        return std::vector<informer::InformerStatus>{
            {.kind = "Foo", .synced = false, .resource_version_age = 1h}};
      },
      5min);

  EXPECT_EQ(check(), std::nullopt);
}

TEST(BlockedLogCheckTest, FailsIfALineWaitsLongerThanTheLimit) {
  Duration age{};
  const HealthCheck check = BlockedLogCheck([&] { return age; }, 30s);

  EXPECT_EQ(check(), std::nullopt);
  age = 31s;
  EXPECT_EQ(check(), "the log is blocked: a line has been waiting for 31 s (limit: 30 s)");
}

}  // namespace
}  // namespace kopp
