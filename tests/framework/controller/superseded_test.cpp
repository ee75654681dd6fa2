#include "controller/controller_impl.hpp"
#include "controller/controller_queue.hpp"
#include "controller/running_reconciles.hpp"
#include "manager_fixture.hpp"

#include <chrono>
#include <latch>
#include <optional>
#include <semaphore>
#include <stop_token>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/kinds.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

ObjectKey KeyOfA() { return {"ns", "a"}; }

class RunningReconcilesTest : public ::testing::Test {
 protected:
  RunningReconcilesTest() {
    queue_.OnAddedAgain([this](const ObjectKey& key) { running_.OnAddedAgain(key); });
  }
  /// Returns the next key as a worker does.
  ObjectKey Get() { return *queue_.Get(); }

  /// Adds a key because of a newer event.
  void AddChange(const ObjectKey& key) { queue_.Add(key, {.payload = {.has_change = true}}); }

  workqueue::Queue<ObjectKey, QueuedReasons> queue_;
  RunningReconciles running_{queue_};
};

TEST_F(RunningReconcilesTest, AnAddOfTheKeyOfARunStopsOnlyThisRun) {
  const ObjectKey b{"ns", "b"};
  queue_.Add(KeyOfA());
  queue_.Add(b);
  const RunningReconciles::Run run_of_a(running_, Get());
  const RunningReconciles::Run run_of_b(running_, Get());

  AddChange(b);

  EXPECT_FALSE(run_of_a.superseded().stop_requested());
  EXPECT_TRUE(run_of_b.superseded().stop_requested());
}

TEST_F(RunningReconcilesTest, AKeyThatIsAddedBeforeTheRunIsKnownStopsTheRun) {
  queue_.Add(KeyOfA());
  const ObjectKey key = Get();
  AddChange(KeyOfA());

  const RunningReconciles::Run run(running_, key);

  EXPECT_TRUE(run.superseded().stop_requested());
}

TEST_F(RunningReconcilesTest, ALateNotificationDoesNotStopTheNextRun) {
  queue_.Add(KeyOfA());
  {
    const RunningReconciles::Run run(running_, Get());
    AddChange(KeyOfA());
  }
  queue_.Done(KeyOfA());
  const RunningReconciles::Run next(running_, Get());

  running_.OnAddedAgain(KeyOfA());  // of the first run

  EXPECT_FALSE(next.superseded().stop_requested());
}

TEST_F(RunningReconcilesTest, AKeyThatIsAddedWithoutANewerEventDoesNotStopItsRun) {
  queue_.Add(KeyOfA());
  const RunningReconciles::Run run(running_, Get());

  queue_.Add(KeyOfA());

  EXPECT_FALSE(run.superseded().stop_requested());
}

class SupersededReconcileTest : public ManagerTest {
 protected:
  /// Blocks until `stop` is requested.
  static void AwaitStop(const std::stop_token& stop) {
    std::latch stopped{1};
    const std::stop_callback on_stop(stop, [&] { stopped.count_down(); });
    stopped.wait();
  }
};

TEST_F(SupersededReconcileTest, AnUpdateStopsTheReconcileAndItsObjectIsReconciledOnceMore) {
  SetPods({PodJson("a")});
  int calls = 0;
  manager_.AddController<Pod>({.cancel_superseded = true})
      .Reconcile([&](const ObjectKey& key, Context& context) -> Result {
        RecordCall(key.name);
        if (++calls > 1) return {};
        AwaitStop(context.stop);
        EXPECT_TRUE(context.Superseded());
        (void)context.client.Get<Pod>(key);  // throws: its calls are cancelled
        ADD_FAILURE() << "the call was not cancelled";
        return {};
      });
  Start();
  AwaitCalls(1);
  transport_->Await("WATCH", kPods);

  std::string changed = PodJson("a");
  changed.replace(changed.find(R"("5")"), 3, R"("6")");
  SendPodEvent("MODIFIED", changed);

  AwaitCalls(2);
  std::string added = PodJson("b");
  added.replace(added.find(R"("5")"), 3, R"("7")");
  SendPodEvent("ADDED", added);
  EXPECT_THAT(AwaitCalls(3), ElementsAre("a", "a", "b"));
  EXPECT_EQ(Stop(), 0);
  EXPECT_THAT(LogText(), HasSubstr("Reconcile superseded by a newer event"));
  EXPECT_THAT(LogText(), Not(HasSubstr("Reconciler error")));
}

TEST_F(SupersededReconcileTest, WithoutTheOptionAReconcileCanAskWhetherItIsSuperseded) {
  SetPods({PodJson("a")});
  std::latch event_sent{1};
  auto builder = manager_.AddController<Pod>();
  const EventQueue queue = builder.controller().EventsOf("test");
  builder.Reconcile([&](const ObjectKey&, Context& context) {
    const bool before = context.Superseded();
    RecordCall("started");
    event_sent.wait();
    RecordCall(std::string(before ? "superseded" : "not superseded") + ", then " +
               (context.Superseded() ? "superseded" : "not superseded") +
               (context.stop.stop_requested() ? " and stopped" : ""));
    return Result{};
  });
  Start();
  AwaitCalls(1);

  queue.Add(KeyOfA());
  event_sent.count_down();

  EXPECT_THAT(AwaitCalls(4), ElementsAre("started", "not superseded, then superseded", "started",
                                         "not superseded, then not superseded"));
  Stop();
}

TEST_F(SupersededReconcileTest, ARetryATimerAndAResyncDoNotSupersedeAReconcile) {
  SetPods({PodJson("a")});
  std::latch keys_added{1};
  auto builder = manager_.AddController<Pod>({.cancel_superseded = true});
  Controller& controller = builder.controller();
  builder.Reconcile([&](const ObjectKey&, Context& context) {
    RecordCall("started");
    keys_added.wait();
    RecordCall(context.Superseded() || context.stop.stop_requested() ? "superseded" : "ended");
    return Result{};
  });
  Start();
  AwaitCalls(1);

  const EventQueue queue = controller.EventsOf("test");
  queue.Add(KeyOfA(), Reason::Type::kTimer);
  queue.Add(KeyOfA(), {.type = Reason::Type::kResync, .source = "Pod"});
  queue.AddAfter(KeyOfA(), 0s);
  Controller::Impl::Of(controller).queue().AddAfter(KeyOfA(), 0s);
  keys_added.count_down();

  EXPECT_THAT(AwaitCalls(4), ElementsAre("started", "ended", "started", "ended"));
  Stop();
}

TEST_F(SupersededReconcileTest, AMaximumIntervalThatPassesDuringAReconcileDoesNotSupersedeIt) {
  SetPods({PodJson("a")});
  std::counting_semaphore<> may_end{0};
  manager_.AddController<Pod>({.max_interval = 10s, .cancel_superseded = true})
      .Reconcile([&](const ObjectKey&, Context& context) {
        RecordCall("started");
        may_end.acquire();
        RecordCall(context.stop.stop_requested() ? "superseded" : "ended");
        return Result{};
      });
  const auto advance = [this](Duration step) {
    clock_.AwaitSleepers(4);  // as AwaitIdle, and the timers of the controller
    clock_.Advance(step);
  };
  Start();
  transport_->Await("WATCH", kPods);
  AwaitCalls(1);
  may_end.release();
  AwaitCalls(2);
  SendPodEvent("MODIFIED", PodJson("a", R"(,"generation":2)"));
  AwaitCalls(3);

  for (int i = 0; i < 3; ++i) advance(10s);
  clock_.AwaitSleepers(4);
  may_end.release();

  EXPECT_THAT(AwaitCalls(4), ElementsAre("started", "ended", "started", "ended"));
  while (AwaitCalls(4).size() < 5) advance(1s);  // the time starts again after the reconcile
  may_end.release(100);
  Stop();  // before may_end is destroyed
}

TEST_F(SupersededReconcileTest, AShutdownStopsAReconcileThatIsNotSuperseded) {
  SetPods({PodJson("a")});
  manager_.AddController<Pod>({.cancel_superseded = true})
      .Reconcile([&](const ObjectKey&, Context& context) -> Result {
        RecordCall("started");
        AwaitStop(context.stop);
        RecordCall(context.Superseded() ? "superseded" : "stopped");
        return {};
      });
  Start();
  AwaitCalls(1);

  EXPECT_EQ(Stop(), 0);

  EXPECT_THAT(AwaitCalls(2), ElementsAre("started", "stopped"));
}

}  // namespace
}  // namespace kopp
