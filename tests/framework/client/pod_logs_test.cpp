#include <chrono>
#include <deque>
#include <memory>
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
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kLog = "/api/v1/namespaces/shop/pods/web-0/log";

/// A stream that returns the given chunks; an empty chunk is silence.
class ChunkStream final : public Stream {
 public:
  explicit ChunkStream(std::deque<std::string> chunks) : chunks_(std::move(chunks)) {}
  [[nodiscard]] const Response& head() const override { return head_; }
  Chunk Read(Duration) override {
    if (chunks_.empty()) return {.state = State::kEnd};
    chunk_ = std::move(chunks_.front());
    chunks_.pop_front();
    if (chunk_.empty()) return {.state = State::kSilent};
    return {.state = State::kBytes, .bytes = chunk_};
  }

 private:
  Response head_{.status = 200};
  std::deque<std::string> chunks_;
  std::string chunk_;
};

PodLogStream LogOf(std::deque<std::string> chunks) {
  return {std::make_unique<ChunkStream>(std::move(chunks)), 30s};
}

std::vector<std::string> LinesOf(PodLogStream logs) {
  std::vector<std::string> lines;
  while (auto line = logs.ReadLine()) lines.push_back(*std::move(line));
  return lines;
}

TEST(PodLogStreamTest, ReadLineReturnsLinesThatArriveInParts) {
  EXPECT_THAT(LinesOf(LogOf({"one\ntw", "o\n", "\nthr", "ee"})),
              ElementsAre("one", "two", "", "three"));
}

TEST(PodLogStreamTest, AnEmptyLogHasNoLines) { EXPECT_THAT(LinesOf(LogOf({})), IsEmpty()); }

TEST(PodLogStreamTest, ReadChunkReturnsTheBytesThatReadLineHasLeft) {
  PodLogStream logs = LogOf({"one\ntwo\nthr", "ee\n"});

  EXPECT_EQ(logs.ReadLine(), "one");
  EXPECT_EQ(logs.ReadChunk(), "two\nthr");
  EXPECT_EQ(logs.ReadChunk(), "ee\n");
  EXPECT_EQ(logs.ReadChunk(), "");
  EXPECT_EQ(logs.ReadLine(), std::nullopt);
}

TEST(PodLogStreamTest, ALineThatIsTooLongIsReturnedInParts) {
  const std::string start(PodLogStream::kMaxLine - 1, 'x');

  const auto lines = LinesOf(LogOf({start, "yzz\nend\n" + start + "yzz\n"}));

  EXPECT_THAT(lines, ElementsAre(start + "y", "zz", "end", start + "y", "zz"));
}

TEST(PodLogStreamTest, SilenceThrowsATimeout) {
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
