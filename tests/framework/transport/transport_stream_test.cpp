#include "transport_fixture.hpp"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopp::testing {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;
using State = Stream::State;

class StreamTest : public ::testing::Test {
 protected:
  std::unique_ptr<Stream> Open(const RawServer& server, std::stop_token stop = {}) {
    Config config;
    config.server = server.Url();
    config.source = "a test";
    config.certificate_authority = authority_.certificate();
    options_.calls = TransportOptions::Calls::kBeast;
    transport_ = MakeTransport(config, options_);
    return transport_->Open({.target = "/watch"}, std::move(stop));
  }

  RawServer::Tls Tls() const { return {.identity = authority_.IssueForLoopback()}; }

  // Reads until `count` bytes have arrived, or until a read returns no bytes.
  static std::string ReadBytes(Stream& stream, std::size_t count) {
    std::string bytes;
    while (bytes.size() < count) {
      const auto chunk = stream.Read(kHangTimeout);
      if (chunk.state != State::kBytes) break;
      bytes += chunk.bytes;
    }
    return bytes;
  }

  // Reads until the stream ends. Returns the TransportError of the read that fails.
  static Failure FailureOfRead(Stream& stream) {
    return FailureOf([&] {
      while (stream.Read(kHangTimeout).state == State::kBytes) {
      }
    });
  }

  CertificateAuthority authority_;
  TransportOptions options_;
  std::unique_ptr<Transport> transport_;
};

TEST_F(StreamTest, ChunksAreReturnedAsTheyArrive) {
  RawServer server({{ReadRequest(), Send(ChunkedResponseHead() + Chunk("one\n")), WaitForProceed(),
                     Send(Chunk("two\n") + "0\r\n\r\n"), Stall()}},
                   Tls());
  const auto stream = Open(server);

  EXPECT_EQ(stream->head().status, 200);
  EXPECT_EQ(ReadBytes(*stream, 4), "one\n");
  server.Proceed();
  EXPECT_EQ(ReadBytes(*stream, 4), "two\n");
  EXPECT_EQ(stream->Read(kHangTimeout).state, State::kEnd);
}

TEST_F(StreamTest, BytesOfUnchunkedBodyAreReturnedAsTheyArrive) {
  RawServer server({{ReadRequest(), Send("HTTP/1.1 200 OK\r\n\r\none\n"), WaitForProceed(),
                     Send("two\n"), Close()}});
  const auto stream = Open(server);

  EXPECT_EQ(ReadBytes(*stream, 4), "one\n");
  server.Proceed();
  EXPECT_EQ(ReadBytes(*stream, 4), "two\n");
  EXPECT_EQ(stream->Read(kHangTimeout).state, State::kEnd);
}

TEST_F(StreamTest, BodyThatArrivesByteByByteIsReturnedCompletely) {
  RawServer server(
      {{ReadRequest(),
        SendByteByByte(ChunkedResponseHead() + Chunk("h\xc3\xa4lf ") + Chunk("rest") + "0\r\n\r\n"),
        Stall()}},
      Tls());
  const auto stream = Open(server);

  EXPECT_EQ(ReadBytes(*stream, 10), "h\xc3\xa4lf rest");
  EXPECT_EQ(stream->Read(kHangTimeout).state, State::kEnd);
}

TEST_F(StreamTest, ReadTimeoutDoesNotEndTheStream) {
  RawServer server({{ReadRequest(), Send(ChunkedResponseHead()), WaitForProceed(),
                     Send(Chunk("late")), Stall()}},
                   Tls());
  const auto stream = Open(server);

  EXPECT_EQ(stream->Read(20ms).state, State::kSilent);
  EXPECT_EQ(stream->Read(Duration::zero()).state, State::kSilent);
  EXPECT_EQ(stream->Read(Duration::min()).state, State::kSilent);
  server.Proceed();
  EXPECT_EQ(ReadBytes(*stream, 4), "late");
}

TEST_F(StreamTest, ReadTimeoutInsideAChunkLosesNoBytes) {
  RawServer server({{ReadRequest(), Send(ChunkedResponseHead() + "8\r\none\n"), WaitForProceed(),
                     Send("two\n\r\n0\r\n\r\n")}});
  const auto stream = Open(server);

  EXPECT_EQ(ReadBytes(*stream, 4), "one\n");
  EXPECT_EQ(stream->Read(20ms).state, State::kSilent);
  server.Proceed();
  EXPECT_EQ(ReadBytes(*stream, 4), "two\n");
  EXPECT_EQ(stream->Read(kHangTimeout).state, State::kEnd);
}

TEST_F(StreamTest, LargeChunkIsReturnedCompletely) {
  const std::string large(1'000'000, 'x');
  RawServer server(
      {{ReadRequest(), Send(ChunkedResponseHead() + Chunk(large) + "0\r\n\r\n"), Stall()}}, Tls());
  const auto stream = Open(server);

  EXPECT_TRUE(ReadBytes(*stream, large.size()) == large);
  EXPECT_EQ(stream->Read(kHangTimeout).state, State::kEnd);
}

TEST_F(StreamTest, MissingLastChunkFailsAsBroken) {
  RawServer server({{ReadRequest(), Send(ChunkedResponseHead() + Chunk("one")), Close()}}, Tls());
  const auto stream = Open(server);

  EXPECT_EQ(FailureOfRead(*stream).kind, Kind::kBroken);
}

TEST_F(StreamTest, BodyShorterThanContentLengthFailsAsBroken) {
  RawServer server(
      {{ReadRequest(), Send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"), Close()}});
  const auto stream = Open(server);

  EXPECT_EQ(FailureOfRead(*stream).kind, Kind::kBroken);
}

TEST_F(StreamTest, BodyThatEndsWithoutTlsCloseNotifyFailsAsBroken) {
  RawServer server({{ReadRequest(), Send("HTTP/1.1 200 OK\r\n\r\none"), CloseAbruptly()}}, Tls());
  const auto stream = Open(server);

  EXPECT_EQ(ReadBytes(*stream, 3), "one");
  EXPECT_EQ(FailureOfRead(*stream).kind, Kind::kBroken);
}

TEST_F(StreamTest, ConnectionResetFailsAsBroken) {
  RawServer server(
      {{ReadRequest(), Send(ChunkedResponseHead() + Chunk("one")), WaitForProceed(), Reset()}});
  const auto stream = Open(server);

  EXPECT_EQ(ReadBytes(*stream, 3), "one");
  server.Proceed();
  EXPECT_EQ(FailureOfRead(*stream).kind, Kind::kBroken);
}

TEST_F(StreamTest, BytesBeforeAMalformedChunkAreReturned) {
  RawServer server(
      {{ReadRequest(), Send(ChunkedResponseHead() + Chunk("good") + "-1\r\n"), Stall()}});
  const auto stream = Open(server);

  EXPECT_EQ(ReadBytes(*stream, 4), "good");
  EXPECT_EQ(FailureOfRead(*stream).kind, Kind::kMalformed);
}

TEST_F(StreamTest, EndlessTrailersFailAsMalformed) {
  RawServer server({{ReadRequest(), Send(ChunkedResponseHead() + "0\r\n"),
                     SendUntilClosed("X-Trailer: " + std::string(1000, 'y') + "\r\n")}});
  const auto stream = Open(server);

  EXPECT_EQ(FailureOfRead(*stream).kind, Kind::kMalformed);
}

TEST_F(StreamTest, EndlessChunkExtensionFailsAsMalformed) {
  RawServer server({{ReadRequest(), Send(ChunkedResponseHead() + "1;note="),
                     SendUntilClosed(ThousandTimes("y"))}});
  const auto stream = Open(server);

  EXPECT_EQ(FailureOfRead(*stream).kind, Kind::kMalformed);
}

TEST_F(StreamTest, StopCancelsABlockedRead) {
  RawServer server({{ReadRequest(), Send(ChunkedResponseHead() + Chunk("one")), Stall()}}, Tls());
  std::stop_source stop;
  const auto stream = Open(server, stop.get_token());
  EXPECT_EQ(ReadBytes(*stream, 3), "one");
  std::jthread stopper([&stop] { stop.request_stop(); });

  const auto failure = FailureOfRead(*stream);

  EXPECT_EQ(failure.kind, Kind::kCancelled) << failure.message;
  EXPECT_THAT(failure.message, HasSubstr("/watch: cancelled because a stop was requested"));
}

TEST_F(StreamTest, StopDuringABodyWithoutLengthIsReportedAsCancelled) {
  RawServer server({{ReadRequest(), Send("HTTP/1.1 200 OK\r\n\r\none"), Stall()}});
  std::stop_source stop;
  const auto stream = Open(server, stop.get_token());
  EXPECT_EQ(ReadBytes(*stream, 3), "one");
  stop.request_stop();

  EXPECT_EQ(FailureOfRead(*stream).kind, Kind::kCancelled);
}

TEST_F(StreamTest, StopCancelsOpenBeforeTheHeadArrives) {
  RawServer server({{ReadRequest(), Stall()}}, Tls());
  std::stop_source stop;
  std::jthread stopper([&] {
    server.WaitForRequests(1);
    stop.request_stop();
  });

  EXPECT_EQ(FailureOf([&] { Open(server, stop.get_token()); }).kind, Kind::kCancelled);
}

TEST_F(StreamTest, OpenTimesOutIfNoHeadArrives) {
  RawServer server({{ReadRequest(), Stall()}});
  options_.call_timeout = 100ms;

  EXPECT_EQ(FailureOf([&] { Open(server); }).kind, Kind::kTimeout);
}

TEST_F(StreamTest, BodyOfErrorResponseIsReturnedWithTheHead) {
  RawServer server({{ReadRequest(), Send(ChunkedResponseHead(410) + Chunk("too ") + Chunk("old")),
                     Send("0\r\n\r\n"), Stall()}},
                   Tls());
  const auto stream = Open(server);

  EXPECT_EQ(stream->head().status, 410);
  EXPECT_EQ(stream->head().body, "too old");
  EXPECT_EQ(stream->Read(kHangTimeout).state, State::kEnd);
}

TEST_F(StreamTest, BodyOfErrorResponseIsLimited) {
  RawServer server(
      {{ReadRequest(), Send(ChunkedResponseHead(500)), SendUntilClosed(Chunk("xxxx"))}});
  options_.max_body = 1000;

  EXPECT_EQ(FailureOf([&] { Open(server); }).kind, Kind::kTooLarge);
}

TEST_F(StreamTest, EachStreamHasItsOwnConnectionAndClosesItOnDestruction) {
  RawServer server({{ReadRequest(), Send(ChunkedResponseHead()), ReadRequest()}}, Tls());
  auto first = Open(server);
  const auto second = transport_->Open({.target = "/watch"});

  EXPECT_EQ(server.Connections(), 2U);
  first.reset();
  server.WaitForClosedConnections(1);
}

}  // namespace
}  // namespace kopp::testing
