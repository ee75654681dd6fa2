#include <atomic>
#include <chrono>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/events.hpp>
#include <kopp/kinds.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kEventsPath = "/api/v1/namespaces/shop/events";

/// A transport whose calls block until they are cancelled.
class UnresponsiveTransport final : public Transport {
 public:
  Response Call(const Request&, std::stop_token stop) override {
    called_.count_down();
    std::promise<void> stopped;
    const std::stop_callback wake(stop, [&] { stopped.set_value(); });
    stopped.get_future().wait();
    cancelled_ = true;
    throw TransportError(TransportError::Kind::kCancelled, "stopped");
  }
  std::unique_ptr<Stream> Open(const Request&, std::stop_token) override { return nullptr; }

  /// Blocks until the first call.
  void AwaitCall() const { called_.wait(); }
  [[nodiscard]] bool IsCancelled() const { return cancelled_; }

 private:
  std::latch called_{1};
  std::atomic<bool> cancelled_ = false;
};

class EventRecorderTest : public ::testing::Test {
 protected:
  EventRecorderTest() {
    transport_.Respond("POST", kEventsPath, 201, "{}");
    web_.metadata.name = "web";
    web_.metadata.ns = "shop";
    web_.metadata.uid = "u1";
    web_.metadata.resourceVersion = "7";
  }
  Logger NewLogger() {
    return Logger({.write = [this](std::string_view line) {
      const std::lock_guard guard{mutex_};
      log_ += line;
    }});
  }
  std::string LogText() {
    const std::lock_guard guard{mutex_};
    return log_;
  }
  std::vector<Request> RequestsWithMethod(const std::string& method) {
    std::vector<Request> requests;
    for (const Request& request : transport_.Requests()) {
      if (request.method == method) requests.push_back(request);
    }
    return requests;
  }

  std::mutex mutex_;
  std::string log_;
  testing::FakeClock clock_{WallTime{1'700'000'000s}};
  testing::ScriptedTransport transport_{clock_};
  Pod web_;
  EventRecorder recorder_{Client{transport_, "shop-operator"}, "shop-operator", NewLogger(),
                          clock_};
};

TEST_F(EventRecorderTest, AnEventIsCreatedWithItsObjectReasonMessageAndSource) {
  recorder_.Warning(web_, "OutOfStock", "no apples left");
  recorder_.Stop();

  ASSERT_THAT(transport_.Requests(), SizeIs(1));
  json event = json::parse(transport_.Requests()[0].body);
  EXPECT_THAT(event["metadata"]["name"].get<std::string>(), HasSubstr("web."));
  event["metadata"].erase("name");
  EXPECT_EQ(event, json::parse(R"({"apiVersion":"v1","kind":"Event",
      "metadata":{"namespace":"shop"},
      "involvedObject":{"apiVersion":"v1","kind":"Pod","name":"web","namespace":"shop","uid":"u1",
                        "resourceVersion":"7"},
      "type":"Warning","reason":"OutOfStock","message":"no apples left","count":1,
      "source":{"component":"shop-operator"},
      "reportingComponent":"shop-operator","reportingInstance":"",
      "firstTimestamp":"2023-11-14T22:13:20Z","lastTimestamp":"2023-11-14T22:13:20Z"})"));
}

TEST_F(EventRecorderTest, AnEventAboutAJsonObjectNamesTheGivenKind) {
  const json item = {{"metadata", {{"name", "web"}, {"namespace", "shop"}, {"uid", "u1"}}}};
  recorder_.Normal(ReferenceTo(Pod::kKind, item), "Synced", "all well");
  recorder_.Stop();

  ASSERT_THAT(transport_.Requests(), SizeIs(1));
  const json event = json::parse(transport_.Requests()[0].body);
  EXPECT_EQ(event["type"], "Normal");
  EXPECT_EQ(event["involvedObject"], json::parse(R"({"apiVersion":"v1","kind":"Pod","name":"web",
                        "namespace":"shop","uid":"u1"})"));
}

TEST(ReferenceToTest, MetadataThatIsMissingOrOfAnotherTypeStaysEmpty) {
  for (const json& object : {json(), json(3), json::object(), json{{"metadata", 3}},
                             json{{"metadata", {{"name", 3}}}}}) {
    const ObjectReference reference = ReferenceTo(Pod::kKind, object);
    EXPECT_EQ(reference.kind, "Pod");
    EXPECT_EQ(reference.name + reference.ns + reference.uid + reference.resourceVersion, "");
  }
}

TEST_F(EventRecorderTest, ARepeatedEventIncrementsTheCountOfTheExistingEvent) {
  recorder_.Normal(web_, "Synced", "all well");
  const std::string name =
      json::parse(transport_.Await("POST", kEventsPath).body)["metadata"]["name"];
  transport_.Respond("PATCH", kEventsPath + ("/" + name), 200, "{}");
  clock_.Advance(60s);

  recorder_.Normal(web_, "Synced", "all well");
  recorder_.Normal(web_, "Synced", "all well");
  recorder_.Stop();

  EXPECT_THAT(RequestsWithMethod("POST"), SizeIs(1));
  const auto patches = RequestsWithMethod("PATCH");
  ASSERT_THAT(patches, SizeIs(2));
  EXPECT_EQ(json::parse(patches[1].body),
            json::parse(R"({"count":3,"lastTimestamp":"2023-11-14T22:14:20Z"})"));
}

TEST_F(EventRecorderTest, ARepeatedEventIsCreatedAgainWithTheIncrementedCountIfItHasExpired) {
  recorder_.Normal(web_, "Synced", "all well");
  // The PATCH of the second one returns 404, because no response is scripted for it.
  recorder_.Normal(web_, "Synced", "all well");
  recorder_.Stop();

  const auto posts = RequestsWithMethod("POST");
  ASSERT_THAT(posts, SizeIs(2));
  EXPECT_EQ(json::parse(posts[1].body)["count"], 2);
}

TEST_F(EventRecorderTest, EventsThatDifferInTypeObjectOrMessageAreNotAggregated) {
  Pod other = web_;
  other.metadata.name = "db";
  recorder_.Normal(web_, "Synced", "all well");
  recorder_.Normal(web_, "Synced", "still well");
  recorder_.Warning(web_, "Synced", "all well");
  recorder_.Normal(other, "Synced", "all well");
  recorder_.Stop();

  EXPECT_THAT(RequestsWithMethod("POST"), SizeIs(4));
}

TEST_F(EventRecorderTest, EventsOfOneObjectAreLimitedToABurstOf25AndThenOneEveryFiveMinutes) {
  for (int i = 0; i < 40; ++i) recorder_.Normal(web_, "Tick", std::to_string(i));
  transport_.Await("POST", kEventsPath, 25);
  recorder_.Normal(web_, "Tick", "still too many");
  Pod other = web_;
  other.metadata.name = "db";
  recorder_.Normal(other, "Tick", "of another object");
  transport_.Await("POST", kEventsPath, 26);
  clock_.Advance(300s);
  recorder_.Normal(web_, "Tick", "later");
  recorder_.Stop();

  EXPECT_THAT(RequestsWithMethod("POST"), SizeIs(27));
}

TEST_F(EventRecorderTest, AnEventOfAClusterScopedObjectIsCreatedInTheDefaultNamespace) {
  Namespace shop;
  shop.metadata.name = "shop";
  recorder_.Normal(shop, "Opened", "come in");
  recorder_.Stop();

  EXPECT_THAT(transport_.Requests()[0].target, HasSubstr("/api/v1/namespaces/default/events"));
}

TEST_F(EventRecorderTest, ARejectedEventIsLoggedAndNotRetried) {
  transport_.Respond("POST", kEventsPath, 403, R"({"reason":"Forbidden"})");
  recorder_.Normal(web_, "Synced", "all well");
  recorder_.Stop();

  EXPECT_THAT(RequestsWithMethod("POST"), SizeIs(1));
  EXPECT_THAT(LogText(), HasSubstr("Server rejected event"));
}

TEST_F(EventRecorderTest, AnEventIsRetriedEvery10SecondsWhileTheServerIsUnreachable) {
  int attempts = 0;
  transport_.On("POST", kEventsPath, [&](const Request&) -> Response {
    if (++attempts < 3) throw TransportError(TransportError::Kind::kUnreachable, "refused");
    return {.status = 201, .body = "{}"};
  });
  recorder_.Normal(web_, "Synced", "all well");

  for (std::size_t count = 1; count < 3; ++count) {
    transport_.Await("POST", kEventsPath, count);
    clock_.AwaitSleepers(1);
    clock_.Advance(10s);
  }
  transport_.Await("POST", kEventsPath, 3);
  recorder_.Stop();

  EXPECT_EQ(attempts, 3);
}

TEST_F(EventRecorderTest, ALongMessageIsCutTo1024Bytes) {
  recorder_.Normal(web_, "Synced", std::string(5000, 'x'));
  recorder_.Stop();

  EXPECT_THAT(json::parse(transport_.Requests()[0].body)["message"].get<std::string>(),
              SizeIs(1024));
}

TEST_F(EventRecorderTest, ALongMessageIsCutBetweenTwoCharacters) {
  recorder_.Normal(web_, "Synced", std::string(1023, 'x') + "é and more");
  recorder_.Stop();

  EXPECT_EQ(json::parse(transport_.Requests()[0].body)["message"], std::string(1023, 'x'));
}

TEST_F(EventRecorderTest, InvalidUtf8InAMessageIsReplaced) {
  recorder_.Normal(web_, "Synced", "broken \xff text");
  recorder_.Stop();

  EXPECT_EQ(json::parse(transport_.Requests()[0].body)["message"], "broken \uFFFD text");
}

TEST_F(EventRecorderTest, AMessageHasAtMost1024BytesAfterInvalidUtf8IsReplaced) {
  recorder_.Normal(web_, "Synced", std::string(1024, '\xff'));
  recorder_.Stop();

  std::string expected;
  for (int i = 0; i < 341; ++i) expected += "\uFFFD";  // 3 bytes each
  EXPECT_EQ(json::parse(transport_.Requests()[0].body)["message"], expected);
}

TEST_F(EventRecorderTest, TheEventNameDoesNotContainAnObjectNameThatIsTooLongOrInvalid) {
  web_.metadata.name = "system:" + std::string(240, 'x');
  recorder_.Normal(web_, "Synced", "all well");
  recorder_.Stop();

  EXPECT_THAT(json::parse(transport_.Requests()[0].body)["metadata"]["name"].get<std::string>(),
              ::testing::StartsWith("event."));
}

TEST_F(EventRecorderTest, PendingEventsAreNotRetriedAfterStopIfTheServerDoesNotRespond) {
  transport_.On("POST", kEventsPath, [](const Request&) -> Response {
    throw TransportError(TransportError::Kind::kTimeout, "no response");
  });
  for (int i = 0; i < 20; ++i) recorder_.Normal(web_, "Tick", std::to_string(i));
  transport_.Await("POST", kEventsPath);

  recorder_.Stop();

  EXPECT_LE(RequestsWithMethod("POST").size(), 2);
}

TEST(EventRecorderStopTest, AWriteWithoutAResponseIsCancelledFiveSecondsAfterStop) {
  testing::FakeClock clock;
  UnresponsiveTransport transport;
  const Logger silent({.write = [](std::string_view) {}});
  EventRecorder recorder(Client(transport), "shop-operator", silent, clock);
  recorder.Normal(ObjectReference{.kind = "Pod", .ns = "shop", .name = "web"}, "Synced", "well");
  transport.AwaitCall();

  std::jthread stopping([&] { recorder.Stop(); });
  clock.AwaitSleeperFor(5s);
  EXPECT_FALSE(transport.IsCancelled());
  clock.Advance(5s);
  stopping.join();

  EXPECT_TRUE(transport.IsCancelled());
}

TEST_F(EventRecorderTest, EventsAfterStopAreDropped) {
  recorder_.Stop();
  recorder_.Normal(web_, "Synced", "all well");
  recorder_.Stop();

  EXPECT_THAT(transport_.Requests(), IsEmpty());
}

}  // namespace
}  // namespace kopp
