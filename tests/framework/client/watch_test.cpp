#include <chrono>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/client.hpp>
#include <kopp/dynamic_client.hpp>
#include <kopp/kinds.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::HasSubstr;

constexpr const char* kWatchedPods = "/api/v1/namespaces/shop/pods";

/// Returns a frame of a watch.
std::string Frame(const std::string& type, const std::string& name, const std::string& version) {
  return R"({"type":")" + type +
         R"(","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":")" + name +
         R"(","namespace":"shop","resourceVersion":")" + version + "\"}}}\n";
}

class WatcherTest : public ::testing::Test {
 protected:
  WatcherTest() { RespondWithNewestVersion("100"); }
  Watcher<Pod> WatchPods(const std::string& version = "7") {
    return client_.Watch<Pod>({.ns = "shop"},
                              {.resource_version = version, .clock = clock_, .seed = 1});
  }
  /// Returns the watch requests so far.
  std::vector<ApiRequest> Watches() {
    std::vector<ApiRequest> watches;
    for (ApiRequest& request : transport_.Requests()) {
      if (request.method == "WATCH") watches.push_back(std::move(request));
    }
    return watches;
  }
  void RespondWithNewestVersion(const std::string& version) {
    transport_.Respond(
        "GET", kWatchedPods, 200,
        R"({"kind":"PodList","metadata":{"resourceVersion":")" + version + R"("},"items":[]})");
  }
  void Send(const std::string& frames) { transport_.SendToWatch(kWatchedPods, frames); }

  testing::FakeClock clock_;
  testing::ScriptedTransport transport_{clock_};
  Client client_{transport_};
};

TEST_F(WatcherTest, NextReturnsEventsWithTheirTypeObjectAndVersion) {
  auto pods = WatchPods();
  Send(Frame("ADDED", "a", "8") + Frame("MODIFIED", "a", "9") + Frame("DELETED", "a", "10"));

  const auto added = pods.Next();
  ASSERT_TRUE(added);
  EXPECT_EQ(added->type, WatchEventType::kAdded);
  EXPECT_EQ(added->object.metadata.name, "a");
  EXPECT_EQ(added->resource_version, "8");
  EXPECT_EQ(pods.Next()->type, WatchEventType::kModified);
  EXPECT_EQ(pods.Next()->type, WatchEventType::kDeleted);
  EXPECT_EQ(pods.resource_version(), "10");
}

TEST_F(WatcherTest, ADeletionOfAnObjectThatDoesNotFitTheViewHasItsMetadata) {
  auto pods = WatchPods();
  Send(R"({"type":"DELETED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a",
      "namespace":"shop","resourceVersion":"8"},"status":{"phase":3}}})");

  const auto deleted = pods.Next();
  ASSERT_TRUE(deleted);
  EXPECT_EQ(deleted->type, WatchEventType::kDeleted);
  EXPECT_EQ(deleted->object.metadata.name, "a");
  EXPECT_EQ(deleted->resource_version, "8");
}

TEST_F(WatcherTest, AWatchByKindReturnsWholeObjects) {
  auto pods =
      client_.Dynamic(Pod::kKind).Watch({.ns = "shop"}, {.resource_version = "7", .clock = clock_});
  Send(Frame("ADDED", "a", "8") + Frame("BOOKMARK", "", "9"));

  const auto added = pods.Next();
  ASSERT_TRUE(added);
  EXPECT_EQ(added->object.Json(), json::parse(R"({"apiVersion":"v1","kind":"Pod",
      "metadata":{"name":"a","namespace":"shop","resourceVersion":"8"}})"));
  EXPECT_EQ(pods.Next()->object.text(), "{}") << "a bookmark has no object";
}

TEST_F(WatcherTest, NextReturnsNothingAfterItsTimeout) {
  EXPECT_EQ(WatchPods().Next(0s), std::nullopt);
}

TEST_F(WatcherTest, TheRequestHasTheSelectorsTheVersionAndBookmarks) {
  auto pods =
      client_.Watch<Pod>({.ns = "shop", .labels = "app=web", .fields = "status.phase=Running"},
                         {.resource_version = "7", .clock = clock_});
  EXPECT_TRUE(Watches().empty()) << "the first request is sent by Next";

  (void)pods.Next(0s);

  EXPECT_THAT(Watches()[0].target,
              HasSubstr("?watch=true&labelSelector=app%3Dweb&fieldSelector=status.phase%3DRunning"
                        "&allowWatchBookmarks=true&resourceVersion=7&timeoutSeconds="));
}

TEST_F(WatcherTest, AWatchWithoutAVersionOrFromVersionZeroIsRejected) {
  EXPECT_THROW((void)WatchPods(""), std::invalid_argument);
  EXPECT_THROW((void)WatchPods("0"), std::invalid_argument);
}

TEST_F(WatcherTest, AWatchOfANamespaceThatWouldChangeTheUrlPathIsRejected) {
  EXPECT_THROW((void)client_.Watch<Pod>({.ns = "a/b"}, {.resource_version = "7"}),
               std::invalid_argument);
}

TEST_F(WatcherTest, AWatchThatEndsResumesFromTheLastEventAfterAtLeastOneSecond) {
  auto pods = WatchPods();
  Send(Frame("ADDED", "a", "8"));
  (void)pods.Next();
  transport_.EndWatch(kWatchedPods);

  EXPECT_EQ(pods.Next(0s), std::nullopt);
  clock_.Advance(999ms);
  EXPECT_EQ(pods.Next(0s), std::nullopt);
  EXPECT_EQ(Watches().size(), 1);
  clock_.Advance(1ms);
  EXPECT_EQ(pods.Next(0s), std::nullopt);

  ASSERT_EQ(Watches().size(), 2);
  EXPECT_THAT(Watches()[1].target, HasSubstr("resourceVersion=8&"));
}

TEST_F(WatcherTest, ABookmarkIsReportedAndAdvancesTheVersion) {
  auto pods = WatchPods();
  Send(Frame("BOOKMARK", "", "12"));
  const auto bookmark = pods.Next();
  ASSERT_TRUE(bookmark);
  EXPECT_EQ(bookmark->type, WatchEventType::kBookmark);
  EXPECT_EQ(bookmark->resource_version, "12");
  transport_.EndWatch(kWatchedPods);
  (void)pods.Next(0s);

  clock_.Advance(1s);
  (void)pods.Next(0s);

  EXPECT_THAT(Watches().back().target, HasSubstr("resourceVersion=12&"));
}

TEST_F(WatcherTest, ABrokenWatchIsReportedAndResumesAfterABackoff) {
  int tries = 0;
  transport_.On("WATCH", kWatchedPods, [&](const ApiRequest&) -> ApiResponse {
    if (++tries == 1) throw TransportError(TransportError::Kind::kBroken, "connection reset");
    return {.status = 200, .body = Frame("ADDED", "a", "8")};
  });
  auto pods = WatchPods();

  const auto error = pods.Next(0s);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->type, WatchEventType::kError);
  EXPECT_THAT(error->problem, HasSubstr("connection reset"));
  EXPECT_EQ(pods.Next(0s), std::nullopt);
  EXPECT_EQ(tries, 1);
  clock_.Advance(2s);

  EXPECT_EQ(pods.Next(0s)->type, WatchEventType::kAdded);
}

TEST_F(WatcherTest, ARetryAfterOfTheServerDelaysTheNextRequest) {
  int tries = 0;
  transport_.On("WATCH", kWatchedPods, [&](const ApiRequest&) -> ApiResponse {
    if (++tries == 1) return {.status = 429, .retry_after = 20s};
    return {.status = 200, .body = Frame("ADDED", "a", "8")};
  });
  auto pods = WatchPods();

  EXPECT_EQ(pods.Next(0s)->type, WatchEventType::kError);
  clock_.Advance(19s);
  EXPECT_EQ(pods.Next(0s), std::nullopt);
  EXPECT_EQ(tries, 1);
  clock_.Advance(20s);

  EXPECT_EQ(pods.Next(0s)->type, WatchEventType::kAdded);
}

TEST_F(WatcherTest, AnErrorEventWithCode500IsReportedAndTheWatchResumes) {
  auto pods = WatchPods();
  Send(R"({"type":"ERROR","object":{"kind":"Status","code":500,"message":"etcd"}})");

  const auto error = pods.Next();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->type, WatchEventType::kError);
  clock_.Advance(2s);
  Send(Frame("ADDED", "a", "8"));
  EXPECT_EQ(pods.Next()->type, WatchEventType::kAdded);
  EXPECT_THAT(Watches().back().target, HasSubstr("resourceVersion=7&"));
}

TEST_F(WatcherTest, AnExpiredVersionIsThrownAsAnApiErrorWithIsGone) {
  auto pods = WatchPods();
  Send(R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}})");

  try {
    (void)pods.Next();
    FAIL() << "Next returned";
  } catch (const ApiError& error) {
    EXPECT_TRUE(error.IsGone());
  }
}

TEST_F(WatcherTest, ARejectedRequestIsThrownAsAnApiError) {
  transport_.Respond("WATCH", kWatchedPods, 403, R"({"reason":"Forbidden"})");

  try {
    (void)WatchPods().Next();
    FAIL() << "Next returned";
  } catch (const ApiError& error) {
    EXPECT_TRUE(error.IsForbidden());
  }
}

TEST_F(WatcherTest, AnObjectThatDoesNotFitTheViewIsReportedAndSkipped) {
  auto pods = WatchPods();
  Send(R"({"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1",
           "metadata":{"name":"odd","namespace":"shop"},"status":{"phase":3}}})" +
       Frame("ADDED", "a", "8"));

  const auto error = pods.Next();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->type, WatchEventType::kError);
  EXPECT_THAT(error->problem, HasSubstr("shop/odd"));
  EXPECT_EQ(pods.Next()->object.metadata.name, "a");
}

TEST_F(WatcherTest, ASilentWatchIsOpenedAgain) {
  auto pods = WatchPods();
  Send(Frame("BOOKMARK", "", "8"));
  (void)pods.Next();

  clock_.Advance(75s);  // a server that sends bookmarks sends one each minute

  EXPECT_THAT(pods.Next(0s)->problem, HasSubstr("no event or bookmark"));
  EXPECT_EQ(pods.Next(0s), std::nullopt);
  EXPECT_EQ(Watches().size(), 2);
}

TEST_F(WatcherTest, ASilentWatchOfAServerWithAnOlderVersionThrowsIsGone) {
  RespondWithNewestVersion("3");
  auto pods = WatchPods();
  Send(Frame("BOOKMARK", "", "8"));
  (void)pods.Next();
  clock_.Advance(75s);
  (void)pods.Next(0s);

  try {
    (void)pods.Next(0s);
    FAIL() << "Next returned";
  } catch (const ApiError& error) {
    EXPECT_TRUE(error.IsGone());
    EXPECT_THAT(error.what(), HasSubstr("etcd was probably restored from a backup"));
  }
}

TEST_F(WatcherTest, AnEventWithAnOlderVersionIsNotReturned) {
  auto pods = WatchPods();
  Send(Frame("ADDED", "stale", "5"));

  EXPECT_EQ(pods.Next(0s), std::nullopt);
  clock_.Advance(1s);
  Send(Frame("ADDED", "a", "8"));
  EXPECT_EQ(pods.Next(0s)->object.metadata.name, "a");
}

TEST_F(WatcherTest, ASlowCallerGetsTheEventsThatHaveArrivedMeanwhile) {
  auto pods = WatchPods();
  Send(Frame("BOOKMARK", "", "8"));
  (void)pods.Next();
  Send(Frame("ADDED", "a", "9"));

  clock_.Advance(75s);

  EXPECT_EQ(pods.Next(0s)->type, WatchEventType::kAdded);
}

TEST_F(WatcherTest, AStopEndsNextWithATransportError) {
  std::stop_source source;
  auto pods = client_.With(source.get_token())
                  .Watch<Pod>({.ns = "shop"}, {.resource_version = "7", .clock = clock_});
  const std::jthread stopper([&] {
    clock_.AwaitSleepers(1);  // Next waits for an event
    source.request_stop();
  });

  try {
    (void)pods.Next();
    FAIL() << "Next returned";
  } catch (const TransportError& error) {
    EXPECT_EQ(error.kind(), TransportError::Kind::kCancelled);
  }
}

TEST_F(WatcherTest, AStopDuringTheWaitBeforeARestartEndsNext) {
  transport_.Respond("WATCH", kWatchedPods, 503, "");
  std::stop_source source;
  auto pods = client_.With(source.get_token())
                  .Watch<Pod>({.ns = "shop"}, {.resource_version = "7", .clock = clock_});
  EXPECT_EQ(pods.Next()->type, WatchEventType::kError);
  const std::jthread stopper([&] {
    clock_.AwaitSleepers(1);
    source.request_stop();
  });

  EXPECT_THROW((void)pods.Next(), TransportError);
}

}  // namespace
}  // namespace kopp
