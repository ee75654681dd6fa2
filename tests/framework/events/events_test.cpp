#include "events_fixture.hpp"

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/events.hpp>
#include <kopp/kinds.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kEventsPath = "/api/v1/namespaces/shop/events";

class EventRecorderTest : public EventsTest {
 protected:
  EventRecorderTest() { transport_.Respond("POST", kEventsPath, 201, "{}"); }

  EventRecorder recorder_{
      Client{transport_, "shop-operator"}, "shop-operator", NewLogger(), clock_, {.random = [] {
        return 0.0;
      }}};
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
  AcceptPatches(kEventsPath);
  clock_.Advance(60s);

  recorder_.Normal(web_, "Synced", "all well");
  recorder_.Normal(web_, "Synced", "all well");
  recorder_.Stop();

  EXPECT_THAT(Sent("POST"), SizeIs(1));
  ASSERT_THAT(Sent("PATCH"), SizeIs(2));
  EXPECT_EQ(Sent("PATCH")[1], json::parse(R"({"count":3,"lastTimestamp":"2023-11-14T22:14:20Z"})"));
}

TEST_F(EventRecorderTest, ARepeatedEventIsCreatedAgainWithTheIncrementedCountIfItHasExpired) {
  recorder_.Normal(web_, "Synced", "all well");
  // The PATCH of the second one returns 404, because no response is scripted for it.
  recorder_.Normal(web_, "Synced", "all well");
  recorder_.Stop();

  ASSERT_THAT(Sent("POST"), SizeIs(2));
  EXPECT_EQ(Sent("POST")[1]["count"], 2);
}

TEST_F(EventRecorderTest, EventsThatDifferInTypeObjectOrMessageAreNotAggregated) {
  Pod other = web_;
  other.metadata.name = "db";
  recorder_.Normal(web_, "Synced", "all well");
  recorder_.Normal(web_, "Synced", "still well");
  recorder_.Warning(web_, "Synced", "all well");
  recorder_.Normal(other, "Synced", "all well");
  recorder_.Stop();

  EXPECT_THAT(Sent("POST"), SizeIs(4));
}

TEST_F(EventRecorderTest, EventsOfOneObjectAreLimitedToABurstOf25AndThenOneEveryFiveMinutes) {
  const auto reason = [](int i) { return "Tick" + std::to_string(i); };
  for (int i = 0; i < 40; ++i) recorder_.Normal(web_, reason(i), "tick");
  transport_.Await("POST", kEventsPath, 25);
  recorder_.Normal(web_, reason(40), "still too many");
  Pod other = web_;
  other.metadata.name = "db";
  recorder_.Normal(other, reason(41), "of another object");
  transport_.Await("POST", kEventsPath, 26);
  clock_.Advance(300s);
  recorder_.Normal(web_, reason(42), "later");
  recorder_.Stop();

  EXPECT_THAT(Sent("POST"), SizeIs(27));
}

TEST_F(EventRecorderTest, TheTenthEventThatDiffersOnlyInTheMessageIsCombinedWithTheNextOnes) {
  for (int i = 1; i <= 10; ++i) recorder_.Warning(web_, "Failed", "try " + std::to_string(i));
  const auto posts = transport_.Await("POST", kEventsPath, 10);
  const json combined = json::parse(posts[9].body);
  transport_.Respond("PATCH", kEventsPath + ("/" + combined["metadata"]["name"].get<std::string>()),
                     200, "{}");
  recorder_.Warning(web_, "Failed", "try 11");
  recorder_.Stop();

  EXPECT_EQ(json::parse(posts[8].body)["message"], "try 9");
  EXPECT_EQ(combined["message"], "(combined from similar events): try 10");
  EXPECT_EQ(combined["count"], 1);
  ASSERT_THAT(Sent("PATCH"), SizeIs(1));
  EXPECT_EQ(Sent("PATCH")[0]["count"], 2);
  EXPECT_EQ(Sent("PATCH")[0]["message"], "(combined from similar events): try 11");
}

TEST_F(EventRecorderTest, SimilarEventsAreNotCombinedAfterTenMinutesWithoutOne) {
  for (int i = 1; i <= 9; ++i) recorder_.Warning(web_, "Failed", "try " + std::to_string(i));
  transport_.Await("POST", kEventsPath, 9);
  clock_.Advance(601s);
  recorder_.Warning(web_, "Failed", "try 10");
  recorder_.Stop();

  ASSERT_THAT(Sent("POST"), SizeIs(10));
  EXPECT_EQ(Sent("POST")[9]["message"], "try 10");
}

TEST_F(EventRecorderTest, ActionRelatedObjectFieldPathAndAnnotationsAreWritten) {
  ObjectReference container = ReferenceTo(web_);
  container.fieldPath = "spec.containers{main}";
  recorder_.Normal(container, "Started", "started",
                   {.action = "Start",
                    .related = ObjectReference{.apiVersion = "v1", .kind = "Node", .name = "n1"},
                    .annotations = {{"example.com/run", "7"}}});
  recorder_.Stop();

  ASSERT_THAT(Sent("POST"), SizeIs(1));
  json event = Sent("POST")[0];
  EXPECT_EQ(event["involvedObject"]["fieldPath"], "spec.containers{main}");
  EXPECT_EQ(event["action"], "Start");
  EXPECT_EQ(event["related"], json::parse(R"({"apiVersion":"v1","kind":"Node","name":"n1"})"));
  EXPECT_EQ(event["metadata"]["annotations"], json::parse(R"({"example.com/run":"7"})"));
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

  EXPECT_THAT(Sent("POST"), SizeIs(1));
  EXPECT_THAT(LogText(), HasSubstr("Server rejected event"));
}

TEST_F(EventRecorderTest, AnEventIsRetriedEvery10SecondsWhileTheServerIsUnreachable) {
  int attempts = 0;
  transport_.On("POST", kEventsPath, [&](const ApiRequest&) -> ApiResponse {
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

TEST_F(EventRecorderTest, AnEventIsRetriedIfTheServerAsksToTryLater) {
  std::vector<int> statuses{429, 503, 504};
  transport_.On("POST", kEventsPath, [&](const ApiRequest&) -> ApiResponse {
    if (statuses.empty()) return {.status = 201, .body = "{}"};
    const int status = statuses.back();
    statuses.pop_back();
    return {.status = status, .body = "{}", .retry_after = 30s};
  });
  recorder_.Normal(web_, "Synced", "all well");

  for (std::size_t count = 1; count < 4; ++count) {
    transport_.Await("POST", kEventsPath, count);
    clock_.AwaitSleeperFor(30s);
    clock_.Advance(30s);
  }
  transport_.Await("POST", kEventsPath, 4);
  recorder_.Stop();

  EXPECT_THAT(Sent("POST"), SizeIs(4));
}

TEST_F(EventRecorderTest, AnEventThatExistsAfterARetryIsNotAnError) {
  bool is_first = true;
  transport_.On("POST", kEventsPath, [&](const ApiRequest&) -> ApiResponse {
    if (!std::exchange(is_first, false)) {
      return {.status = 409, .body = R"({"reason":"AlreadyExists"})"};
    }
    throw TransportError(TransportError::Kind::kTimeout, "no response");
  });
  recorder_.Normal(web_, "Synced", "all well");
  transport_.Await("POST", kEventsPath, 1);
  clock_.AwaitSleepers(1);
  clock_.Advance(10s);
  transport_.Await("POST", kEventsPath, 2);
  recorder_.Stop();

  EXPECT_THAT(LogText(), Not(HasSubstr("Server rejected event")));
}

TEST_F(EventRecorderTest, AnEventWhoseNameAnotherRecorderHasUsedIsWrittenWithAnotherName) {
  std::string taken;
  transport_.On("POST", kEventsPath, [&](const ApiRequest& request) -> ApiResponse {
    const std::string name = json::parse(request.body)["metadata"]["name"];
    if (taken.empty()) taken = name;
    if (name == taken) return {.status = 409, .body = R"({"reason":"AlreadyExists"})"};
    return {.status = 201, .body = "{}"};
  });
  recorder_.Normal(web_, "Synced", "all well");
  transport_.Await("POST", kEventsPath, 2);
  const std::string name = json::parse(transport_.Requests()[1].body)["metadata"]["name"];
  transport_.Respond("PATCH", kEventsPath + ("/" + name), 200, "{}");
  recorder_.Normal(web_, "Synced", "all well");
  recorder_.Stop();

  EXPECT_TRUE(name.starts_with("web."));
  EXPECT_NE(name, taken);
  ASSERT_EQ(transport_.Requests().size(), 3U);
  EXPECT_EQ(transport_.Requests()[2].method, "PATCH");
  EXPECT_THAT(transport_.Requests()[2].target, HasSubstr('/' + name));
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

TEST_F(EventRecorderTest, EventsAtTheSameTimeHaveDifferentNames) {
  recorder_.Normal(web_, "Synced", "all well");
  recorder_.Normal(web_, "Scaled", "all well");
  recorder_.Normal(web_, "Scaled", "to 3 replicas");
  recorder_.Stop();

  EXPECT_EQ(NamesOfCreatedEvents().size(), 3);
}

}  // namespace
}  // namespace kopp
