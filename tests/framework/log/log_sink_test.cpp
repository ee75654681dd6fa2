// Tests of lines that standard error does not accept.
#include "log/log_sink.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <kopp/testing/fake_clock.hpp>

namespace kopp::detail {
namespace {

using namespace std::chrono_literals;
using ::testing::EndsWith;

class TestNotice final : public DropNotice {
 public:
  [[nodiscard]] std::string DroppedLines(std::uint64_t lines, WallTime /*now*/) const override {
    return "dropped " + std::to_string(lines) + '\n';
  }
};

/// Both ends of a channel with a small buffer, and a sink that writes to it.
class LogSinkTest : public ::testing::Test {
 protected:
  void OpenPipe() {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    ASSERT_EQ(::fcntl(ends[1], F_SETPIPE_SZ, 4096), 4096);
    reader_ = ends[0];
    writer_ = ends[1];
    sink_ = std::make_unique<LogSink>(writer_, clock_, kMaxWaiting);
  }
  void OpenSocket() {
    std::array<int, 2> ends{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
    const int size = 4096;
    ::setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    reader_ = ends[0];
    writer_ = ends[1];
    sink_ = std::make_unique<LogSink>(writer_, clock_, kMaxWaiting);
  }
  void OpenTerminal() {
    reader_ = ::posix_openpt(O_RDWR | O_NOCTTY);
    ASSERT_GE(reader_, 0);
    ASSERT_EQ(::grantpt(reader_), 0);
    ASSERT_EQ(::unlockpt(reader_), 0);
    std::array<char, 100> name{};
    ASSERT_EQ(::ptsname_r(reader_, name.data(), name.size()), 0);
    writer_ = ::open(name.data(), O_RDWR | O_NOCTTY);
    ASSERT_GE(writer_, 0);
    sink_ = std::make_unique<LogSink>(writer_, clock_, kMaxWaiting);
  }
  void TearDown() override {
    if (reader_ >= 0) ::close(reader_);  // ends the thread of the sink
    sink_.reset();
    if (writer_ >= 0) ::close(writer_);
  }

  void Write(const std::string& line) { sink_->Write(line + '\n', notice_); }
  // Writes the lines "0", "1", …
  void WriteNumbers(int count) {
    for (int i = 0; i < count; ++i) Write(std::to_string(i));
  }
  // Reads until `end` has been read.
  std::string ReadUntil(const std::string& end) {
    std::string text;
    std::array<char, 1000> buffer{};
    while (text.find(end) == std::string::npos) {
      const ssize_t count = ::read(reader_, buffer.data(), buffer.size());
      if (count <= 0) break;
      text.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return text;
  }

  // Reads until the sink has written all lines.
  std::string ReadAllAfterFlush() {
    std::string text;
    std::thread reader([&] { text = ReadUntil("end of test"); });
    EXPECT_TRUE(sink_->Flush(Duration::max()));
    EXPECT_EQ(::write(writer_, "end of test\n", 12), 12);
    reader.join();
    return text.substr(0, text.find("end of test"));
  }

  static constexpr std::size_t kMaxWaiting = 10'000;
  testing::FakeClock clock_;
  int reader_ = -1;
  int writer_ = -1;
  std::shared_ptr<const DropNotice> notice_ = std::make_shared<TestNotice>();
  std::unique_ptr<LogSink> sink_;
};

// Returns the lines "0" to "count - 1".
std::string Numbers(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += std::to_string(i) + '\n';
  return text;
}

TEST_F(LogSinkTest, ALineIsWrittenByTheCallerIfThePipeAcceptsIt) {
  OpenPipe();

  Write("hello");

  std::array<char, 10> buffer{};
  EXPECT_EQ(::read(reader_, buffer.data(), buffer.size()), 6);
  EXPECT_EQ(sink_->Status().waiting_bytes, 0U);
  EXPECT_TRUE(sink_->Flush(0s));
}

TEST_F(LogSinkTest, LinesToAPipeThatNobodyReadsDoNotBlockAndArriveInOrderLater) {
  OpenPipe();

  WriteNumbers(2000);  // 8890 bytes: more than the pipe accepts
  EXPECT_GT(sink_->Status().waiting_bytes, 0U);
  EXPECT_EQ(sink_->Status().dropped_lines, 0U);

  EXPECT_EQ(ReadUntil("\n1999\n"), Numbers(2000));
}

// Checks that `text` has the lines "0" to "count - 1" in order, or notices in their place.
void ExpectNumbersOrNotices(const std::string& text, int count) {
  std::istringstream lines(text);
  int next = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("dropped ")) {
      next += std::stoi(line.substr(8));
    } else {
      EXPECT_EQ(line, std::to_string(next));
      next = std::stoi(line) + 1;
    }
  }
  EXPECT_EQ(next, count);
}

TEST_F(LogSinkTest, LinesAboveTheLimitAreDroppedAndReportedInTheirPlace) {
  OpenPipe();

  WriteNumbers(100'000);
  EXPECT_GT(sink_->Status().dropped_lines, 0U);
  const std::string text = ReadAllAfterFlush();

  ExpectNumbersOrNotices(text, 100'000);
}

TEST_F(LogSinkTest, ALineLongerThanTheLimitIsWrittenCompletely) {
  OpenPipe();
  const std::string line(5 * kMaxWaiting, 'x');

  Write(line);

  EXPECT_EQ(ReadUntil("\n"), line + '\n');
}

TEST_F(LogSinkTest, LinesToASocketThatNobodyReadsDoNotBlockAndArriveLater) {
  OpenSocket();

  Write(std::string(8'000, 'x'));
  WriteNumbers(2000);

  EXPECT_THAT(ReadUntil("\n1999\n"), EndsWith(Numbers(2000)));
}

TEST_F(LogSinkTest, LinesToATerminalThatNobodyReadsDoNotBlockAndArriveLater) {
  OpenTerminal();

  WriteNumbers(100'000);  // more than the terminal and the limit together
  EXPECT_GT(sink_->Status().dropped_lines, 0U);
  std::string text = ReadAllAfterFlush();
  std::erase(text, '\r');

  ExpectNumbersOrNotices(text, 100'000);
}

TEST_F(LogSinkTest, TheStatusShowsForHowLongNothingWasAccepted) {
  OpenPipe();
  EXPECT_EQ(sink_->Status().blocked_for, 0s);

  WriteNumbers(2000);
  clock_.Advance(30s);
  EXPECT_EQ(sink_->Status().blocked_for, 30s);

  ReadUntil("\n1999\n");
  EXPECT_TRUE(sink_->Flush(Duration::max()));
  EXPECT_EQ(sink_->Status().blocked_for, 0s);
  EXPECT_EQ(sink_->Status().waiting_bytes, 0U);
}

TEST_F(LogSinkTest, FlushReturnsAfterItsTimeoutIfNobodyReads) {
  OpenPipe();
  WriteNumbers(2000);
  bool flushed = true;

  std::thread flush([&] { flushed = sink_->Flush(1s); });
  clock_.AwaitSleepers(1);
  clock_.Advance(1s);
  flush.join();

  EXPECT_FALSE(flushed);
}

TEST_F(LogSinkTest, LinesToAPipeWithoutAReaderAreDroppedWithoutASignal) {
  OpenPipe();
  ASSERT_EQ(::close(reader_), 0);
  reader_ = -1;

  WriteNumbers(10);  // SIGPIPE would end the process

  EXPECT_EQ(sink_->Status().dropped_lines, 10U);
  EXPECT_EQ(sink_->Status().waiting_bytes, 0U);
}

TEST_F(LogSinkTest, LinesThatWaitForAReaderThatGoesAwayAreDropped) {
  OpenPipe();
  WriteNumbers(2000);

  ASSERT_EQ(::close(reader_), 0);
  reader_ = -1;

  EXPECT_TRUE(sink_->Flush(Duration::max()));
  EXPECT_GT(sink_->Status().dropped_lines, 0U);
  EXPECT_LE(sink_->Status().dropped_lines, 2000U);
}

TEST_F(LogSinkTest, LinesToAFullDiskAreDroppedAndReportedWhenThereIsSpaceAgain) {
  writer_ = ::open("/dev/full", O_WRONLY);
  ASSERT_GE(writer_, 0);
  sink_ = std::make_unique<LogSink>(writer_, clock_, kMaxWaiting);
  WriteNumbers(3);
  EXPECT_EQ(sink_->Status().dropped_lines, 3U);

  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ::dup2(ends[1], writer_);
  ::close(ends[1]);
  reader_ = ends[0];
  Write("it works again");

  EXPECT_EQ(ReadUntil("again\n"), "dropped 3\nit works again\n");
}

}  // namespace
}  // namespace kopp::detail
