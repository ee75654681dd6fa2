#include "transport_fixture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// Tests how transports handle malformed, oversized and incomplete responses. The suite is
// instantiated in transport_conformance_test.cpp.
namespace kopp::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

TEST_P(TransportConformanceTest, NegativeChunkSizeFailsAsMalformed) {
  RawServer server({{ReadRequest(), Send(ChunkedResponseHead() + "-1\r\nAAAA\r\n"), Stall()}});

  EXPECT_EQ(FailureOfCall(*TransportTo(server), {.target = "/"}).kind, Kind::kMalformed);
}

TEST_P(TransportConformanceTest, ChunkSizeThatIsNotANumberFailsAsMalformed) {
  RawServer server({{ReadRequest(), Send(ChunkedResponseHead() + "zz\r\nAAAA\r\n"), Stall()}});

  EXPECT_EQ(FailureOfCall(*TransportTo(server), {.target = "/"}).kind, Kind::kMalformed);
}

TEST_P(TransportConformanceTest, ChunkAboveLimitFailsAsTooLarge) {
  RawServer server({{ReadRequest(), Send(ChunkedResponseHead() + "7fffffff\r\n"),
                     SendUntilClosed(std::string(100'000, 'A'))}});
  options_.max_body = 100'000;

  EXPECT_EQ(FailureOfCall(*TransportTo(server), {.target = "/"}).kind, Kind::kTooLarge);
}

TEST_P(TransportConformanceTest, BodyAboveLimitFailsAsTooLarge) {
  RawServer server({AlwaysRespond(MakeResponse(200, std::string(2000, 'A')))});
  options_.max_body = 1999;

  EXPECT_EQ(FailureOfCall(*TransportTo(server), {.target = "/"}).kind, Kind::kTooLarge);
}

TEST_P(TransportConformanceTest, BodyAtLimitIsAccepted) {
  RawServer server({AlwaysRespond(MakeResponse(200, std::string(2000, 'A')))});
  options_.max_body = 2000;

  EXPECT_EQ(TransportTo(server)->Call({.target = "/"}).body.size(), 2000U);
}

TEST_P(TransportConformanceTest, EndlessBodyFailsAsTooLarge) {
  RawServer server({{ReadRequest(), Send("HTTP/1.1 200 OK\r\n\r\n"),
                     SendUntilClosed(std::string(100'000, 'A'))}});
  options_.max_body = 100'000;

  EXPECT_EQ(FailureOfCall(*TransportTo(server), {.target = "/"}).kind, Kind::kTooLarge);
}

TEST_P(TransportConformanceTest, EndlessHeaderFailsAsMalformed) {
  RawServer server({{ReadRequest(), Send("HTTP/1.1 200 OK\r\n"),
                     SendUntilClosed("X-Header: " + std::string(1000, 'y') + "\r\n")}});

  const auto failure = FailureOfCall(*TransportTo(server), {.target = "/"});

  EXPECT_EQ(failure.kind, Kind::kMalformed) << failure.message;
  EXPECT_THAT(failure.message, HasSubstr("header limit exceeded"));
}

TEST_P(TransportConformanceTest, HeaderAboveLimitFailsAsMalformed) {
  RawServer server(
      {AlwaysRespond(MakeResponse(200, "", "X-Header: " + std::string(70'000, 'y') + "\r\n"))});

  EXPECT_EQ(FailureOfCall(*TransportTo(server), {.target = "/"}).kind, Kind::kMalformed);
}

TEST_P(TransportConformanceTest, ResponseThatIsNotHttpFailsAsMalformed) {
  RawServer server({{ReadRequest(), Send("SSH-2.0-OpenSSH_9.2\r\n\r\n"), Stall()}});

  const auto failure = FailureOfCall(*TransportTo(server), {.target = "/"});

  EXPECT_EQ(failure.kind, Kind::kMalformed);
  EXPECT_THAT(failure.message, HasSubstr("check that the server address is that of an API server"));
}

TEST_P(TransportConformanceTest, InterimResponseIsSkippedByBeastAndRejectedByCpprest) {
  RawServer server(
      {AlwaysRespond("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + MakeResponse(200, "final"))});
  const auto transport = TransportTo(server);

  if (UsesCpprest()) {
    // cpprestsdk treats the interim response as the final one. It would return the final response
    // for the next call.
    const auto failure = FailureOfCall(*transport, {.target = "/"});
    EXPECT_EQ(failure.kind, Kind::kMalformed);
    EXPECT_THAT(failure.message, HasSubstr("--http-transport=beast"));
  } else {
    EXPECT_EQ(transport->Call({.target = "/"}).body, "final");
  }
}

TEST_P(TransportConformanceTest, ResponseWithContentEncodingFailsAsMalformed) {
  RawServer server({AlwaysRespond(MakeResponse(200, "\x1f\x8b", "Content-Encoding: gzip\r\n"))});

  EXPECT_EQ(FailureOfCall(*TransportTo(server), {.target = "/"}).kind, Kind::kMalformed);
}

TEST_P(TransportConformanceTest, BodyShorterThanContentLengthFailsAsBroken) {
  RawServer server(
      {{ReadRequest(), Send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"), Close()}});

  EXPECT_EQ(FailureOfCall(*TransportTo(server), {.target = "/"}).kind, Kind::kBroken);
}

TEST_P(TransportConformanceTest, IncompleteChunkFailsAsBroken) {
  RawServer server({{ReadRequest(), Send(ChunkedResponseHead() + "64\r\nshort"), Close()}});

  EXPECT_EQ(FailureOfCall(*TransportTo(server), {.target = "/"}).kind, Kind::kBroken);
}

TEST_P(TransportConformanceTest, BodyThatEndsWithoutTlsCloseNotifyFailsAsBroken) {
  RawServer server({{ReadRequest(), Send("HTTP/1.1 200 OK\r\n\r\nis this all?"), CloseAbruptly()}},
                   TrustedTls());

  EXPECT_EQ(FailureOfCall(*TransportTo(server), {.target = "/"}).kind, Kind::kBroken);
}

TEST_P(TransportConformanceTest, ResetDuringResponseBodyFailsAsBroken) {
  RawServer server(
      {{ReadRequest(), Send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"), Reset()}});

  EXPECT_EQ(FailureOfCall(*TransportTo(server), {.target = "/"}).kind, Kind::kBroken);
}

TEST_P(TransportConformanceTest, ResetWhileSendingALargeBodyFailsAsBrokenOrUnreachable) {
  RawServer server({{Reset()}}, TrustedTls());

  const auto failure =
      FailureOfCall(*TransportTo(server),
                    {.method = "POST", .target = "/", .body = std::string(10'000'000, 'x')});

  EXPECT_TRUE(failure.kind == Kind::kBroken || failure.kind == Kind::kUnreachable)
      << failure.message;
}

// cpprestsdk reads no response before it has sent the whole request.
TEST_P(TransportConformanceTest, EarlyResponseToLargeBodyIsReturnedByBeastOnly) {
  RawServer server({{ReadRequestHead(), Send(MakeResponse(413, "too large")), Close()},
                    AlwaysRespond(MakeResponse(201, "small enough"))});
  const auto transport = TransportTo(server);
  const ApiRequest large{.method = "POST", .target = "/", .body = std::string(20'000'000, 'x')};

  if (UsesCpprest()) {
    EXPECT_EQ(FailureOfCall(*transport, large).kind, Kind::kBroken);
  } else {
    const ApiResponse response = transport->Call(large);
    EXPECT_EQ(response.status, 413);
    EXPECT_EQ(response.body, "too large");
  }
  EXPECT_EQ(transport->Call({.method = "POST", .target = "/", .body = "x"}).status, 201);
}

TEST_P(TransportConformanceTest, EarlyResponseToLargeBodyOverTlsIsReturnedByBeastOnly) {
  RawServer server({{ReadRequestHead(), Send(MakeResponse(413, "too large")), Close()}},
                   TrustedTls());
  const ApiRequest large{.method = "POST", .target = "/", .body = std::string(20'000'000, 'x')};

  if (UsesCpprest()) {
    EXPECT_EQ(FailureOfCall(*TransportTo(server), large).kind, Kind::kBroken);
  } else {
    EXPECT_EQ(TransportTo(server)->Call(large).body, "too large");
  }
}

TEST_P(TransportConformanceTest, RedirectIsNotFollowed) {
  RawServer redirect_target({AlwaysRespond(MakeResponse(200, "stolen"))});
  RawServer server({AlwaysRespond(
      MakeResponse(302, "", "Location: " + redirect_target.Url() + "/a?secret\r\n"))});
  config_.token = "s3cret";

  const auto failure = FailureOfCall(*TransportTo(server), {.target = "/"});

  EXPECT_EQ(failure.kind, Kind::kMalformed);
  EXPECT_THAT(failure.message, AllOf(HasSubstr("a redirect (302) to \"" + redirect_target.Url() +
                                               "/a\", which kopp"),
                                     Not(HasSubstr("secret"))));
  EXPECT_EQ(redirect_target.Connections(), 0U);
}

}  // namespace
}  // namespace kopp::testing
