#include "transport_fixture.hpp"

#include <chrono>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// Servers that keep one waiting: the same suite as in transport_conformance_test.cpp.
namespace kopp::testing {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

TEST_P(TransportConformanceTest, AnAttemptToConnectEndsAtItsDeadline) {
  FullListener listener;
  options_.connect_timeout = 150ms;

  const auto failure = FailureOfCall(*To(listener.Url()), {.target = "/"});

  EXPECT_EQ(failure.kind, Kind::kTimeout);
  EXPECT_THAT(failure.what, HasSubstr("no answer to the attempt to connect"));
}

TEST_P(TransportConformanceTest, AHandshakeEndsAtItsDeadline) {
  RawServer server({{Stall()}}, TrustedTls());
  options_.handshake_timeout = 150ms;

  const auto failure = FailureOfCall(*To(server), {.target = "/"});

  EXPECT_EQ(failure.kind, Kind::kTimeout);
  EXPECT_THAT(failure.what, HasSubstr("TLS handshake"));
}

TEST_P(TransportConformanceTest, SilenceEndsAtTheDeadline) {
  RawServer server({{ReadRequest(), Stall()}});
  options_.call_timeout = 150ms;

  const auto failure = FailureOfCall(*To(server), {.target = "/"});

  EXPECT_EQ(failure.kind, Kind::kTimeout);
  EXPECT_THAT(failure.what, HasSubstr("no answer in time"));
}

TEST_P(TransportConformanceTest, ATrickleEndsAtTheDeadline) {
  RawServer server({{ReadRequest(), Send(ChunkedHead()), Flood(Many(Chunk("x")))}});
  options_.call_timeout = 150ms;
  options_.max_body = std::size_t{1} << 40;

  EXPECT_EQ(FailureOfCall(*To(server), {.target = "/"}).kind, Kind::kTimeout);
}

TEST_P(TransportConformanceTest, AFloodOfFramingEndsAtTheDeadline) {
  RawServer server(
      {{ReadRequest(), Send(ChunkedHead()), Flood(Many("1;note=" + Many("y") + "\r\nx\r\n"))}});
  options_.call_timeout = 150ms;
  options_.max_body = std::size_t{1} << 40;

  EXPECT_EQ(FailureOfCall(*To(server), {.target = "/"}).kind, Kind::kTimeout);
}

TEST_P(TransportConformanceTest, InterimAnswersWithoutAnEndDoNotOutlastTheDeadline) {
  RawServer server({{ReadRequest(), Flood(Many("HTTP/1.1 100 Continue\r\n\r\n"))}});
  options_.call_timeout = 150ms;

  const auto failure = FailureOfCall(*To(server), {.target = "/"});

  EXPECT_EQ(failure.kind, ByCppRest() ? Kind::kMalformed : Kind::kTimeout) << failure.what;
}

TEST_P(TransportConformanceTest, AStopEndsACallAtOnce) {
  RawServer server({{ReadRequest(), Stall()}}, TrustedTls());
  const auto transport = To(server);
  std::stop_source stop;
  std::jthread stopper([&] {
    server.AwaitRequests(1);
    stop.request_stop();
  });

  const auto began = std::chrono::steady_clock::now();
  const auto failure =
      FailureOf([&] { static_cast<void>(transport->Call({.target = "/"}, stop.get_token())); });

  EXPECT_EQ(failure.kind, Kind::kCancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - began, 5s);
}

TEST_P(TransportConformanceTest, AStopEndsACallInTheMiddleOfABodyThatTheConnectionEnds) {
  RawServer server({{ReadRequest(), Send("HTTP/1.1 200 OK\r\n\r\nhalf"), Stall()}});
  const auto transport = To(server);
  std::stop_source stop;
  std::jthread stopper([&] {
    server.AwaitSent();
    stop.request_stop();
  });

  const auto failure =
      FailureOf([&] { static_cast<void>(transport->Call({.target = "/"}, stop.get_token())); });

  EXPECT_EQ(failure.kind, Kind::kCancelled);
}

TEST_P(TransportConformanceTest, AStopFromBeforeLetsNothingBeSent) {
  RawServer server({Always(Answer(200, ""))});
  std::stop_source stop;
  stop.request_stop();

  const auto failure =
      FailureOf([&] { static_cast<void>(To(server)->Call({.target = "/"}, stop.get_token())); });

  EXPECT_EQ(failure.kind, Kind::kCancelled);
  EXPECT_EQ(server.Requests().size(), 0U);
}

}  // namespace
}  // namespace kopp::testing
