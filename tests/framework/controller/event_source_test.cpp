#include "controller/controller_queue.hpp"
#include "manager_fixture.hpp"

#include <atomic>
#include <chrono>
#include <latch>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/controller/channel.hpp>
#include <kopp/controller/source.hpp>
#include <kopp/kinds.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

TEST(ChannelTest, EventsAreReceivedInTheirOrder) {
  const Channel<int> channel;

  EXPECT_TRUE(channel.Send(1));
  EXPECT_TRUE(channel.TrySend(2));

  EXPECT_EQ(channel.Receive(), 1);
  EXPECT_EQ(channel.Receive(), 2);
}

TEST(ChannelTest, AFullChannelRejectsTrySendAndBlocksSendUntilAnEventIsReceived) {
  const Channel<int> channel(1);
  channel.Open();
  EXPECT_TRUE(channel.TrySend(1));
  EXPECT_FALSE(channel.TrySend(2));
  std::atomic<bool> received{false};
  std::latch started{1};
  std::jthread sender([&] {
    started.count_down();
    EXPECT_TRUE(channel.Send(3));
    EXPECT_TRUE(received) << "Send has returned although the channel was full";
  });
  started.wait();

  received = true;
  EXPECT_EQ(channel.Receive(), 1);

  EXPECT_EQ(channel.Receive(), 3);
}

TEST(ChannelTest, AStopRequestEndsSendAndReceive) {
  const Channel<int> channel(1);
  std::stop_source stop;
  stop.request_stop();
  channel.Open();

  EXPECT_EQ(channel.Receive(stop.get_token()), std::nullopt);
  EXPECT_TRUE(channel.Send(1));
  EXPECT_FALSE(channel.Send(2, stop.get_token()));
}

TEST(ChannelTest, EqualKeysAreMergedUntilTheyAreReceived) {
  const Channel<ObjectKey> channel(2);
  channel.Open();
  const ObjectKey a{"ns", "a"};
  const ObjectKey b{"ns", "b"};
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(channel.Send(a));
    EXPECT_TRUE(channel.Send(b)) << "it does not block: it is in the full channel";
  }

  EXPECT_EQ(channel.Receive(), a);
  EXPECT_TRUE(channel.TrySend(a)) << "a new event";
  EXPECT_FALSE(channel.TrySend({"ns", "c"})) << "the channel is full";
  EXPECT_EQ(channel.Receive(), b);
  EXPECT_EQ(channel.Receive(), a);
}

// A replica that is not the leader has no controller that receives the events.
TEST(ChannelTest, BeforeAControllerStartsAFullChannelDropsEventsInsteadOfBlocking) {
  const Channel<int> channel(2);
  EXPECT_TRUE(channel.Send(1));
  EXPECT_TRUE(channel.Send(2));
  EXPECT_FALSE(channel.Send(3));
  EXPECT_TRUE(channel.Send(2)) << "it is merged";

  channel.Open();
  EXPECT_EQ(channel.Receive(), 1);
  EXPECT_EQ(channel.Receive(), 2);
}

TEST(ChannelTest, AClosedChannelIgnoresEventsUntilItIsOpenedAgain) {
  const Channel<int> channel(1);
  channel.Send(1);
  std::jthread sender([&] { EXPECT_FALSE(channel.Send(2)); });  // blocks, or comes after Close

  channel.Close();

  EXPECT_FALSE(channel.Send(3));
  EXPECT_EQ(channel.Receive(), std::nullopt);
  sender.join();
  channel.Open();
  EXPECT_TRUE(channel.Send(4));
  EXPECT_EQ(channel.Receive(), 4);
}

class EventSourceTest : public ManagerTest {
 protected:
  /// Records the key of each reconcile.
  auto Record() {
    return [this](const ObjectKey& key, Context&) {
      RecordCall(key.ToString());
      return Result{};
    };
  }
};

TEST_F(EventSourceTest, AnObjectWhoseKeyIsSentToAChannelIsReconciled) {
  const Channel<ObjectKey> channel;
  manager_.AddController<Pod>().WatchesChannel(channel).Reconcile(Record());
  channel.Send({"ns", "before-start"});
  Start();
  EXPECT_THAT(AwaitCalls(1), ElementsAre("ns/before-start"));

  channel.Send({"ns", "later"});

  EXPECT_THAT(AwaitCalls(2), ElementsAre("ns/before-start", "ns/later"));
  EXPECT_EQ(Stop(), 0);
  EXPECT_FALSE(channel.Send({"ns", "after-stop"}));
}

TEST_F(EventSourceTest, AFunctionMapsTheEventsOfAChannelToKeysAndAnExceptionLosesOneEvent) {
  const Channel<std::string> channel;
  manager_.AddController<Pod>()
      .WatchesChannel<std::string>(channel,
                                   [](const std::string& event) -> std::vector<ObjectKey> {
                                     if (event == "bad") throw std::runtime_error("no such event");
                                     return {{"ns", event + "-1"}, {"ns", event + "-2"}};
                                   })
      .Reconcile(Record());
  Start();
  channel.Send("bad");
  channel.Send("good");

  EXPECT_THAT(AwaitCalls(2), ElementsAre("ns/good-1", "ns/good-2"));
  EXPECT_THAT(LogText(), HasSubstr("no such event"));
}

TEST_F(EventSourceTest, AnEventReconcilesAllObjects) {
  SetPods({PodJson("a"), PodJson("b")});
  const Channel<int> channel;
  manager_.AddController<Pod>().ReconcileAllOn(channel).Reconcile(Record());
  Start();
  AwaitCalls(2);

  channel.Send(0);

  EXPECT_THAT(AwaitCalls(4), UnorderedElementsAre("ns/a", "ns/b", "ns/a", "ns/b"));
}

TEST_F(EventSourceTest, ATimerReconcilesAllObjectsAtEachInterval) {
  SetPods({PodJson("a"), PodJson("b")});
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  manager_.AddController<Pod>().ReconcileAllEvery(10s).Reconcile(Record());
#pragma GCC diagnostic pop
  Start();
  AwaitCalls(2);

  for (std::size_t round = 2; round <= 3; ++round) {
    clock_.AwaitSleeperFor(10s);
    clock_.Advance(10s);
    EXPECT_EQ(AwaitCalls(2 * round).size(), 2 * round);
  }
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // TimerSource
TEST_F(EventSourceTest, ATimerThatIsLateSkipsTheMissedIntervals) {
  ControllerQueue queue({.clock = clock_}, {});
  int calls = 0;
  TimerSource timer(1s, [&] {
    if (++calls == 1) clock_.Advance(5s);  // the function takes 5 s
    return std::vector<ObjectKey>{};
  });
  std::jthread thread([&](const std::stop_token& stop) {
    timer.Run({EventQueue(queue), clock_, Logger()}, stop);
  });
  clock_.AwaitSleepers(2);  // the timer and the queue
  clock_.Advance(1s);
  clock_.AwaitSleeperFor(1s);  // not in the past

  clock_.Advance(999ms);
  clock_.AwaitSleepers(2);
  EXPECT_EQ(calls, 1);
  clock_.Advance(1ms);
  clock_.AwaitSleepers(2);
  EXPECT_EQ(calls, 2);
}

TEST_F(EventSourceTest, ATimerWithAnIntervalThatIsNotPositiveThrows) {
  EXPECT_THROW(TimerSource(0s, [] { return std::vector<ObjectKey>{}; }), std::invalid_argument);
}
#pragma GCC diagnostic pop

TEST_F(EventSourceTest, AnIntervalThatIsNotPositiveThrows) {
  EXPECT_THROW(
      PollingSource<int>({.interval = -1s}, [](auto) { return std::map<ObjectKey, int>{}; }),
      std::invalid_argument);
}

TEST_F(EventSourceTest, APollReconcilesTheObjectsWhoseResourceAppearedChangedOrDisappeared) {
  const ObjectKey a{"ns", "a"};
  const ObjectKey b{"ns", "b"};
  const ObjectKey c{"ns", "c"};
  std::mutex mutex;
  std::map<ObjectKey, int> resources{{a, 1}, {b, 1}};
  const auto set = [&](std::map<ObjectKey, int> next) {
    const std::lock_guard guard{mutex};
    resources = std::move(next);
  };
  const auto source = std::make_shared<PollingSource<int>>(
      PollingOptions{.interval = 10s}, [&](const std::stop_token&) {
        const std::lock_guard guard{mutex};
        if (resources.empty()) throw std::runtime_error("the cloud is down");
        return resources;
      });
  manager_.AddController<Pod>({.reasons = true})
      .Watches(source)
      .Reconcile([this, source](const ObjectKey& key, Context& context) {
        RecordCall(key.name + "=" + std::to_string(source->Get(key).value_or(0)) + " " +
                   context.reasons.ToString());
        return Result{};
      });
  Start();
  EXPECT_THAT(AwaitCalls(2), UnorderedElementsAre("a=1 polling added", "b=1 polling added"));

  for (const auto& next :
       {std::map<ObjectKey, int>{}, {{a, 1}, {b, 2}, {c, 1}}, {{b, 2}, {c, 1}}}) {
    set(next);
    clock_.AwaitSleeperFor(10s);
    clock_.Advance(10s);
    clock_.AwaitSleeperFor(10s);
  }

  auto calls = AwaitCalls(5);
  calls.erase(calls.begin(), calls.begin() + 2);
  EXPECT_THAT(calls, UnorderedElementsAre("b=2 polling updated", "c=1 polling added",
                                          "a=0 polling deleted"));
  EXPECT_THAT(LogText(), HasSubstr("the cloud is down"));
  Stop();
}

TEST_F(EventSourceTest, ASourceThatThrowsIsStartedAgainAfterADelay) {
  int starts = 0;
  const auto source = std::make_shared<FunctionSource>(
      "flaky", [&](const SourceContext& context, const std::stop_token&) {
        if (++starts <= 2) throw std::runtime_error("connection lost");
        context.queue.Add({"ns", "a"});
      });
  manager_.AddController<Pod>().Watches(source).Reconcile(Record());
  Start();
  clock_.AwaitSleeperFor(1s);
  clock_.Advance(1s);
  clock_.AwaitSleeperFor(2s);
  clock_.Advance(2s);

  EXPECT_THAT(AwaitCalls(1), ElementsAre("ns/a"));
  EXPECT_THAT(LogText(), HasSubstr(R"(source="flaky" err="connection lost")"));
  Stop();
}

TEST_F(EventSourceTest, AfterALongRunTheDelayOfASourceThatThrowsStartsAgain) {
  int starts = 0;
  const auto source = std::make_shared<FunctionSource>(
      "flaky", [&](const SourceContext& context, const std::stop_token& stop) {
        if (++starts == 3) SleepUntil(context.clock, context.clock.Now() + 1h, stop);
        if (starts <= 3) throw std::runtime_error("connection lost");
        context.queue.Add({"ns", "a"});
      });
  manager_.AddController<Pod>().Watches(source).Reconcile(Record());
  Start();
  for (const Duration delay : {Duration(1s), Duration(2s), Duration(1h), Duration(1s)}) {
    clock_.AwaitSleeperFor(delay);
    clock_.Advance(delay);
  }

  EXPECT_THAT(AwaitCalls(1), ElementsAre("ns/a"));
  Stop();
}

TEST_F(EventSourceTest, AnExceptionAfterAStopIsNotLogged) {
  const auto source = std::make_shared<FunctionSource>(
      "custom", [&](const SourceContext& context, const std::stop_token& stop) {
        RecordCall("started");
        SleepUntil(context.clock, TimePoint::max(), stop);
        throw std::runtime_error("cancelled");
      });
  manager_.AddController<Pod>().Watches(source).Reconcile(Record());
  Start();
  AwaitCalls(1);

  EXPECT_EQ(Stop(), 0);

  EXPECT_THAT(LogText(), Not(HasSubstr("cancelled")));
}

TEST_F(EventSourceTest, AStopEndsTheSourcesBeforeRunReturns) {
  std::atomic<bool> ended{false};
  const auto source = std::make_shared<FunctionSource>(
      "custom", [&](const SourceContext& context, const std::stop_token& stop) {
        RecordCall("started");
        SleepUntil(context.clock, TimePoint::max(), stop);
        ended = true;
      });
  manager_.AddController<Pod>().Watches(source).Reconcile(Record());
  Start();
  AwaitCalls(1);

  EXPECT_EQ(Stop(), 0);

  EXPECT_TRUE(ended);
}

TEST_F(EventSourceTest, OwnHandlerFunctionsDecideWhichKeysAreAdded) {
  manager_.AddController<Deployment>()
      .Watches<Pod>({.on_add =
                         [](const Pod& pod, const EventQueue& queue) {
                           queue.Add({"added", pod.metadata.name});
                         },
                     .on_update =
                         [](const Pod&, const Pod& after, const EventQueue& queue) {
                           queue.Add({"updated", after.metadata.name});
                         },
                     .on_delete =
                         [](const Pod& pod, const EventQueue& queue) {
                           queue.AddAfter({"deleted", pod.metadata.name}, 10s);
                         }})
      .Reconcile(Record());
  Start();
  transport_->Await("WATCH", kPods);

  SendPodEvent("ADDED", PodJson("a"));
  EXPECT_THAT(AwaitCalls(1), ElementsAre("added/a"));
  SendPodEvent("MODIFIED", PodJson("a", R"(,"generation":2)"));
  EXPECT_THAT(AwaitCalls(2), ElementsAre("added/a", "updated/a"));
  SendPodEvent("DELETED", PodJson("a"));
  clock_.AwaitSleeperFor(10s);
  clock_.Advance(10s);
  EXPECT_THAT(AwaitCalls(3), ElementsAre("added/a", "updated/a", "deleted/a"));
}

TEST_F(EventSourceTest, OwnsReconcilesOnlyTheControllerUnlessEveryOwnerIsMatched) {
  constexpr const char* kOwners =
      R"(,"ownerReferences":[)"
      R"({"apiVersion":"apps/v1","kind":"Deployment","name":"shared","uid":"1"},)"
      R"({"apiVersion":"apps/v1","kind":"Deployment","name":"controller","uid":"2",)"
      R"("controller":true}])";
  SetPods({PodJson("a", kOwners)});
  manager_.AddController<Deployment>({.name = "one"})
      .Owns<Pod>()
      .Reconcile([this](const ObjectKey& key, Context&) {
        RecordCall("one " + key.name);
        return Result{};
      });
  manager_.AddController<Deployment>({.name = "every"})
      .Owns<Pod>({.match_every_owner = true})
      .Reconcile([this](const ObjectKey& key, Context&) {
        RecordCall("every " + key.name);
        return Result{};
      });
  Start();

  EXPECT_THAT(AwaitCalls(3),
              UnorderedElementsAre("one controller", "every shared", "every controller"));
}

TEST_F(EventSourceTest, CoalescedEventsAreReconciledWhenTheyHaveBeenQuiet) {
  SetPods({PodJson("a")});
  const Channel<ObjectKey> channel;
  manager_.AddController<Pod>({.coalesce = {.quiet = 100ms, .max_wait = 1s}})
      .WatchesChannel(channel)
      .Reconcile(Record());
  Start();
  clock_.AwaitSleeperFor(100ms);  // the queue waits for further events of the Pod
  EXPECT_EQ(AwaitCalls(0).size(), 0);

  clock_.Advance(100ms);

  EXPECT_THAT(AwaitCalls(1), ElementsAre("ns/a"));
}

}  // namespace
}  // namespace kopp
