#include "transport_fixture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// Servers that send what they should not: the same suite as in transport_conformance_test.cpp.
namespace kopp::testing {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

TEST_P(TransportConformanceTest, ANegativeChunkIsMalformed) {
  RawServer server({{ReadRequest(), Send(ChunkedHead() + "-1\r\nAAAA\r\n"), Stall()}});

  EXPECT_EQ(FailureOfCall(*To(server), {.target = "/"}).kind, Kind::kMalformed);
}

TEST_P(TransportConformanceTest, AChunkWhoseSizeIsNoNumberIsMalformed) {
  RawServer server({{ReadRequest(), Send(ChunkedHead() + "zz\r\nAAAA\r\n"), Stall()}});

  EXPECT_EQ(FailureOfCall(*To(server), {.target = "/"}).kind, Kind::kMalformed);
}

TEST_P(TransportConformanceTest, AChunkLargerThanTheLimitIsTooLarge) {
  RawServer server(
      {{ReadRequest(), Send(ChunkedHead() + "7fffffff\r\n"), Flood(std::string(100'000, 'A'))}});
  options_.max_body = 100'000;

  EXPECT_EQ(FailureOfCall(*To(server), {.target = "/"}).kind, Kind::kTooLarge);
}

TEST_P(TransportConformanceTest, ABodyOverTheLimitIsTooLarge) {
  RawServer server({Always(Answer(200, std::string(2000, 'A')))});
  options_.max_body = 1999;

  EXPECT_EQ(FailureOfCall(*To(server), {.target = "/"}).kind, Kind::kTooLarge);
}

TEST_P(TransportConformanceTest, ABodyAtTheLimitIsTaken) {
  RawServer server({Always(Answer(200, std::string(2000, 'A')))});
  options_.max_body = 2000;

  EXPECT_EQ(To(server)->Call({.target = "/"}).body.size(), 2000U);
}

TEST_P(TransportConformanceTest, ABodyWithoutAnEndIsTooLarge) {
  RawServer server(
      {{ReadRequest(), Send("HTTP/1.1 200 OK\r\n\r\n"), Flood(std::string(100'000, 'A'))}});
  options_.max_body = 100'000;

  EXPECT_EQ(FailureOfCall(*To(server), {.target = "/"}).kind, Kind::kTooLarge);
}

TEST_P(TransportConformanceTest, AHeaderWithoutAnEndIsMalformed) {
  RawServer server({{ReadRequest(), Send("HTTP/1.1 200 OK\r\n"),
                     Flood("X-Header: " + std::string(1000, 'y') + "\r\n")}});

  const auto failure = FailureOfCall(*To(server), {.target = "/"});

  EXPECT_EQ(failure.kind, Kind::kMalformed) << failure.what;
  EXPECT_THAT(failure.what, HasSubstr("header limit exceeded"));
}

TEST_P(TransportConformanceTest, AHeaderOverTheLimitIsMalformed) {
  RawServer server({Always(Answer(200, "", "X-Header: " + std::string(70'000, 'y') + "\r\n"))});

  EXPECT_EQ(FailureOfCall(*To(server), {.target = "/"}).kind, Kind::kMalformed);
}

TEST_P(TransportConformanceTest, WhatIsNotHttpIsMalformed) {
  RawServer server({{ReadRequest(), Send("SSH-2.0-OpenSSH_9.2\r\n\r\n"), Stall()}});

  const auto failure = FailureOfCall(*To(server), {.target = "/"});

  EXPECT_EQ(failure.kind, Kind::kMalformed);
  EXPECT_THAT(failure.what, HasSubstr("does an API server listen there?"));
}

TEST_P(TransportConformanceTest, AnInterimAnswerIsSkippedByBeastAndRefusedByCppRest) {
  RawServer server({Always("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + Answer(200, "final"))});
  const auto transport = To(server);

  if (ByCppRest()) {
    // It takes the first head for the answer, and would take the second for that of the next call.
    const auto failure = FailureOfCall(*transport, {.target = "/"});
    EXPECT_EQ(failure.kind, Kind::kMalformed);
    EXPECT_THAT(failure.what, HasSubstr("--http-transport=beast"));
  } else {
    EXPECT_EQ(transport->Call({.target = "/"}).body, "final");
  }
}

TEST_P(TransportConformanceTest, AnEncodedAnswerIsRefused) {
  RawServer server({Always(Answer(200, "\x1f\x8b", "Content-Encoding: gzip\r\n"))});

  EXPECT_EQ(FailureOfCall(*To(server), {.target = "/"}).kind, Kind::kMalformed);
}

TEST_P(TransportConformanceTest, ABodyThatEndsTooSoonIsBroken) {
  RawServer server(
      {{ReadRequest(), Send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"), Close()}});

  EXPECT_EQ(FailureOfCall(*To(server), {.target = "/"}).kind, Kind::kBroken);
}

TEST_P(TransportConformanceTest, AChunkThatEndsTooSoonIsBroken) {
  RawServer server({{ReadRequest(), Send(ChunkedHead() + "64\r\nshort"), Close()}});

  EXPECT_EQ(FailureOfCall(*To(server), {.target = "/"}).kind, Kind::kBroken);
}

TEST_P(TransportConformanceTest, ABodyCutOffWithoutTlsGoodbyeIsBroken) {
  RawServer server({{ReadRequest(), Send("HTTP/1.1 200 OK\r\n\r\nis this all?"), CutOff()}},
                   TrustedTls());

  EXPECT_EQ(FailureOfCall(*To(server), {.target = "/"}).kind, Kind::kBroken);
}

TEST_P(TransportConformanceTest, AResetInTheMiddleOfABodyIsBroken) {
  RawServer server(
      {{ReadRequest(), Send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"), Reset()}});

  EXPECT_EQ(FailureOfCall(*To(server), {.target = "/"}).kind, Kind::kBroken);
}

TEST_P(TransportConformanceTest, AResetWhileALargeBodyIsSentIsSurvived) {
  RawServer server({{Reset()}}, TrustedTls());

  const auto failure = FailureOfCall(
      *To(server), {.method = "POST", .target = "/", .body = std::string(10'000'000, 'x')});

  EXPECT_TRUE(failure.kind == Kind::kBroken || failure.kind == Kind::kUnreachable) << failure.what;
}

// cpprestsdk looks at no answer before all of the request is sent.
TEST_P(TransportConformanceTest, AnAnswerGivenBeforeTheBodyIsReadIsTakenByBeastAlone) {
  RawServer server(
      {{ReadHead(), Send(Answer(413, "too large")), Close()}, Always(Answer(201, "small enough"))});
  const auto transport = To(server);
  const Request large{.method = "POST", .target = "/", .body = std::string(20'000'000, 'x')};

  if (ByCppRest()) {
    EXPECT_EQ(FailureOfCall(*transport, large).kind, Kind::kBroken);
  } else {
    const Response response = transport->Call(large);
    EXPECT_EQ(response.status, 413);
    EXPECT_EQ(response.body, "too large");
  }
  EXPECT_EQ(transport->Call({.method = "POST", .target = "/", .body = "x"}).status, 201);
}

TEST_P(TransportConformanceTest, AnAnswerByTlsBeforeTheBodyIsReadIsTakenByBeastAlone) {
  RawServer server({{ReadHead(), Send(Answer(413, "too large")), Close()}}, TrustedTls());
  const Request large{.method = "POST", .target = "/", .body = std::string(20'000'000, 'x')};

  if (ByCppRest()) {
    EXPECT_EQ(FailureOfCall(*To(server), large).kind, Kind::kBroken);
  } else {
    EXPECT_EQ(To(server)->Call(large).body, "too large");
  }
}

TEST_P(TransportConformanceTest, ARedirectIsNotFollowed) {
  RawServer elsewhere({Always(Answer(200, "stolen"))});
  RawServer server({Always(Answer(302, "", "Location: " + elsewhere.Url() + "/steal\r\n"))});
  config_.token = "s3cret";

  const auto failure = FailureOfCall(*To(server), {.target = "/"});

  EXPECT_EQ(failure.kind, Kind::kMalformed);
  EXPECT_THAT(failure.what, HasSubstr("redirect"));
  EXPECT_EQ(elsewhere.Connections(), 0U);
}

}  // namespace
}  // namespace kopp::testing
