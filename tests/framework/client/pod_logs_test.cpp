#include <chrono>
#include <deque>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/client.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kLog = "/api/v1/namespaces/shop/pods/web-0/log";

/// A stream that returns the given chunks; an empty chunk is silence. Records the limits of Read in
/// `limits`, and throws after a stop.
class ChunkStream final : public Stream {
 public:
  ChunkStream(std::deque<std::string> chunks, std::vector<Duration>* limits, std::stop_token stop)
      : chunks_(std::move(chunks)), limits_(limits), stop_(std::move(stop)) {}
  [[nodiscard]] const ApiResponse& head() const override { return head_; }
  Chunk Read(Duration limit) override {
    limits_->push_back(limit);
    if (stop_.stop_requested()) throw TransportError(TransportError::Kind::kCancelled, "stopped");
    if (chunks_.empty()) return {.state = State::kEnd};
    chunk_ = std::move(chunks_.front());
    chunks_.pop_front();
    if (chunk_.empty()) return {.state = State::kSilent};
    return {.state = State::kBytes, .bytes = chunk_};
  }

 private:
  ApiResponse head_{.status = 200};
  std::deque<std::string> chunks_;
  std::vector<Duration>* limits_;
  std::stop_token stop_;
  std::string chunk_;
};

/// A transport with one stream, a ChunkStream of one chunk.
class ChunkTransport final : public Transport {
 public:
  ApiResponse Call(const ApiRequest&, std::stop_token) override { return {.status = 404}; }
  std::unique_ptr<Stream> Open(const ApiRequest&, std::stop_token stop) override {
    return std::make_unique<ChunkStream>(std::deque<std::string>{"one\n"}, &limits_,
                                         std::move(stop));
  }
  /// Returns the limits of all calls of Read.
  [[nodiscard]] const std::vector<Duration>& limits() const { return limits_; }

 private:
  std::vector<Duration> limits_;
};

class PodLogStreamTest : public ::testing::Test {
 protected:
  PodLogStream LogOf(std::deque<std::string> chunks) {
    return {std::make_unique<ChunkStream>(std::move(chunks), &limits_, std::stop_token()), 30s};
  }

 private:
  std::vector<Duration> limits_;
};

std::vector<std::string> LinesOf(PodLogStream logs) {
  std::vector<std::string> lines;
  while (auto line = logs.ReadLine()) lines.push_back(*std::move(line));
  return lines;
}

TEST_F(PodLogStreamTest, ReadLineReturnsLinesThatArriveInParts) {
  EXPECT_THAT(LinesOf(LogOf({"one\ntw", "o\n", "\nthr", "ee"})),
              ElementsAre("one", "two", "", "three"));
}

TEST_F(PodLogStreamTest, AnEmptyLogHasNoLines) { EXPECT_THAT(LinesOf(LogOf({})), IsEmpty()); }

TEST_F(PodLogStreamTest, ReadChunkReturnsTheBytesThatReadLineHasLeft) {
  PodLogStream logs = LogOf({"one\ntwo\nthr", "ee\n"});

  EXPECT_EQ(logs.ReadLine(), "one");
  EXPECT_EQ(logs.ReadChunk(), "two\nthr");
  EXPECT_EQ(logs.ReadChunk(), "ee\n");
  EXPECT_EQ(logs.ReadChunk(), "");
  EXPECT_EQ(logs.ReadLine(), std::nullopt);
}

TEST_F(PodLogStreamTest, ALineThatIsTooLongIsReturnedInParts) {
  const std::string start(PodLogStream::kMaxLine - 1, 'x');

  const auto lines = LinesOf(LogOf({start, "yzz\nend\n" + start + "yzz\n"}));

  EXPECT_THAT(lines, ElementsAre(start + "y", "zz", "end", start + "y", "zz"));
}

TEST_F(PodLogStreamTest, ALineOfTheMaximumLengthHasNoEmptyPart) {
  const std::string line(PodLogStream::kMaxLine, 'x');

  EXPECT_THAT(LinesOf(LogOf({line + "\nend\n"})), ElementsAre(line, "end"));
  EXPECT_THAT(LinesOf(LogOf({line, "\n\nend"})), ElementsAre(line, "", "end"));
  EXPECT_THAT(LinesOf(LogOf({line})), ElementsAre(line)) << "the log ends without a line break";
}

TEST_F(PodLogStreamTest, SilenceThrowsATimeout) {
  PodLogStream logs = LogOf({"one\n", ""});
  EXPECT_EQ(logs.ReadLine(), "one");

  try {
    (void)logs.ReadLine();
    FAIL() << "ReadLine returned";
  } catch (const TransportError& error) {
    EXPECT_EQ(error.kind(), TransportError::Kind::kTimeout);
  }
}

class PodLogsTest : public ::testing::Test {
 protected:
  testing::FakeClock clock_;
  testing::ScriptedTransport transport_{clock_};
  Client client_{transport_};
};

TEST_F(PodLogsTest, OptionsAreSentAsQueryParameters) {
  transport_.Respond("GET", kLog, 200, "a\nb\n");

  EXPECT_THAT(LinesOf(client_.PodLogs({"shop", "web-0"}, {.container = "main",
                                                          .follow = true,
                                                          .previous = true,
                                                          .timestamps = true,
                                                          .tail_lines = 0,
                                                          .since = 60s})),
              ElementsAre("a", "b"));

  EXPECT_EQ(transport_.Requests().back().target,
            std::string(kLog) +
                "?container=main&follow=true&previous=true&timestamps=true"
                "&tailLines=0&sinceSeconds=60");
}

TEST(PodLogsTransportTest, AFollowedLogWaitsForBytesWithoutALimit) {
  ChunkTransport transport;

  EXPECT_THAT(LinesOf(Client(transport).PodLogs({"shop", "web-0"}, {.follow = true})),
              ElementsAre("one"));

  EXPECT_THAT(transport.limits(), Each(Duration::max()));
}

TEST(PodLogsTransportTest, ALogThatIsNotFollowedWaitsForBytesForAtMost30Seconds) {
  ChunkTransport transport;

  EXPECT_THAT(LinesOf(Client(transport).PodLogs({"shop", "web-0"})), ElementsAre("one"));

  EXPECT_THAT(transport.limits(), Each(Duration(30s)));
}

TEST(PodLogsTransportTest, AStopOfTheClientEndsReadLine) {
  ChunkTransport transport;
  std::stop_source stop;
  auto logs = Client(transport).With(stop.get_token()).PodLogs({"shop", "web-0"});
  stop.request_stop();

  try {
    (void)logs.ReadLine();
    FAIL() << "ReadLine returned";
  } catch (const TransportError& error) {
    EXPECT_EQ(error.kind(), TransportError::Kind::kCancelled);
  }
}

TEST_F(PodLogsTest, WithoutOptionsNoQueryIsSent) {
  transport_.Respond("GET", kLog, 200, "");

  EXPECT_THAT(LinesOf(client_.PodLogs({"shop", "web-0"})), IsEmpty());

  EXPECT_EQ(transport_.Requests().back().target, kLog);
}

TEST_F(PodLogsTest, AnErrorStatusIsThrownAsAnApiError) {
  try {
    (void)client_.PodLogs({"shop", "absent"});
    FAIL() << "PodLogs returned";
  } catch (const ApiError& error) {
    EXPECT_TRUE(error.IsNotFound());
  }
}

}  // namespace
}  // namespace kopp
