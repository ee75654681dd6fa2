#include "transport_fixture.hpp"

#include <algorithm>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// Tests connections that pass no byte any more and are not closed, as after a load balancer has
// lost its state. The suite is instantiated in transport_conformance_test.cpp.
namespace kopp::testing {
namespace {

using ::testing::HasSubstr;
using State = Stream::State;

const ApiRequest get_request{.target = "/"};
const ApiRequest put_request{.method = "PUT", .target = "/", .body = "{}"};

// Responds to one request, then passes nothing any more.
Script DeadAfterOneResponse() {
  return {ReadRequest(), WaitForProceed(), Send(MakeResponse(200, "")), ReadRequest(), Stall()};
}
// Opens a watch, then passes nothing any more.
Script SilentWatch() {
  return {ReadRequest(), Send(ChunkedResponseHead() + Chunk("event")), Stall()};
}

// Returns the number of requests on the connection with this index.
std::size_t RequestsOn(const RawServer& server, std::size_t connection) {
  const auto requests = server.Requests();
  return static_cast<std::size_t>(
      std::count_if(requests.begin(), requests.end(),
                    [&](const auto& request) { return request.connection == connection; }));
}

// Sends a PUT, the `count`th request to the server, which does not respond. Cancels it when
// `stream` has been silent for kTimeoutAfterWork.
void CancelAfterSilence(Transport& transport, RawServer& server, Stream& stream,
                        std::size_t count) {
  std::stop_source stop;
  Failure cancelled;
  {
    std::jthread call([&] {
      cancelled =
          FailureOf([&] { static_cast<void>(transport.Call(put_request, stop.get_token())); });
    });
    server.WaitForRequests(count);
    EXPECT_EQ(stream.Read(kTimeoutAfterWork).state, State::kSilent);
    stop.request_stop();
  }
  EXPECT_EQ(cancelled.kind, TransportError::Kind::kCancelled);
}

// Sends PUTs until a response takes less than kTimeoutAfterWork. A response that takes longer than
// the silence before it says nothing about other connections: the server may only be slow.
void CallFasterThanTheSilence(Transport& transport) {
  TimePoint sent;
  do {
    sent = Clock::Real().Now();
    static_cast<void>(transport.Call(put_request));
  } while (Clock::Real().Now() - sent >= kTimeoutAfterWork);
}

TEST_P(TransportConformanceTest, GetOnASilentReusedConnectionIsSentOnceMoreOnANewOne) {
  RawServer server({DeadAfterOneResponse(), SilentWatch(), AlwaysRespond(MakeResponse(200, "new"))},
                   TrustedTls());
  options_.call_timeout = 3 * kTimeoutAfterWork;  // the first try takes a third
  const auto transport = TransportTo(server);
  server.Proceed();
  static_cast<void>(transport->Call(get_request));
  const auto stream = transport->Open({.target = "/pods?watch=true"});
  EXPECT_EQ(stream->Read(kHangTimeout).bytes, "event");

  EXPECT_EQ(transport->Call(get_request).body, "new");
  EXPECT_EQ(RequestsOn(server, 0), 2U);
  EXPECT_EQ(RequestsOn(server, 2), 1U);
  CallFasterThanTheSilence(*transport);
  const auto failure = FailureOf([&] { static_cast<void>(stream->Read(kHangTimeout)); });
  EXPECT_EQ(failure.kind, Kind::kBroken) << "a watch that was silent meanwhile";
}

TEST_P(TransportConformanceTest, ResponseThatHasBegunHasTheWholeTimeOfTheCall) {
  RawServer server({{ReadRequest(), Send(MakeResponse(200, "")), ReadRequest(), Send("HTTP/1.1 "),
                     WaitForProceed(), Send("200 OK\r\nContent-Length: 4\r\n\r\nslow")},
                    SilentWatch()});
  options_.call_timeout = 3 * kTimeoutAfterWork;
  const auto transport = TransportTo(server);
  static_cast<void>(transport->Call(get_request));
  const auto timer = transport->Open({.target = "/pods?watch=true"});
  static_cast<void>(timer->Read(kHangTimeout));

  std::jthread proceed([&] {
    server.WaitForRequests(3);
    EXPECT_EQ(timer->Read(kTimeoutAfterWork + std::chrono::milliseconds(500)).state,
              State::kSilent);
    server.Proceed();
  });

  EXPECT_EQ(transport->Call(get_request).body, "slow");
}

// A request for the Lease is cancelled when its own time limit has passed.
TEST_P(TransportConformanceTest, AfterACallWithoutResponseNoOtherIdleConnectionOfThatAgeIsUsed) {
  RawServer server({DeadAfterOneResponse(), DeadAfterOneResponse(), SilentWatch(),
                    AlwaysRespond(MakeResponse(200, "new"))});
  const auto transport = TransportTo(server);
  {
    std::jthread other([&] { EXPECT_NO_THROW(static_cast<void>(transport->Call(get_request))); });
    std::jthread respond([&] {
      server.WaitForRequests(2);  // both connections are in use
      server.Proceed();
      server.Proceed();
    });
    static_cast<void>(transport->Call(get_request));
  }
  const auto timer = transport->Open({.target = "/pods?watch=true"});
  static_cast<void>(timer->Read(kHangTimeout));
  CancelAfterSilence(*transport, server, *timer, 4);

  EXPECT_EQ(transport->Call(put_request).body, "new");
  EXPECT_EQ(RequestsOn(server, 0) + RequestsOn(server, 1), 3U) << "a PUT is not sent again";
}

TEST_P(TransportConformanceTest, StreamsOfDeadConnectionsAreCutAfterACallWithoutResponse) {
  RawServer server({DeadAfterOneResponse(), SilentWatch(), AlwaysRespond(MakeResponse(200, ""))},
                   TrustedTls());
  const auto transport = TransportTo(server);
  server.Proceed();
  static_cast<void>(transport->Call(get_request));
  const auto stream = transport->Open({.target = "/pods?watch=true"});
  EXPECT_EQ(stream->Read(kHangTimeout).bytes, "event");
  CancelAfterSilence(*transport, server, *stream, 3);  // the stream is not cut before

  CallFasterThanTheSilence(*transport);
  const auto failure = FailureOf([&] { static_cast<void>(stream->Read(kHangTimeout)); });

  EXPECT_EQ(failure.kind, Kind::kBroken);
  EXPECT_THAT(failure.message, HasSubstr("silent while new connections to the server work"));
}

}  // namespace
}  // namespace kopp::testing
