// Tests of the EventRecorder with the API events.k8s.io/v1.
#include "events_fixture.hpp"

#include <chrono>
#include <cstddef>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/events.hpp>
#include <kopp/kinds.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr const char* kGroupEventsPath = "/apis/events.k8s.io/v1/namespaces/shop/events";

class EventSeriesTest : public EventsTest {
 protected:
  EventSeriesTest() { transport_.Respond("POST", kGroupEventsPath, 201, "{}"); }

  /// Starts a series with two occurrences, whose writes are awaited. Returns the path of the Event.
  std::string StartSeries() {
    recorder_.Normal(web_, "Synced", "first");
    std::string event = AcceptPatches(kGroupEventsPath);
    recorder_.Normal(web_, "Synced", "second");
    transport_.Await("PATCH", event, 1);
    return event;
  }
  /// Blocks until the recorder has processed all Events before. Creates an Event.
  void AwaitProcessed() {
    ++barriers_;
    recorder_.Normal(web_, "Barrier" + std::to_string(barriers_), "");
    transport_.Await("POST", kGroupEventsPath, 1 + barriers_);
  }
  /// Advances the clock by the time between two checks of the series.
  void AdvanceToNextCheck() {
    clock_.AwaitSleeperFor(6min);
    clock_.Advance(6min);
  }

  std::size_t barriers_ = 0;
  EventRecorder recorder_{Client{transport_, "shop-operator"},
                          "shop-operator",
                          NewLogger(),
                          clock_,
                          {.api = EventApi::kEvents, .instance = "pod-1"}};
};

TEST_F(EventSeriesTest, AnEventHasItsObjectReasonNoteActionAndReporter) {
  recorder_.Warning(web_, "OutOfStock", "no apples left",
                    {.related = ObjectReference{.kind = "Node", .name = "n1"}});
  recorder_.Stop();

  ASSERT_THAT(transport_.Requests(), SizeIs(1));
  EXPECT_THAT(transport_.Requests()[0].target, StartsWith(kGroupEventsPath));
  json event = Sent("POST")[0];
  EXPECT_THAT(event["metadata"]["name"].get<std::string>(), StartsWith("web."));
  event["metadata"].erase("name");
  EXPECT_EQ(event, json::parse(R"({"apiVersion":"events.k8s.io/v1","kind":"Event",
      "metadata":{"namespace":"shop"},
      "regarding":{"apiVersion":"v1","kind":"Pod","name":"web","namespace":"shop","uid":"u1",
                   "resourceVersion":"7"},
      "related":{"kind":"Node","name":"n1"},
      "type":"Warning","reason":"OutOfStock","action":"OutOfStock","note":"no apples left",
      "reportingController":"shop-operator","reportingInstance":"pod-1",
      "eventTime":"2023-11-14T22:13:20.000000Z"})"));
}

TEST_F(EventSeriesTest, TheSecondOccurrenceStartsASeriesWhateverItsMessage) {
  recorder_.Normal(web_, "Synced", "first");
  AcceptPatches(kGroupEventsPath);
  clock_.Advance(60s);
  recorder_.Normal(web_, "Synced", "second");
  recorder_.Stop();

  EXPECT_THAT(Sent("POST"), SizeIs(1));
  ASSERT_THAT(Sent("PATCH"), SizeIs(1));
  EXPECT_EQ(Sent("PATCH")[0], json::parse(R"({"series":{"count":2,
      "lastObservedTime":"2023-11-14T22:14:20.000000Z"}})"));
}

TEST_F(EventSeriesTest, FurtherOccurrencesAreWrittenWhenTheSeriesEnds) {
  const std::string event = StartSeries();
  recorder_.Normal(web_, "Synced", "third");
  recorder_.Normal(web_, "Synced", "fourth");
  AwaitProcessed();
  AdvanceToNextCheck();

  const auto patches = transport_.Await("PATCH", event, 2);
  recorder_.Normal(web_, "Synced", "after the end");
  recorder_.Stop();

  EXPECT_EQ(json::parse(patches[1].body)["series"]["count"], 4);
  EXPECT_EQ(Sent("POST").back()["note"], "after the end") << "it is a new Event";
}

TEST_F(EventSeriesTest, ASeriesThatDoesNotEndIsWrittenEvery30Minutes) {
  const std::string event = StartSeries();
  for (int check = 1; check <= 5; ++check) {
    clock_.AwaitSleeperFor(6min);
    clock_.Advance(5min);
    clock_.AwaitSleeperFor(1min);
    recorder_.Normal(web_, "Synced", "again");
    AwaitProcessed();
    clock_.AwaitSleeperFor(1min);
    EXPECT_THAT(Sent("PATCH"), SizeIs(1)) << "in minute " << check * 6 - 1;
    clock_.Advance(1min);
  }

  const auto patches = transport_.Await("PATCH", event, 2);
  recorder_.Stop();

  EXPECT_EQ(json::parse(patches[1].body)["series"]["count"], 7);
}

TEST_F(EventSeriesTest, TheLastCountOfASeriesIsWrittenOnStop) {
  const std::string event = StartSeries();
  recorder_.Normal(web_, "Synced", "third");
  recorder_.Stop();

  ASSERT_THAT(Sent("PATCH"), SizeIs(2));
  EXPECT_EQ(Sent("PATCH")[1]["series"]["count"], 3);
}

TEST_F(EventSeriesTest, ASeriesWhoseEventHasExpiredIsCreatedAgainWithItsCount) {
  recorder_.Normal(web_, "Synced", "first");
  // The PATCH of the second one returns 404, because no response is scripted for it.
  recorder_.Normal(web_, "Synced", "second");
  recorder_.Stop();

  ASSERT_THAT(Sent("POST"), SizeIs(2));
  EXPECT_EQ(Sent("POST")[1]["series"]["count"], 2);
  EXPECT_EQ(Sent("POST")[1]["note"], "first");
}

TEST_F(EventSeriesTest, AnEventWhoseNameAnotherRecorderHasUsedIsWrittenWithAnotherName) {
  std::string taken;
  transport_.On("POST", kGroupEventsPath, [&](const ApiRequest& request) -> ApiResponse {
    const std::string name = json::parse(request.body)["metadata"]["name"];
    if (taken.empty()) taken = name;
    if (name == taken) return {.status = 409, .body = R"({"reason":"AlreadyExists"})"};
    return {.status = 201, .body = "{}"};
  });
  recorder_.Normal(web_, "Synced", "first");
  transport_.Await("POST", kGroupEventsPath, 2);
  const std::string name = Sent("POST")[1]["metadata"]["name"];
  const std::string event = kGroupEventsPath + ("/" + name);
  transport_.Respond("PATCH", event, 200, "{}");
  recorder_.Normal(web_, "Synced", "second");
  transport_.Await("PATCH", event, 1);

  EXPECT_NE(name, taken);
}

TEST_F(EventSeriesTest, OccurrencesThatDifferInReasonActionOrRelatedObjectAreOtherEvents) {
  recorder_.Normal(web_, "Synced", "all well");
  recorder_.Normal(web_, "Scaled", "all well");
  recorder_.Normal(web_, "Synced", "all well", {.action = "Scale"});
  recorder_.Normal(web_, "Synced", "all well", {.related = ObjectReference{.name = "n1"}});
  recorder_.Warning(web_, "Synced", "all well");
  recorder_.Stop();

  EXPECT_EQ(NamesOfCreatedEvents().size(), 5);
}

}  // namespace
}  // namespace kopp
