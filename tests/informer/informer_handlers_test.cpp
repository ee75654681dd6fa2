#include "informer_fixture.hpp"

#include <atomic>
#include <chrono>
#include <exception>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/informer/filtering_handler.hpp>
#include <kopp/informer/handlers.hpp>

namespace kopp::informer {
namespace {

using namespace std::chrono_literals;
using kopp::testing::MakeWidget;
using kopp::testing::Widget;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class InformerHandlersTest : public InformerTest {
 protected:
  using Ptr = std::shared_ptr<const Widget>;

  /// Returns a handler whose calls record the event and then block until gate_ is opened.
  EventHandler<Widget> BlockingHandler() {
    EventHandler<Widget> handler = RecordingHandler();
    handler.on_add = [this, record = handler.on_add](const Ptr& object, bool initial) {
      record(object, initial);
      gate_.Pass();
    };
    return handler;
  }
  void Stop() {
    runner_.request_stop();
    runner_.join();
  }
};

TEST_F(InformerTest, HandlersGetWatchEventsInOrder) {
  AddRecordingHandler();
  StartAndWaitForSync();
  AwaitWatchRequest(1);

  source_.Set(MakeWidget("a").WithSize(1));
  source_.Set(MakeWidget("a").WithSize(2));
  source_.Delete(MakeWidget("a").WithSize(2));

  EXPECT_THAT(event_log_.Await(3), ElementsAre("add a=1", "update a=1 to a=2", "delete a=2"));
  EXPECT_EQ(informer_.store().Get({"default", "a"}), nullptr);
}

TEST_F(InformerTest, TheStoreHasTheNewStateWhenAHandlerIsCalled) {
  EventHandler<Widget> handler;
  handler.on_add = [this](const auto& object, bool) {
    event_log_.Append(informer_.store().Get(KeyOf(*object)) == object ? "in store"
                                                                      : "not in store");
  };
  informer_.AddHandler(std::move(handler));
  source_.Set(MakeWidget("a"));
  StartAndWaitForSync();

  EXPECT_THAT(event_log_.Await(1), ElementsAre("in store"));
}

TEST_F(InformerTest, AnExceptionFromAHandlerIsReportedAndTheOtherHandlersGetTheEvent) {
  EventHandler<Widget> throwing_handler;
  throwing_handler.on_add = [](const auto&, bool) { throw std::runtime_error("handler failed"); };
  informer_.AddHandler(std::move(throwing_handler),
                       {.name = "broken", .delivery = Delivery::kInformerThread});
  AddRecordingHandler();
  source_.Set(MakeWidget("a"));
  StartAndWaitForSync();

  EXPECT_THAT(event_log_.Await(1), ElementsAre("initial a=0"));
  EXPECT_THAT(Problems(),
              ElementsAre("handler \"broken\" threw in on_add for default/a: handler failed; other "
                          "handlers are not affected"));
}

TEST_F(InformerTest, AResyncSendsUpdatesOnlyToTheHandlerWithThatResyncPeriod) {
  source_.Set(MakeWidget("a").WithSize(1));
  informer_.AddHandler(RecordingHandler(), {.resync = 30s, .delivery = Delivery::kInformerThread});
  informer_.AddHandler(
      {.on_update = [this](const auto&, const auto&) { event_log_.Append("unexpected update"); }},
      {.delivery = Delivery::kInformerThread});
  StartAndWaitForSync();
  AwaitWatchRequest(1);

  clock_.AwaitSleepers(1);
  clock_.Advance(30s);
  EXPECT_THAT(event_log_.Await(2), ElementsAre("initial a=1", "update a=1 to a=1"));
  clock_.AwaitSleepers(1);
  clock_.Advance(29s);
  clock_.AwaitSleepers(1);
  EXPECT_EQ(event_log_.Await(2).size(), 2) << "a resync was sent before its period had passed";
  clock_.Advance(1s);

  EXPECT_EQ(event_log_.Await(3).size(), 3);
  EXPECT_EQ(source_.Requests().size(), 2) << "the resync sent a request";
}

TEST_F(InformerHandlersTest, TheResyncPeriodMayBePassedWithoutOtherOptions) {
  source_.Set(MakeWidget("a").WithSize(1));
  informer_.AddHandler(RecordingHandler(), 30s);
  StartAndWaitForSync();
  event_log_.Await(1);

  clock_.AwaitSleepers(1);
  clock_.Advance(30s);

  EXPECT_THAT(event_log_.Await(2), ElementsAre("initial a=1", "update a=1 to a=1"));
}

TEST(InformerResyncTest, AResyncPeriodBelowOneSecondIsReportedAndRaised) {
  kopp::testing::FakeClock clock;
  kopp::testing::FakeSource<Widget> source(clock);
  source.Set(MakeWidget("a"));
  EventLog log;
  Informer<Widget> informer(
      source, {.clock = clock,
               .on_problem = [&](const std::string& problem, bool) { log.Append(problem); }});
  informer.AddHandler({.on_update = [&](const auto&, const auto&) { log.Append("resync"); }},
                      {.name = "fast", .resync = 10ms, .delivery = Delivery::kInformerThread});
  const std::jthread runner([&](const std::stop_token& stop) { informer.Run(stop); });
  informer.WaitForSync({});

  clock.AwaitSleepers(1);
  clock.Advance(999ms);
  clock.AwaitSleepers(1);
  EXPECT_THAT(log.Await(1), ElementsAre("handler \"fast\": its resync period is raised to the "
                                        "minimum of 1 s"));
  clock.Advance(1ms);
  EXPECT_THAT(log.Await(2).back(), "resync");
}

TEST_F(InformerHandlersTest, ABlockedHandlerDelaysNeitherTheStoreNorOtherHandlers) {
  informer_.AddHandler({.on_add = [this](const auto&, bool) { gate_.Pass(); }});
  AddRecordingHandler();
  source_.Set(MakeWidget("a").WithSize(1));
  StartAndWaitForSync();
  gate_.AwaitArrivals(1);
  AwaitWatchRequest(1);

  source_.Set(MakeWidget("a").WithSize(2));
  source_.Set(MakeWidget("b").WithSize(3));

  EXPECT_THAT(event_log_.Await(3), ElementsAre("initial a=1", "update a=1 to a=2", "add b=3"));
  EXPECT_EQ(informer_.store().Get({"default", "a"})->spec.size, 2);
}

TEST_F(InformerHandlersTest, TheEventsOfABusyHandlerAreMergedPerObject) {
  informer_.AddHandler(BlockingHandler());
  source_.Set(MakeWidget("a").WithSize(1));
  StartAndWaitForSync();
  gate_.AwaitArrivals(1);
  AwaitWatchRequest(1);
  for (int size = 2; size < 1000; ++size) source_.Set(MakeWidget("a").WithSize(size));
  source_.Set(MakeWidget("b").WithSize(1));
  source_.Delete(MakeWidget("b").WithSize(1));
  source_.AwaitIdleWatch();
  EXPECT_EQ(informer_.Status().handlers.at(0).queue_depth, 1);

  gate_.Open();

  EXPECT_THAT(event_log_.Await(2), ElementsAre("initial a=1", "update a=1 to a=999"));
}

TEST_F(InformerHandlersTest, ABusyFilteringHandlerGetsTheDeletionOfAnObjectThatStoppedMatching) {
  EventHandler<Widget> handler = BlockingHandler();
  informer_.AddHandler(FilteringHandler<Widget>(
      [](const Widget& widget) { return widget.spec.size >= 10; }, std::move(handler)));
  source_.Set(MakeWidget("a").WithSize(10));
  StartAndWaitForSync();
  gate_.AwaitArrivals(1);
  AwaitWatchRequest(1);
  source_.Set(MakeWidget("a").WithSize(1));
  source_.Delete(MakeWidget("a").WithSize(1));
  source_.AwaitIdleWatch();

  gate_.Open();

  EXPECT_THAT(event_log_.Await(2), ElementsAre("initial a=10", "delete a=10"));
}

TEST_F(InformerHandlersTest, ABusyMappingHandlerEnqueuesTheKeysOfTheStateThatItKnowsAtADeletion) {
  KeyQueue queue;
  const AnyEventHandler mapped = EnqueueMapped<Widget>(queue, [](const Widget& widget) {
    return std::vector<ObjectKey>{{"", "owner-" + std::to_string(widget.spec.size)}};
  });
  auto registration = informer_.AddHandler({.on_add =
                                                [&](const AnyObject& object, bool initial) {
                                                  mapped.on_add(object, initial);
                                                  gate_.Pass();
                                                },
                                            .on_update = mapped.on_update,
                                            .on_delete =
                                                [&](const AnyObject& object, bool unknown) {
                                                  mapped.on_delete(object, unknown);
                                                  event_log_.Append("deleted");
                                                }});
  source_.Set(MakeWidget("a").WithSize(1));
  StartAndWaitForSync();
  gate_.AwaitArrivals(1);
  queue.Done(*queue.Get());
  AwaitWatchRequest(1);
  source_.Set(MakeWidget("a").WithSize(2));
  source_.Delete(MakeWidget("a").WithSize(2));
  source_.AwaitIdleWatch();

  gate_.Open();
  event_log_.Await(1);
  registration.Remove();

  EXPECT_EQ(queue.Len(), 2);
  EXPECT_EQ(queue.Get()->name, "owner-2");
  EXPECT_EQ(queue.Get()->name, "owner-1") << "the owner of the state that the handler knows";
}

TEST_F(InformerHandlersTest, AnIndexFunctionAndTheProblemHandlerMayReadTheStatusOfTheInformer) {
  kopp::testing::FakeSource<Widget> source(clock_);
  EventLog log;
  Informer<Widget>* reader = nullptr;
  const auto log_status = [&](const std::string& caller) {
    log.Append(caller + " " + std::to_string(reader->Status().handlers.size()));
  };
  Informer<Widget> informer(source, {.clock = clock_, .on_problem = [&](const std::string&, bool) {
                                       log_status("problem");
                                     }});
  reader = &informer;
  informer.AddHandler(RecordingHandler());
  informer.AddIndex("broken", [&](const Widget&) -> std::vector<std::string> {
    log_status("index");
    throw std::runtime_error("broken");
  });
  source.Set(MakeWidget("a"));
  const std::jthread runner([&](const std::stop_token& stop) { informer.Run(stop); });

  EXPECT_THAT(log.Await(2), ElementsAre("index 1", "problem 1"));
}

TEST_F(InformerHandlersTest, AHandlerIsCalledOnItsOwnThreadByDefault) {
  Guarded<std::map<std::string, std::thread::id>> threads;
  const auto record_as = [&](const std::string& name) {
    return AnyEventHandler{.on_add = [&, name](const auto&, bool) {
      (*threads.Lock())[name] = std::this_thread::get_id();
      event_log_.Append(name);
    }};
  };
  informer_.AddHandler(record_as("own"));
  informer_.AddHandler(record_as("informer"), {.delivery = Delivery::kInformerThread});
  source_.Set(MakeWidget("a"));
  StartAndWaitForSync();
  event_log_.Await(2);

  EXPECT_EQ(threads.Lock()->at("informer"), runner_.get_id());
  EXPECT_NE(threads.Lock()->at("own"), runner_.get_id());
}

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

TEST(InformerErrorTest, TheErrorHandlerGetsTheExceptionOfAHandlerWithItsContext) {
  kopp::testing::FakeClock clock;
  kopp::testing::FakeSource<Widget> source(clock);
  EventLog log;
  Informer<Widget> informer(
      source, {.clock = clock, .name = "widgets", .on_error = [&](const InformerError& error) {
                 try {
                   std::rethrow_exception(error.error);
                 } catch (const std::out_of_range& exception) {
                   log.Append(error.informer + " " + error.handler + " " + error.key.ToString() +
                              " " + std::to_string(error.consecutive_failures) + " " +
                              exception.what());
                 }
               }});
  informer.AddHandler(
      {.on_add = [](const auto&, bool) { throw std::out_of_range("no such index"); }},
      {.name = "broken"});
  source.Set(MakeWidget("a"));
  source.Set(MakeWidget("b"));
  const std::jthread runner([&](const std::stop_token& stop) { informer.Run(stop); });

  EXPECT_THAT(log.Await(2), ElementsAre("widgets broken default/a 1 no such index",
                                        "widgets broken default/b 2 no such index"));
  EXPECT_EQ(informer.Status().handlers.at(0).errors, 2);
}

}  // namespace
}  // namespace kopp::informer
