#include "transport_fixture.hpp"

#include <chrono>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// Tests timeouts and cancellation. The suite is instantiated in transport_conformance_test.cpp.
namespace kopp::testing {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

TEST_P(TransportConformanceTest, ConnectTimesOut) {
  FullListener listener;
  options_.connect_timeout = 150ms;

  const auto failure = FailureOfCall(*TransportTo(listener.Url()), {.target = "/"});

  EXPECT_EQ(failure.kind, Kind::kTimeout);
  EXPECT_THAT(failure.message, HasSubstr("timed out while connecting"));
}

TEST_P(TransportConformanceTest, TlsHandshakeTimesOut) {
  RawServer server({{Stall()}}, TrustedTls());
  options_.handshake_timeout = 150ms;

  const auto failure = FailureOfCall(*TransportTo(server), {.target = "/"});

  EXPECT_EQ(failure.kind, Kind::kTimeout);
  EXPECT_THAT(failure.message, HasSubstr("TLS handshake"));
}

TEST_P(TransportConformanceTest, CallTimesOutIfNoResponseArrives) {
  RawServer server({{ReadRequest(), Stall()}});
  options_.call_timeout = kTimeoutAfterWork;  // includes the connection

  const auto failure = FailureOfCall(*TransportTo(server), {.target = "/"});

  EXPECT_EQ(failure.kind, Kind::kTimeout);
  EXPECT_THAT(failure.message,
              HasSubstr("timed out while waiting for the response; check whether the server"));
}

TEST_P(TransportConformanceTest, CallTimesOutIfBodyNeverEnds) {
  RawServer server(
      {{ReadRequest(), Send(ChunkedResponseHead()), SendUntilClosed(Chunk(ThousandTimes("x")))}});
  options_.call_timeout = 150ms;
  options_.max_body = std::size_t{1} << 40;

  EXPECT_EQ(FailureOfCall(*TransportTo(server), {.target = "/"}).kind, Kind::kTimeout);
}

TEST_P(TransportConformanceTest, CallTimesOutIfChunkExtensionsNeverEnd) {
  RawServer server(
      {{ReadRequest(), Send(ChunkedResponseHead()),
        SendUntilClosed(ThousandTimes("1;note=" + ThousandTimes("y") + "\r\nx\r\n"))}});
  options_.call_timeout = 150ms;
  options_.max_body = std::size_t{1} << 40;

  EXPECT_EQ(FailureOfCall(*TransportTo(server), {.target = "/"}).kind, Kind::kTimeout);
}

TEST_P(TransportConformanceTest, CallTimesOutIfInterimResponsesNeverEnd) {
  RawServer server(
      {{ReadRequest(), SendUntilClosed(ThousandTimes("HTTP/1.1 100 Continue\r\n\r\n"))}});
  options_.call_timeout = kTimeoutAfterWork;  // cpprestsdk must parse the first interim response

  const auto failure = FailureOfCall(*TransportTo(server), {.target = "/"});

  EXPECT_EQ(failure.kind, UsesCpprest() ? Kind::kMalformed : Kind::kTimeout) << failure.message;
}

TEST_P(TransportConformanceTest, StopCancelsACallWithoutDelay) {
  RawServer server({{ReadRequest(), Stall()}}, TrustedTls());
  options_.call_timeout = 1h;  // only the stop can end the call
  const auto transport = TransportTo(server);
  std::stop_source stop;
  std::jthread stopper([&] {
    server.WaitForRequests(1);
    stop.request_stop();
  });

  const auto failure =
      FailureOf([&] { static_cast<void>(transport->Call({.target = "/"}, stop.get_token())); });

  EXPECT_EQ(failure.kind, Kind::kCancelled);
}

TEST_P(TransportConformanceTest, StopDuringABodyWithoutLengthIsReportedAsCancelled) {
  RawServer server({{ReadRequest(), Send("HTTP/1.1 200 OK\r\n\r\nhalf"), Stall()}});
  const auto transport = TransportTo(server);
  std::stop_source stop;
  std::jthread stopper([&] {
    server.WaitForStall();
    stop.request_stop();
  });

  const auto failure =
      FailureOf([&] { static_cast<void>(transport->Call({.target = "/"}, stop.get_token())); });

  EXPECT_EQ(failure.kind, Kind::kCancelled);
}

TEST_P(TransportConformanceTest, NothingIsSentIfStopWasRequestedBefore) {
  RawServer server({AlwaysRespond(MakeResponse(200, ""))});
  std::stop_source stop;
  stop.request_stop();

  const auto failure = FailureOf(
      [&] { static_cast<void>(TransportTo(server)->Call({.target = "/"}, stop.get_token())); });

  EXPECT_EQ(failure.kind, Kind::kCancelled);
  EXPECT_EQ(server.Requests().size(), 0U);
}

TEST_P(TransportConformanceTest, BeforeSendIsCalledForEachRequestAlsoOnAReusedConnection) {
  RawServer server({AlwaysRespond(MakeResponse(200, ""))});
  const auto transport = TransportTo(server);
  int calls = 0;
  const ApiRequest request{
      .method = "PUT", .target = "/", .body = "{}", .before_send = [&] { ++calls; }};

  static_cast<void>(transport->Call(request));
  static_cast<void>(transport->Call(request));

  EXPECT_EQ(calls, 2);
}

TEST_P(TransportConformanceTest, NothingIsSentIfBeforeSendThrows) {
  RawServer server({AlwaysRespond(MakeResponse(200, ""))});
  const auto transport = TransportTo(server);
  static_cast<void>(transport->Call({.target = "/first"}));  // the next call reuses the connection

  const auto failure =
      FailureOfCall(*transport, {.method = "PUT", .target = "/", .body = "{}", .before_send = [] {
                                   throw TransportError(Kind::kCancelled, "not the leader");
                                 }});

  EXPECT_EQ(failure.kind, Kind::kCancelled);
  EXPECT_EQ(server.Requests().size(), 1U);
}

}  // namespace
}  // namespace kopp::testing
