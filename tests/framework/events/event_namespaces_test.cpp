// Tests of an EventRecorder whose Events of one namespace are refused.
#include "events_fixture.hpp"

#include <chrono>
#include <cstddef>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/events.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr const char* kNoisyPath = "/api/v1/namespaces/noisy/events";
constexpr const char* kCalmPath = "/api/v1/namespaces/calm/events";

class CountingMetrics final : public EventMetrics {
 public:
  void AddDroppedEvents(std::string_view reason, std::size_t count) override {
    const std::lock_guard guard{mutex_};
    counts_[std::string(reason)] += count;
  }
  std::map<std::string, std::size_t> Counts() {
    const std::lock_guard guard{mutex_};
    return counts_;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::size_t> counts_;
};

/// The API server refuses the Events of the namespace "noisy" for now.
class EventNamespacesTest : public EventsTest {
 protected:
  EventNamespacesTest() {
    transport_.Respond("POST", kNoisyPath, 429, "{}");
    transport_.Respond("POST", kCalmPath, 201, "{}");
  }
  std::unique_ptr<EventRecorder> NewRecorder(EventRecorderOptions options = {}) {
    options.metrics = &metrics_;
    if (random_ >= 0) options.random = [this] { return random_; };
    return std::make_unique<EventRecorder>(Client(transport_), "shop-operator", NewLogger(), clock_,
                                           options);
  }
  /// Returns the reasons of the Events that were sent to `path`.
  std::vector<std::string> Reasons(const std::string& path) {
    std::vector<std::string> reasons;
    for (const ApiRequest& request : transport_.Requests()) {
      if (request.target.starts_with(path)) {
        reasons.push_back(json::parse(request.body)["reason"]);
      }
    }
    return reasons;
  }

  CountingMetrics metrics_;
  double random_ = 0;
  ObjectReference noisy_{.kind = "Pod", .ns = "noisy", .name = "web"};
  ObjectReference calm_{.kind = "Pod", .ns = "calm", .name = "web"};
};

TEST_F(EventNamespacesTest, RefusedEventsOfANamespaceDoNotDelayThoseOfOthers) {
  const auto recorder = NewRecorder();
  for (const char* reason : {"A", "B", "C"}) recorder->Normal(noisy_, reason, "");
  transport_.Await("POST", kNoisyPath);

  for (const char* reason : {"A", "B", "C", "D", "E"}) recorder->Normal(calm_, reason, "");

  transport_.Await("POST", kCalmPath, 5);  // the clock does not advance
  EXPECT_THAT(Reasons(kCalmPath), ElementsAre("A", "B", "C", "D", "E"));
  EXPECT_THAT(Reasons(kNoisyPath), ElementsAre("A"));
}

TEST_F(EventNamespacesTest, RefusedEventsAreWrittenInTheirOrderLater) {
  const auto recorder = NewRecorder();
  for (const char* reason : {"A", "B", "C"}) recorder->Normal(noisy_, reason, "");
  transport_.Await("POST", kNoisyPath);
  clock_.AwaitSleeperFor(10s);
  transport_.Respond("POST", kNoisyPath, 201, "{}");

  clock_.Advance(10s);

  transport_.Await("POST", kNoisyPath, 4);
  EXPECT_THAT(Reasons(kNoisyPath), ElementsAre("A", "A", "B", "C"));
}

TEST_F(EventNamespacesTest, TheWaitBeforeARetryIsLengthenedByUpToAHalfAtRandom) {
  random_ = 1;
  const auto recorder = NewRecorder();
  recorder->Normal(noisy_, "A", "");
  transport_.Await("POST", kNoisyPath);

  clock_.AwaitSleeperFor(15s);
}

TEST_F(EventNamespacesTest, TheWaitBeforeARetryIsRandomByDefault) {
  random_ = -1;
  const auto recorder = NewRecorder();
  recorder->Normal(noisy_, "A", "");
  transport_.Await("POST", kNoisyPath);
  clock_.AwaitSleepers(1);

  clock_.Advance(10s);
  clock_.AwaitSleepers(1);  // with a probability of almost 1 the wait is longer

  EXPECT_THAT(Reasons(kNoisyPath), SizeIs(1));
}

TEST_F(EventNamespacesTest, StopTriesANamespaceThatWaitsOnceMoreAndCountsWhatItDrops) {
  const auto recorder = NewRecorder();
  for (const char* reason : {"A", "B", "C"}) recorder->Normal(noisy_, reason, "");
  transport_.Await("POST", kNoisyPath);
  clock_.AwaitSleeperFor(10s);

  recorder->Stop();

  EXPECT_THAT(Reasons(kNoisyPath), ElementsAre("A", "A"));
  EXPECT_THAT(metrics_.Counts(), ElementsAre(std::pair("stopped", 3)));
}

TEST_F(EventNamespacesTest, ARefusedNamespaceDoesNotKeepStopFromWritingTheEventsOfOthers) {
  std::promise<void> released;
  const auto release = released.get_future().share();
  transport_.On("POST", kCalmPath, [release](const ApiRequest&) -> ApiResponse {
    release.wait();
    return {.status = 201, .body = "{}"};
  });
  const auto recorder = NewRecorder();
  recorder->Normal(calm_, "A", "");
  transport_.Await("POST", kCalmPath);
  for (const char* reason : {"A", "B"}) recorder->Normal(noisy_, reason, "");
  for (const char* reason : {"B", "C"}) recorder->Normal(calm_, reason, "");

  std::jthread stopping([&] { recorder->Stop(); });
  clock_.AwaitSleeperFor(5s);
  released.set_value();
  stopping.join();

  EXPECT_THAT(Reasons(kCalmPath), ElementsAre("A", "B", "C"));
  EXPECT_THAT(Reasons(kNoisyPath), ElementsAre("A"));
}

TEST_F(EventNamespacesTest, StopWritesTheLastCountsOfSeriesOfEachNamespace) {
  const auto path = [](const std::string& ns) {
    return "/apis/events.k8s.io/v1/namespaces/" + ns + "/events";
  };
  const auto recorder = NewRecorder({.api = EventApi::kEvents});
  std::vector<std::string> events;
  const std::vector<std::string> namespaces{"noisy", "calm", "quiet"};
  for (const std::string& ns : namespaces) {
    const ObjectReference object{.kind = "Pod", .ns = ns, .name = "web"};
    transport_.Respond("POST", path(ns), 201, "{}");
    recorder->Normal(object, "A", "");
    events.push_back(AcceptPatches(path(ns)));
    recorder->Normal(object, "A", "");
    transport_.Await("PATCH", events.back(), 1);
    recorder->Normal(object, "A", "");
  }
  transport_.Respond("PATCH", events[0], 429, "{}");

  recorder->Stop();

  EXPECT_THAT(transport_.Await("PATCH", events[1], 2), SizeIs(2));
  EXPECT_THAT(transport_.Await("PATCH", events[2], 2), SizeIs(2));
}

TEST_F(EventNamespacesTest, DroppedEventsOfAFullQueueAreCounted) {
  UnresponsiveTransport transport;
  EventRecorder recorder(Client(transport), "shop-operator", NewLogger(), clock_,
                         {.metrics = &metrics_});
  recorder.Normal(calm_, "A", "");
  transport.AwaitCall();

  for (int i = 0; i < 1010; ++i) recorder.Normal(noisy_, "Tick", std::to_string(i));
  recorder.Normal(calm_, "B", "");

  EXPECT_THAT(metrics_.Counts(), ElementsAre(std::pair("queue_full", 11)));
  recorder.Stop(0s);
}

TEST_F(EventNamespacesTest, RejectedEventsAreCountedUnlessTheirNamespaceIsBeingDeleted) {
  transport_.Respond("POST", kNoisyPath, 403, R"({"reason":"Forbidden"})");
  transport_.Respond("POST", kCalmPath, 403,
                     R"({"reason":"Forbidden","details":{"causes":[{"reason":"NamespaceTerminating"
                         }]}})");
  const auto recorder = NewRecorder();
  recorder->Normal(noisy_, "A", "");
  recorder->Normal(calm_, "A", "");
  recorder->Stop();

  EXPECT_THAT(metrics_.Counts(), ElementsAre(std::pair("rejected", 1)));
}

TEST_F(EventNamespacesTest, AnEventThatWasTriedTwelveTimesIsDroppedAndCounted) {
  const auto recorder = NewRecorder();
  recorder->Normal(noisy_, "A", "");
  recorder->Normal(noisy_, "B", "");

  for (std::size_t tries = 1; tries < 12; ++tries) {
    transport_.Await("POST", kNoisyPath, tries);
    clock_.AwaitSleeperFor(10s);
    clock_.Advance(10s);
  }
  transport_.Await("POST", kNoisyPath, 13);

  EXPECT_EQ(Reasons(kNoisyPath).back(), "B");
  EXPECT_THAT(metrics_.Counts(), ElementsAre(std::pair("retry_limit", 1)));
}

}  // namespace
}  // namespace kopp
