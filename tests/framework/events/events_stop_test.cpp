// Tests of EventRecorder::Stop and of the bounds of a recorder.
#include "events_fixture.hpp"
#include "support/raw_server.hpp"
#include "support/transport_adapters.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/events.hpp>
#include <kopp/transport/transport_policies.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kPostPath = "/api/v1/namespaces/shop/events";

class EventRecorderStopTest : public EventsTest {
 protected:
  EventRecorder NewRecorder(Transport& transport) {
    return {Client{transport}, "shop-operator", NewLogger(), clock_};
  }
  /// Stops `recorder` in another thread, and advances the clock by the five seconds of Stop.
  void StopAfterFiveSeconds(EventRecorder& recorder) {
    std::jthread stopping([&] { recorder.Stop(); });
    clock_.AwaitSleeperFor(5s);
    clock_.Advance(5s);
  }
};

TEST_F(EventRecorderStopTest, PendingEventsAreNotRetriedAfterStopIfTheServerDoesNotRespond) {
  transport_.On("POST", kPostPath, [](const ApiRequest&) -> ApiResponse {
    throw TransportError(TransportError::Kind::kTimeout, "no response");
  });
  EventRecorder recorder = NewRecorder(transport_);
  for (int i = 0; i < 20; ++i) recorder.Normal(web_, "Tick", std::to_string(i));
  transport_.Await("POST", kPostPath);

  recorder.Stop();

  EXPECT_LE(Sent("POST").size(), 2);
}

TEST_F(EventRecorderStopTest, PendingEventsAreNotRetriedAfterStopIfTheServerIsOverloaded) {
  transport_.Respond("POST", kPostPath, 429, "{}");
  EventRecorder recorder = NewRecorder(transport_);
  for (int i = 0; i < 20; ++i) recorder.Normal(web_, "Tick", std::to_string(i));
  transport_.Await("POST", kPostPath);

  recorder.Stop();

  EXPECT_LE(Sent("POST").size(), 2);
}

TEST_F(EventRecorderStopTest, AWriteWithoutAResponseIsCancelledFiveSecondsAfterStop) {
  UnresponsiveTransport transport;
  EventRecorder recorder = NewRecorder(transport);
  recorder.Normal(web_, "Synced", "all well");
  transport.AwaitCall();

  std::jthread stopping([&] { recorder.Stop(); });
  clock_.AwaitSleeperFor(5s);
  EXPECT_FALSE(transport.IsCancelled());
  clock_.Advance(5s);
  stopping.join();

  EXPECT_TRUE(transport.IsCancelled());
}

TEST_F(EventRecorderStopTest, AWriteWithoutAResponseIsCancelledAtAShorterTimeout) {
  UnresponsiveTransport transport;
  EventRecorder recorder = NewRecorder(transport);
  recorder.Normal(web_, "Synced", "all well");
  transport.AwaitCall();

  std::jthread stopping([&] { recorder.Stop(1s); });
  clock_.AwaitSleeperFor(1s);
  clock_.Advance(1s);
  stopping.join();

  EXPECT_TRUE(transport.IsCancelled());
}

TEST_F(EventRecorderStopTest, NormalReturnsAtOnceAndDropsEventsIfTheQueueIsFull) {
  UnresponsiveTransport transport;
  EventRecorder recorder = NewRecorder(transport);
  recorder.Normal(web_, "Synced", "all well");
  transport.AwaitCall();

  for (int i = 0; i < 1010; ++i) recorder.Normal(web_, "Tick", std::to_string(i));

  const std::string log = LogText();
  const std::string line = "Too many queued events";
  EXPECT_THAT(log, HasSubstr(line));
  EXPECT_EQ(log.find(line), log.rfind(line)) << "logged once";
  StopAfterFiveSeconds(recorder);
}

TEST_F(EventRecorderStopTest, EventsAfterStopAreDropped) {
  EventRecorder recorder = NewRecorder(transport_);
  recorder.Stop();
  recorder.Normal(web_, "Synced", "all well");
  recorder.Stop();

  EXPECT_THAT(transport_.Requests(), IsEmpty());
}

/// A recorder that writes to a server on loopback, with the transport of a Manager.
class EventRecorderHungServerTest : public EventsTest,
                                    public ::testing::WithParamInterface<TransportOptions::Calls> {
};

TEST_P(EventRecorderHungServerTest, StopReturnsAfterFiveSecondsAndSendsOneRequest) {
  testing::RawServer server({{testing::ReadRequest(), testing::Stall()}});
  // Only the end of Stop can end the call.
  const auto transport = WithPolicies(MakeTransport({.server = server.Url(), .source = "a test"},
                                                    {.calls = GetParam(), .call_timeout = 1h}),
                                      {});
  EventRecorder recorder(Client(*transport), "shop-operator", NewLogger(), clock_);
  for (int i = 0; i < 20; ++i) recorder.Normal(web_, "Tick", std::to_string(i));
  server.WaitForRequests(1);

  std::jthread stopping([&] { recorder.Stop(); });
  clock_.AwaitSleeperFor(5s);
  clock_.Advance(5s);
  stopping.join();

  EXPECT_THAT(server.Requests(), SizeIs(1));
}

INSTANTIATE_TEST_SUITE_P(Adapters, EventRecorderHungServerTest,
                         ::testing::ValuesIn(testing::TransportAdapters()),
                         [](const auto& adapter) { return testing::AdapterName(adapter.param); });

}  // namespace
}  // namespace kopp
