#include "controller/controller_impl.hpp"
#include "controller/controller_queue.hpp"
#include "manager_fixture.hpp"

#include <algorithm>
#include <chrono>
#include <latch>
#include <memory>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/controller/reason.hpp>
#include <kopp/kinds.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

informer::AnyObject PodOf(const std::string& name, const std::string& version) {
  Pod pod;
  pod.metadata.ns = "shop";
  pod.metadata.name = name;
  pod.metadata.resourceVersion = version;
  return std::make_shared<const Pod>(pod);
}

TEST(ReasonTest, TheReasonOfAnEventNamesTheObjectTheChangeAndItsVersions) {
  using Type = informer::KeyEvent::Type;
  const auto before = PodOf("web", "41");
  const auto after = PodOf("web", "57");
  const auto text = [](const informer::KeyEvent& event) {
    return ReasonOf("Pod", event).ToString();
  };

  EXPECT_EQ(text({.object = after}), "Pod shop/web added");
  EXPECT_EQ(text({.object = after, .in_initial_list = true}), "Pod shop/web existed at the start");
  EXPECT_EQ(text({.type = Type::kUpdate, .object = after, .before = &before}),
            "Pod shop/web updated (41 -> 57)");
  EXPECT_EQ(text({.type = Type::kUpdate, .object = after, .before = &after}),
            "Pod shop/web resync");
  EXPECT_EQ(text({.type = Type::kDelete, .object = after}), "Pod shop/web deleted");
}

TEST(ReasonsTest, UpdatesOfOneObjectAreOneReasonFromTheOldestToTheNewestVersion) {
  Reasons reasons;
  for (int version = 41; version < 44; ++version) {
    reasons.Add({.type = Reason::Type::kUpdated,
                 .source = "Pod",
                 .object = {"shop", "web"},
                 .old_version = std::to_string(version),
                 .new_version = std::to_string(version + 1)});
  }
  reasons.Add({.type = Reason::Type::kRetry});

  EXPECT_EQ(reasons.ToString(), "Pod shop/web updated 3 times (41 -> 44); retry");
}

TEST(ReasonsTest, MoreThanEightDifferentReasonsAreCounted) {
  Reasons reasons;
  Reasons later;
  for (int i = 0; i < 10; ++i) reasons.Add({.source = "s" + std::to_string(i)});
  for (int i = 8; i < 20; ++i) later.Add({.source = "s" + std::to_string(i)});

  reasons.Add(std::move(later));

  EXPECT_EQ(reasons.list().size(), Reasons::kMax);
  EXPECT_EQ(reasons.more(), 14);
  EXPECT_THAT(reasons.ToString(), HasSubstr("s7 event; and 14 more"));
}

class ReasonsOfControllerTest : public ManagerTest {};

TEST_F(ReasonsOfControllerTest, ThreeEventsWhileAKeyWaitsAreOneReconcileWithThreeReasons) {
  SetPods({PodJson("a")});
  std::latch events_sent{1};
  auto builder = manager_.AddController<Pod>({.reasons = true});
  const EventQueue queue = builder.controller().EventsOf("channel");
  builder.Reconcile([&](const ObjectKey&, Context& context) {
    RecordCall(context.reasons.ToString());
    events_sent.wait();
    return Result{};
  });
  Start();
  AwaitCalls(1);

  queue.Add({"ns", "a"});
  queue.Add({"ns", "a"}, Reason::Type::kTimer);
  queue.Add({"ns", "a"}, {.type = Reason::Type::kDeleted, .source = "Bucket", .object = {"", "b"}});
  events_sent.count_down();

  EXPECT_THAT(AwaitCalls(2), ElementsAre("Pod ns/a existed at the start",
                                         "channel event; channel timer; Bucket b deleted"));
  Stop();
}

TEST_F(ReasonsOfControllerTest, AnUpdateARetryAndARequeueAreReasons) {
  SetPods({PodJson("a")});
  int calls = 0;
  Controller& controller = manager_.AddController<Pod>({.reasons = true})
                               .Reconcile([&](const ObjectKey&, Context& context) -> Result {
                                 RecordCall(context.reasons.ToString());
                                 if (++calls == 1) throw std::runtime_error("try again");
                                 return {.requeue_after = calls == 2 ? Duration(1s) : 0s};
                               });
  Start();
  AdvanceUntilCalls(controller, 3, 500ms);

  std::string changed = PodJson("a");
  changed.replace(changed.find(R"("5")"), 3, R"("6")");
  SendPodEvent("MODIFIED", changed);

  EXPECT_THAT(AwaitCalls(4), ElementsAre("Pod ns/a existed at the start", "retry", "requeue_after",
                                         "Pod ns/a updated (5 -> 6)"));
  Stop();
}

TEST_F(ReasonsOfControllerTest, ThePassedMaximumIntervalIsAReason) {
  SetPods({PodJson("a")});
  manager_.AddController<Pod>({.max_interval = 100s, .reasons = true})
      .Reconcile([&](const ObjectKey&, Context& context) {
        RecordCall(context.reasons.ToString());
        return Result{};
      });
  const auto is_recorded = [this] {
    return std::ranges::any_of(AwaitCalls(1), [](const std::string& reasons) {
      return reasons.find("max_interval") != std::string::npos;
    });
  };
  Start();

  // The clock can run ahead of the reconcile, so that a resync comes first: wait for the reason.
  while (!is_recorded()) {
    AwaitIdle();
    clock_.Advance(10s);
  }

  Stop();
}

TEST_F(ReasonsOfControllerTest, TheRemovalOfThePauseAnnotationIsAReason) {
  manager_.AddController<Pod>({.pause_annotation = "example.com/paused", .reasons = true})
      .Where(GenerationChanged() && ResourceVersionChanged())  // ignores the removal
      .Reconcile([&](const ObjectKey&, Context& context) {
        RecordCall(context.reasons.ToString());
        return Result{};
      });
  Start();
  transport_->Await("WATCH", kPods);
  SendPodEvent("ADDED", PodJson("a", R"(,"annotations":{"example.com/paused":"true"})"));
  SendPodEvent("ADDED", PodJson("b"));
  AwaitCalls(1);

  SendPodEvent("MODIFIED", PodJson("a"));

  EXPECT_THAT(AwaitCalls(2), ElementsAre("Pod ns/b added", "Pod resumed"));
  Stop();
}

TEST_F(ReasonsOfControllerTest, ASnapshotOfTheQueueShowsTheReasons) {
  auto builder = manager_.AddController<Pod>({.reasons = true});
  builder.Reconcile([](const ObjectKey&, Context&) { return Result{}; });
  builder.controller().EventsOf("channel").Add({"ns", "a"});

  const auto snapshot = Controller::Impl::Of(builder.controller()).queue().TakeSnapshot();

  EXPECT_EQ(snapshot.ready.at(0).payload.reasons.ToString(), "channel event");
}

TEST_F(ReasonsOfControllerTest, WithoutTheOptionThereAreNoReasons) {
  SetPods({PodJson("a")});
  manager_.AddController<Pod>().Reconcile([&](const ObjectKey&, Context& context) {
    RecordCall(context.reasons.ToString());
    return Result{};
  });
  Start();

  EXPECT_THAT(AwaitCalls(1), ElementsAre(""));
  Stop();
}

}  // namespace
}  // namespace kopp
