#include "informer_fixture.hpp"

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
#include <kopp/informer/key_queue.hpp>

namespace kopp::informer {
namespace {

using namespace std::chrono_literals;
using kopp::testing::MakeWidget;
using kopp::testing::Widget;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

TEST_F(InformerTest, ANegativeResyncPeriodIsRejected) {
  EXPECT_THROW(informer_.AddHandler(RecordingHandler(), {.resync = -1ns}), std::invalid_argument);
}

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
  kopp::detail::Guarded<std::map<std::string, std::thread::id>> threads;
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

TEST(InformerErrorTest, AProblemNamesTheTypeOfAnExceptionOfAHandlerOrIndexFunction) {
  kopp::testing::FakeClock clock;
  kopp::testing::FakeSource<Widget> source(clock);
  EventLog log;
  Informer<Widget> informer(
      source, {.clock = clock,
               .on_problem = [&](const std::string& problem, bool) { log.Append(problem); }});
  informer.AddIndex("size", [](const Widget&) -> std::vector<std::string> {
    return {std::string("small").substr(7)};
  });
  informer.AddHandler({.on_add = [](const auto&, bool) { (void)std::stoi("many"); }});
  source.Set(MakeWidget("a"));
  const std::jthread runner([&](const std::stop_token& stop) { informer.Run(stop); });

  EXPECT_THAT(log.Await(2), UnorderedElementsAre(HasSubstr("std::invalid_argument: stoi"),
                                                 HasSubstr("std::out_of_range: basic_string")));
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
