#include "transport_fixture.hpp"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopp::testing {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;
using State = Stream::State;

constexpr Duration kLong = 5s;

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

  // Reads until there are `count` bytes.
  static std::string ReadBytes(Stream& stream, std::size_t count) {
    std::string bytes;
    while (bytes.size() < count) {
      const auto chunk = stream.Read(kLong);
      if (chunk.state != State::kBytes) break;
      bytes += chunk.bytes;
    }
    return bytes;
  }

  static Failure FailureOfRead(Stream& stream) {
    return FailureOf([&] {
      while (stream.Read(kLong).state == State::kBytes) {
      }
    });
  }

  Authority authority_;
  TransportOptions options_;
  std::unique_ptr<Transport> transport_;
};

TEST_F(StreamTest, BytesAreHandedOutAsTheyArrive) {
  RawServer server({{ReadRequest(), Send(ChunkedHead() + Chunk("one\n")), Await(),
                     Send(Chunk("two\n") + "0\r\n\r\n"), Stall()}},
                   Tls());
  const auto stream = Open(server);

  EXPECT_EQ(stream->head().status, 200);
  EXPECT_EQ(ReadBytes(*stream, 4), "one\n");
  server.Proceed();
  EXPECT_EQ(ReadBytes(*stream, 4), "two\n");
  EXPECT_EQ(stream->Read(kLong).state, State::kEnd);
}

TEST_F(StreamTest, BytesWithoutChunksAreHandedOutAsTheyArrive) {
  RawServer server(
      {{ReadRequest(), Send("HTTP/1.1 200 OK\r\n\r\none\n"), Await(), Send("two\n"), Close()}});
  const auto stream = Open(server);

  EXPECT_EQ(ReadBytes(*stream, 4), "one\n");
  server.Proceed();
  EXPECT_EQ(ReadBytes(*stream, 4), "two\n");
  EXPECT_EQ(stream->Read(kLong).state, State::kEnd);
}

TEST_F(StreamTest, BytesThatArriveOneByOneAreTheSame) {
  RawServer server(
      {{ReadRequest(), Dribble(ChunkedHead() + Chunk("h\xc3\xa4lf ") + Chunk("rest") + "0\r\n\r\n"),
        Stall()}},
      Tls());
  const auto stream = Open(server);

  EXPECT_EQ(ReadBytes(*stream, 10), "h\xc3\xa4lf rest");
  EXPECT_EQ(stream->Read(kLong).state, State::kEnd);
}

TEST_F(StreamTest, SilenceIsNoEnd) {
  RawServer server({{ReadRequest(), Send(ChunkedHead()), Await(), Send(Chunk("late")), Stall()}},
                   Tls());
  const auto stream = Open(server);

  EXPECT_EQ(stream->Read(20ms).state, State::kSilent);
  EXPECT_EQ(stream->Read(Duration::zero()).state, State::kSilent);
  EXPECT_EQ(stream->Read(Duration::min()).state, State::kSilent);
  server.Proceed();
  EXPECT_EQ(ReadBytes(*stream, 4), "late");
}

TEST_F(StreamTest, SilenceInTheMiddleOfAChunkLosesNothing) {
  RawServer server(
      {{ReadRequest(), Send(ChunkedHead() + "8\r\none\n"), Await(), Send("two\n\r\n0\r\n\r\n")}});
  const auto stream = Open(server);

  EXPECT_EQ(ReadBytes(*stream, 4), "one\n");
  EXPECT_EQ(stream->Read(20ms).state, State::kSilent);
  server.Proceed();
  EXPECT_EQ(ReadBytes(*stream, 4), "two\n");
  EXPECT_EQ(stream->Read(kLong).state, State::kEnd);
}

TEST_F(StreamTest, AChunkLargerThanAnyBufferIsHandedOutInPieces) {
  const std::string large(1'000'000, 'x');
  RawServer server({{ReadRequest(), Send(ChunkedHead() + Chunk(large) + "0\r\n\r\n"), Stall()}},
                   Tls());
  const auto stream = Open(server);

  EXPECT_TRUE(ReadBytes(*stream, large.size()) == large);
  EXPECT_EQ(stream->Read(kLong).state, State::kEnd);
}

TEST_F(StreamTest, ABodyThatIsCutShortIsBroken) {
  RawServer server({{ReadRequest(), Send(ChunkedHead() + Chunk("one")), Close()}}, Tls());
  const auto stream = Open(server);

  EXPECT_EQ(FailureOfRead(*stream).kind, Kind::kBroken);
}

TEST_F(StreamTest, AContentLengthThatIsNotReachedIsBroken) {
  RawServer server(
      {{ReadRequest(), Send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"), Close()}});
  const auto stream = Open(server);

  EXPECT_EQ(FailureOfRead(*stream).kind, Kind::kBroken);
}

TEST_F(StreamTest, AConnectionCutOffWithoutTlsGoodbyeIsBroken) {
  RawServer server({{ReadRequest(), Send("HTTP/1.1 200 OK\r\n\r\none"), CutOff()}}, Tls());
  const auto stream = Open(server);

  EXPECT_EQ(ReadBytes(*stream, 3), "one");
  EXPECT_EQ(FailureOfRead(*stream).kind, Kind::kBroken);
}

TEST_F(StreamTest, AResetIsBroken) {
  RawServer server({{ReadRequest(), Send(ChunkedHead() + Chunk("one")), Await(), Reset()}});
  const auto stream = Open(server);

  EXPECT_EQ(ReadBytes(*stream, 3), "one");
  server.Proceed();
  EXPECT_EQ(FailureOfRead(*stream).kind, Kind::kBroken);
}

TEST_F(StreamTest, WhatCameBeforeABadChunkIsHandedOut) {
  RawServer server({{ReadRequest(), Send(ChunkedHead() + Chunk("good") + "-1\r\n"), Stall()}});
  const auto stream = Open(server);

  EXPECT_EQ(ReadBytes(*stream, 4), "good");
  EXPECT_EQ(FailureOfRead(*stream).kind, Kind::kMalformed);
}

TEST_F(StreamTest, TrailersWithoutAnEndAreMalformed) {
  RawServer server({{ReadRequest(), Send(ChunkedHead() + "0\r\n"),
                     Flood("X-Trailer: " + std::string(1000, 'y') + "\r\n")}});
  const auto stream = Open(server);

  EXPECT_EQ(FailureOfRead(*stream).kind, Kind::kMalformed);
}

TEST_F(StreamTest, AChunkExtensionWithoutAnEndIsMalformed) {
  RawServer server({{ReadRequest(), Send(ChunkedHead() + "1;note="), Flood(Many("y"))}});
  const auto stream = Open(server);

  EXPECT_EQ(FailureOfRead(*stream).kind, Kind::kMalformed);
}

TEST_F(StreamTest, AStopEndsARead) {
  RawServer server({{ReadRequest(), Send(ChunkedHead() + Chunk("one")), Stall()}}, Tls());
  std::stop_source stop;
  const auto stream = Open(server, stop.get_token());
  EXPECT_EQ(ReadBytes(*stream, 3), "one");
  std::jthread stopper([&stop] { stop.request_stop(); });

  const auto failure = FailureOfRead(*stream);

  EXPECT_EQ(failure.kind, Kind::kCancelled) << failure.what;
  EXPECT_THAT(failure.what, HasSubstr("/watch: stopped"));
}

TEST_F(StreamTest, AStopIsNoEndOfABodyThatTheConnectionEnds) {
  RawServer server({{ReadRequest(), Send("HTTP/1.1 200 OK\r\n\r\none"), Stall()}});
  std::stop_source stop;
  const auto stream = Open(server, stop.get_token());
  EXPECT_EQ(ReadBytes(*stream, 3), "one");
  stop.request_stop();

  EXPECT_EQ(FailureOfRead(*stream).kind, Kind::kCancelled);
}

TEST_F(StreamTest, AStopEndsTheWaitForAHead) {
  RawServer server({{ReadRequest(), Stall()}}, Tls());
  std::stop_source stop;
  std::jthread stopper([&] {
    server.AwaitRequests(1);
    stop.request_stop();
  });

  EXPECT_EQ(FailureOf([&] { Open(server, stop.get_token()); }).kind, Kind::kCancelled);
}

TEST_F(StreamTest, AHeadThatDoesNotComeEndsAtTheDeadline) {
  RawServer server({{ReadRequest(), Stall()}});
  options_.call_timeout = 100ms;

  EXPECT_EQ(FailureOf([&] { Open(server); }).kind, Kind::kTimeout);
}

TEST_F(StreamTest, AnAnswerThatIsNotOkHasItsBodyInTheHead) {
  RawServer server({{ReadRequest(), Send(ChunkedHead(410) + Chunk("too ") + Chunk("old")),
                     Send("0\r\n\r\n"), Stall()}},
                   Tls());
  const auto stream = Open(server);

  EXPECT_EQ(stream->head().status, 410);
  EXPECT_EQ(stream->head().body, "too old");
  EXPECT_EQ(stream->Read(kLong).state, State::kEnd);
}

TEST_F(StreamTest, AnAnswerThatIsNotOkIsBounded) {
  RawServer server({{ReadRequest(), Send(ChunkedHead(500)), Flood(Chunk("xxxx"))}});
  options_.max_body = 1000;

  EXPECT_EQ(FailureOf([&] { Open(server); }).kind, Kind::kTooLarge);
}

TEST_F(StreamTest, AStreamHasAConnectionOfItsOwnThatEndsWithIt) {
  RawServer server({{ReadRequest(), Send(ChunkedHead()), ReadRequest()}}, Tls());
  auto first = Open(server);
  const auto second = transport_->Open({.target = "/watch"});

  EXPECT_EQ(server.Connections(), 2U);
  first.reset();
  server.AwaitFinished(1);
}

}  // namespace
}  // namespace kopp::testing
