#include "informer_fixture.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// Tests how handlers are added and removed while the informer runs.
namespace kopp::informer {
namespace {

using namespace std::chrono_literals;
using kopp::testing::MakeWidget;
using kopp::testing::Widget;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(InformerHandlersTest, ALateHandlerGetsTheStoreAsInitialAddsAndThenTheEvents) {
  for (const Delivery delivery : {Delivery::kOwnThread, Delivery::kInformerThread}) {
    SCOPED_TRACE(static_cast<int>(delivery));
    kopp::testing::FakeSource<Widget> source(clock_);
    EventLog log;
    Informer<Widget> informer(source, {.clock = clock_});
    source.Set(MakeWidget("a").WithSize(1));
    const std::jthread runner([&](const std::stop_token& stop) { informer.Run(stop); });
    informer.WaitForSync({});
    source.AwaitRequests(2);

    const HandlerRegistration registration = informer.AddHandler(
        {.on_add =
             [&log](const auto& object, bool initial) {
               log.Append((initial ? "initial " : "add ") + object.metadata().name);
             }},
        {.delivery = delivery});
    EXPECT_TRUE(registration.WaitForSync({}));
    source.Set(MakeWidget("b").WithSize(2));

    EXPECT_THAT(log.Await(2), ElementsAre("initial a", "add b"));
  }
}

TEST_F(InformerHandlersTest, HandlersThatAreAddedDuringEventsNeitherMissNorRepeatOne) {
  // Each handler checks that the states of "a" that it gets are consecutive.
  StartAndWaitForSync();
  AwaitWatchRequest(1);
  std::atomic<int> problems{0};
  std::atomic<int> finished{0};
  constexpr int kLast = 2000;
  const auto checking_handler = [&] {
    const auto last = std::make_shared<int>(-1);
    const auto change = [&, last](int before, int after) {
      if (*last != before) ++problems;
      *last = after;
      if (after == kLast) ++finished;
    };
    return EventHandler<Widget>{
        .on_add = [change](const Ptr& object, bool) { change(-1, object->spec.size); },
        .on_update = [change](const Ptr& before,
                              const Ptr& after) { change(before->spec.size, after->spec.size); }};
  };
  const std::jthread writer([&] {
    for (int size = 0; size <= kLast; ++size) source_.Set(MakeWidget("a").WithSize(size));
  });
  constexpr int kHandlers = 100;
  for (int i = 0; i < kHandlers; ++i) {
    const Delivery delivery = i % 10 == 0 ? Delivery::kOwnThread : Delivery::kInformerThread;
    informer_.AddHandler(checking_handler(), {.delivery = delivery});
  }
  while (finished < kHandlers && problems == 0) std::this_thread::yield();

  EXPECT_EQ(problems, 0);
}

TEST_F(InformerHandlersTest, AHandlerThatIsAddedByAHandlerGetsTheCurrentEventOnce) {
  informer_.AddHandler({.on_add =
                            [this](const AnyObject& object, bool) {
                              if (object.metadata().name == "a") AddRecordingHandler();
                            }},
                       {.delivery = Delivery::kInformerThread});
  StartAndWaitForSync();
  AwaitWatchRequest(1);

  source_.Set(MakeWidget("a"));
  source_.Set(MakeWidget("b"));

  EXPECT_THAT(event_log_.Await(2), ElementsAre("initial a=0", "add b=0"));
}

TEST_F(InformerHandlersTest, ARegistrationHasSyncedWhenItsHandlerWasCalledForTheFirstList) {
  const auto registration = informer_.AddHandler(BlockingHandler());
  source_.Set(MakeWidget("a"));
  EXPECT_FALSE(registration.HasSynced());
  StartAndWaitForSync();
  gate_.AwaitArrivals(1);
  EXPECT_FALSE(registration.HasSynced()) << "the first call has not returned";

  gate_.Open();

  EXPECT_TRUE(registration.WaitForSync({}));
  EXPECT_TRUE(registration.HasSynced());
}

TEST_F(InformerHandlersTest, WaitForSyncOfARegistrationEndsWithAStop) {
  const auto registration = informer_.AddHandler(BlockingHandler());
  std::stop_source stop;
  const std::jthread stopper([&] { stop.request_stop(); });

  EXPECT_FALSE(registration.WaitForSync(stop.get_token()));
}

TEST_F(InformerHandlersTest, WaitForSyncOfARegistrationEndsWhenTheInformerStops) {
  const auto registration = informer_.AddHandler(BlockingHandler());
  source_.Set(MakeWidget("a"));
  StartAndWaitForSync();
  gate_.AwaitArrivals(1);
  runner_.request_stop();

  EXPECT_FALSE(registration.WaitForSync({}));
}

TEST_F(InformerHandlersTest, ARemovedHandlerGetsNoFurtherCallsAndTheOthersDo) {
  auto registration = informer_.AddHandler(
      {.on_add = [this](const auto&, bool) { event_log_.Append("removed handler"); }},
      {.delivery = Delivery::kInformerThread});
  AddRecordingHandler();
  StartAndWaitForSync();
  AwaitWatchRequest(1);
  source_.Set(MakeWidget("a"));
  EXPECT_EQ(event_log_.Await(2).size(), 2);

  registration.Remove();
  registration.Remove();
  source_.Set(MakeWidget("b"));

  EXPECT_THAT(event_log_.Await(3), ElementsAre("removed handler", "add a=0", "add b=0"));
  EXPECT_EQ(informer_.Status().handlers.size(), 1);
}

TEST_F(InformerHandlersTest, RemoveDropsPendingEventsAndWaitsForTheRunningCall) {
  std::atomic<bool> returned{false};
  int calls = 0;
  auto registration = informer_.AddHandler({.on_add = [&](const auto&, bool) {
    ++calls;
    gate_.Pass();
    returned = true;
  }});
  source_.Set(MakeWidget("a"));
  source_.Set(MakeWidget("b"));
  StartAndWaitForSync();
  gate_.AwaitArrivals(1);

  std::jthread remover([&] {
    registration.Remove();
    EXPECT_TRUE(returned);
  });
  while (!informer_.Status().handlers.empty() &&
         informer_.Status().handlers.at(0).queue_depth > 0) {
    std::this_thread::yield();
  }
  gate_.Open();
  remover.join();

  EXPECT_EQ(calls, 1);
}

TEST_F(InformerHandlersTest, AHandlerThatRemovesItselfIsNotCalledAgainAndIsDestroyed) {
  for (const Delivery delivery : {Delivery::kOwnThread, Delivery::kInformerThread}) {
    SCOPED_TRACE(static_cast<int>(delivery));
    kopp::testing::FakeSource<Widget> source(clock_);
    EventLog log;
    Informer<Widget> informer(source, {.clock = clock_});
    const auto registration = std::make_shared<HandlerRegistration>();
    const auto resource = std::make_shared<int>();
    *registration =
        informer.AddHandler({.on_add =
                                 [&log, registration, resource](const auto& object, bool) {
                                   registration->Remove();
                                   log.Append(object.metadata().name);
                                 }},
                            {.delivery = delivery});
    source.Set(MakeWidget("a"));
    source.Set(MakeWidget("b"));
    std::jthread runner([&](const std::stop_token& stop) { informer.Run(stop); });
    informer.WaitForSync({});
    log.Await(1);
    runner.request_stop();
    runner.join();
    EXPECT_TRUE(informer.WaitForHandlers(TimePoint::max()));

    EXPECT_THAT(log.Await(1), ElementsAre("a"));
    EXPECT_EQ(resource.use_count(), 1) << "the handler was not destroyed";
  }
}

TEST_F(InformerHandlersTest, TheDestructorOfAHandlerMayRemoveTheHandler) {
  for (const Delivery delivery : {Delivery::kOwnThread, Delivery::kInformerThread}) {
    SCOPED_TRACE(static_cast<int>(delivery));
    kopp::testing::FakeSource<Widget> source(clock_);
    EventLog log;
    Informer<Widget> informer(source, {.clock = clock_});
    auto registration = std::make_shared<HandlerRegistration>();
    std::shared_ptr<void> guard(nullptr, [&log, registration](void*) {
      registration->Remove();
      log.Append("destroyed");
    });
    *registration = informer.AddHandler(
        {.on_add = [guard = std::move(guard)](const AnyObject&, bool) {}}, {.delivery = delivery});
    std::jthread runner([&](const std::stop_token& stop) { informer.Run(stop); });
    registration->WaitForSync({});

    runner.request_stop();
    runner.join();

    EXPECT_TRUE(informer.WaitForHandlers(TimePoint::max()));
    EXPECT_THAT(log.Await(1), ElementsAre("destroyed"));
  }
}

TEST_F(InformerHandlersTest, RemoveReturnsAfterTheHandlerWasDestroyed) {
  // The informer's thread calls the handler all the time, so that Remove comes at any moment.
  StartAndWaitForSync();
  AwaitWatchRequest(1);
  const std::jthread writer([&](const std::stop_token& stop) {
    for (int size = 0; !stop.stop_requested(); ++size) {
      source_.Set(MakeWidget("a").WithSize(size));
      source_.AwaitIdleWatch();
    }
  });
  for (int round = 0; round < 1000; ++round) {
    const auto resource = std::make_shared<int>();
    auto registration =
        informer_.AddHandler({.on_update = [resource](const AnyObject&, const AnyObject&) {}},
                             {.delivery = Delivery::kInformerThread});
    registration.Remove();
    ASSERT_EQ(resource.use_count(), 1) << "the handler was not destroyed";
  }
}

TEST_F(InformerHandlersTest, ARegistrationMayOutliveItsInformer) {
  HandlerRegistration registration;
  {
    Informer<Widget> informer(source_, {.clock = clock_});
    registration = informer.AddHandler(RecordingHandler(), {.name = "recorder"});
  }
  registration.Remove();

  EXPECT_EQ(registration.name(), "recorder");
  EXPECT_FALSE(registration.HasSynced());
}

TEST_F(InformerHandlersTest, RunReturnsWhileAHandlerBlocks) {
  informer_.AddHandler(BlockingHandler(), {.name = "stuck"});
  source_.Set(MakeWidget("a"));
  StartAndWaitForSync();
  gate_.AwaitArrivals(1);

  Stop();

  EXPECT_FALSE(informer_.WaitForHandlers(clock_.Now()));
  EXPECT_EQ(informer_.Status().handlers.at(0).name, "stuck");
  EXPECT_TRUE(informer_.Status().handlers.at(0).busy);
  gate_.Open();
  EXPECT_TRUE(informer_.WaitForHandlers(TimePoint::max()));
}

TEST_F(InformerHandlersTest, AHandlerThatIsBusyForAMinuteIsReportedOnce) {
  informer_.AddHandler(BlockingHandler(), {.name = "slow"});
  source_.Set(MakeWidget("a"));
  StartAndWaitForSync();
  gate_.AwaitArrivals(1);
  AwaitWatchRequest(1);
  clock_.AwaitSleepers(1);
  clock_.Advance(59s);
  clock_.AwaitSleepers(1);
  EXPECT_THAT(Problems(), IsEmpty());
  for (const Duration step : {1s, 60s}) {
    clock_.Advance(step);
    clock_.AwaitSleepers(1);
  }

  EXPECT_THAT(Problems(), ElementsAre("handler \"slow\" has been busy with default/a for a minute; "
                                      "its other events wait"));
}

TEST_F(InformerHandlersTest, AddHandlerThrowsAfterTheInformerHasStopped) {
  StartAndWaitForSync();
  Stop();

  EXPECT_THROW(informer_.AddHandler(RecordingHandler()), std::logic_error);
}

TEST_F(InformerHandlersTest, HandlersWithoutANameAreNumbered) {
  EXPECT_EQ(informer_.AddHandler(RecordingHandler()).name(), "handler-1");
  EXPECT_EQ(informer_.AddHandler(RecordingHandler(), {.name = "x"}).name(), "x");
  EXPECT_EQ(informer_.AddHandler(RecordingHandler()).name(), "handler-3");
}

}  // namespace
}  // namespace kopp::informer
