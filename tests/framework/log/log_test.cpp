#include <array>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include <kopp/log.hpp>
#include <kopp/testing/fake_clock.hpp>

namespace kopp {
namespace {

// A clock whose time is always 2026-11-20 21:33:39.123456789 UTC.
class FixedClock final : public Clock {
 public:
  [[nodiscard]] TimePoint Now() const override { return {}; }
  [[nodiscard]] WallTime WallNow() const override {
    using std::chrono::sys_days;
    const auto day = sys_days(std::chrono::year(2026) / 11 / 20);
    return day + std::chrono::hours(21) + std::chrono::minutes(33) + std::chrono::seconds(39) +
           std::chrono::nanoseconds(123'456'789);
  }
  void WaitUntil(std::unique_lock<std::mutex>&, std::condition_variable&, TimePoint) override {}
};

class LogTest : public ::testing::Test {
 protected:
  [[nodiscard]] Logger NewLogger(LogFormat format, int verbosity = 0) {
    return Logger({.format = format,
                   .verbosity = verbosity,
                   .write = [this](std::string_view line) { lines_.emplace_back(line); },
                   .clock = clock_});
  }
  [[nodiscard]] Logger NewLogger(const LogOptions& options) {
    return Logger({.format = options.format,
                   .verbosity = options.verbosity,
                   .vmodule = options.vmodule,
                   .sampling = options.sampling,
                   .time = options.time,
                   .color = options.color,
                   .write = [this](std::string_view line) { lines_.emplace_back(line); },
                   .clock = clock_});
  }
  // Returns the last line without the klog header, which contains a line number.
  [[nodiscard]] std::string TextWithoutHeader() const {
    return lines_.back().substr(lines_.back().find("] ") + 2);
  }
  // Returns the last line from the field `msg` on.
  [[nodiscard]] std::string JsonFromMsg() const {
    return lines_.back().substr(lines_.back().find(R"("msg")"));
  }

  FixedClock clock_;
  std::vector<std::string> lines_;
};

TEST_F(LogTest, ATextLineStartsWithAKlogHeader) {
  ::setenv("TZ", "UTC-2", 1);  // POSIX inverts the sign: two hours east of UTC
  ::tzset();

  NewLogger(LogFormat::kText).Info("Starting workers", {{"controller", "foo"}, {"count", 2}});
  ::unsetenv("TZ");
  ::tzset();

  const std::regex expected(
      R"re(I1120 23:33:39\.123456 +(\d+) log_test\.cpp:\d+\] "Starting workers" controller="foo" count=2\n)re");
  std::smatch match;
  ASSERT_TRUE(std::regex_match(lines_.back(), match, expected)) << lines_.back();
  EXPECT_EQ(match[1], std::to_string(::gettid()));
}

TEST_F(LogTest, ATextLineOfAnErrorStartsWithE) {
  NewLogger(LogFormat::kText).Error("Reconciler error");

  EXPECT_EQ(lines_.back().front(), 'E');
}

TEST_F(LogTest, AJsonLineIsOneObject) {
  NewLogger(LogFormat::kJson).Info("Starting workers", {{"controller", "foo"}, {"count", 2}});

  const std::regex expected(
      R"re(\{"level":"info","ts":"2026-11-20T21:33:39\.123456Z","caller":"log_test\.cpp:\d+",)re"
      R"re("msg":"Starting workers","controller":"foo","count":2\}\n)re");
  EXPECT_TRUE(std::regex_match(lines_.back(), expected)) << lines_.back();
}

TEST_F(LogTest, AJsonLineOfAnErrorHasTheLevelError) {
  NewLogger(LogFormat::kJson).Error("Reconciler error");

  EXPECT_NE(lines_.back().find(R"("level":"error")"), std::string::npos);
}

TEST_F(LogTest, AnObjectKeyIsWrittenAsNamespaceAndName) {
  NewLogger(LogFormat::kText).Info("Synced", {{"object", ObjectKey{"default", "web"}}});
  EXPECT_EQ(TextWithoutHeader(), "\"Synced\" object=\"default/web\"\n");

  NewLogger(LogFormat::kJson).Info("Synced", {{"object", ObjectKey{"default", "web"}}});
  EXPECT_EQ(JsonFromMsg(), "\"msg\":\"Synced\",\"object\":\"default/web\"}\n");
}

TEST_F(LogTest, FieldValuesAreFormattedAccordingToTheirType) {
  const char* const nothing = nullptr;

  NewLogger(LogFormat::kText)
      .Info("m", {{"bool", true},
                  {"large", std::numeric_limits<std::uint64_t>::max()},
                  {"small", -1},
                  {"real", 0.5},
                  {"none", nothing},
                  {"text", std::string("5")}});

  EXPECT_EQ(TextWithoutHeader(),
            "\"m\" bool=true large=18446744073709551615 small=-1 real=0.5 none=\"<null>\" "
            "text=\"5\"\n");
}

TEST_F(LogTest, ALineBreakInAValueIsEscaped) {
  NewLogger(LogFormat::kText).Info("a\nb", {{"error", "line 1\nline \"2\"\\"}});

  EXPECT_EQ(TextWithoutHeader(), R"("a\nb" error="line 1\nline \"2\"\\")"
                                 "\n");
}

TEST_F(LogTest, ALineBreakInAKeyIsEscaped) {
  NewLogger(LogFormat::kText).Info("m", {{"a\nb=", 1}});

  EXPECT_EQ(TextWithoutHeader(), R"("m" "a\nb="=1)"
                                 "\n");
}

TEST_F(LogTest, Utf8IsNotEscaped) {
  NewLogger(LogFormat::kJson).Info("Größe", {{"name", "日本"}});

  EXPECT_EQ(JsonFromMsg(), "\"msg\":\"Größe\",\"name\":\"日本\"}\n");
}

TEST_F(LogTest, BytesThatAreNotUtf8AreReplaced) {
  NewLogger(LogFormat::kJson).Info("m", {{"body", "a\xff\xfe"}});

  EXPECT_EQ(JsonFromMsg(), "\"msg\":\"m\",\"body\":\"a\xEF\xBF\xBD\xEF\xBF\xBD\"}\n");
}

TEST_F(LogTest, ALineWithALevelAboveTheVerbosityIsNotWritten) {
  const Logger log = NewLogger(LogFormat::kText, 2);

  log.V(3).Info("hidden");
  log.V(2).Info("shown");

  ASSERT_EQ(lines_.size(), 1U);
  EXPECT_EQ(TextWithoutHeader(), "\"shown\"\n");
  EXPECT_FALSE(log.V(3).Enabled());
}

TEST_F(LogTest, AnErrorIsWrittenAtAnyVerbosity) {
  NewLogger(LogFormat::kText).V(9).Error("broken");

  EXPECT_EQ(lines_.size(), 1U);
}

TEST_F(LogTest, FieldsAddedByWithAccumulateAndPrecedeTheFieldsOfTheCall) {
  const Logger log = NewLogger(LogFormat::kText).With({{"a", 1}}).With({{"b", 2}});

  log.Info("m", {{"c", 3}});

  EXPECT_EQ(TextWithoutHeader(), "\"m\" a=1 b=2 c=3\n");
}

TEST_F(LogTest, InfoAndErrorDoNotThrowIfTheWriterThrows) {
  const Logger log({.write = [](std::string_view) { throw std::runtime_error("disk full"); }});

  EXPECT_NO_THROW(log.Info("m"));
  EXPECT_NO_THROW(log.Error("m"));
}

// Console and logfmt.

TEST_F(LogTest, AConsoleLineHasColumnsAndThenTheFieldsAsJson) {
  ::setenv("TZ", "UTC-2", 1);
  ::tzset();

  NewLogger(LogFormat::kConsole).Info("Starting workers", {{"controller", "foo"}, {"count", 2}});
  ::unsetenv("TZ");
  ::tzset();

  const std::regex expected(
      "2026-11-20T23:33:39\\.123\\+0200\tINFO\tlog_test\\.cpp:\\d+\tStarting "
      "workers\t\\{\"controller\":\"foo\",\"count\":2\\}\n");
  EXPECT_TRUE(std::regex_match(lines_.back(), expected)) << lines_.back();
}

TEST_F(LogTest, AConsoleLineWithoutFieldsEndsWithItsMessage) {
  NewLogger(LogFormat::kConsole).Error("two\nlines");

  EXPECT_TRUE(lines_.back().ends_with("\ttwo\\nlines\n")) << lines_.back();
  EXPECT_NE(lines_.back().find("\tERROR\t"), std::string::npos);
}

TEST_F(LogTest, AConsoleLineIsColoredOnlyIfAsked) {
  NewLogger({.format = LogFormat::kConsole, .color = LogColor::kAlways}).Error("m");
  EXPECT_NE(lines_.back().find("\t\x1b[31mERROR\x1b[0m\t"), std::string::npos) << lines_.back();

  NewLogger({.format = LogFormat::kConsole}).Error("m");  // kAuto: not a terminal
  EXPECT_EQ(lines_.back().find('\x1b'), std::string::npos) << lines_.back();
}

TEST_F(LogTest, ALogfmtLineHasFieldsOnly) {
  NewLogger(LogFormat::kLogfmt).Info("Starting workers", {{"controller", "foo"}, {"count", 2}});

  const std::regex expected(
      R"re(ts=2026-11-20T21:33:39\.123456Z level=info caller=log_test\.cpp:\d+ )re"
      R"re(msg="Starting workers" controller="foo" count=2\n)re");
  EXPECT_TRUE(std::regex_match(lines_.back(), expected)) << lines_.back();
}

TEST_F(LogTest, AnInfoLineWithAVerbosityLevelHasTheLevelDebug) {
  NewLogger(LogFormat::kJson, 4).V(4).Info("m");

  EXPECT_NE(lines_.back().find(R"("level":"debug")"), std::string::npos) << lines_.back();
}

TEST_F(LogTest, TimesAreFormattedAsInZap) {
  const auto time_of = [this](LogTime time) {
    NewLogger({.format = LogFormat::kJson, .time = time}).Info("m");
    const auto begin = lines_.back().find(R"("ts":)") + 5;
    return lines_.back().substr(begin, lines_.back().find(",\"caller\"") - begin);
  };

  EXPECT_EQ(time_of(LogTime::kEpoch), "1795210419.123456789");
  EXPECT_EQ(time_of(LogTime::kMillis), "1795210419123.456789");
  EXPECT_EQ(time_of(LogTime::kNano), "1795210419123456789");
  EXPECT_EQ(time_of(LogTime::kIso8601), R"("2026-11-20T21:33:39.123Z")");
  EXPECT_EQ(time_of(LogTime::kRfc3339), R"("2026-11-20T21:33:39Z")");
  EXPECT_EQ(time_of(LogTime::kRfc3339Nano), R"("2026-11-20T21:33:39.123456789Z")");
}

// Names and verbosity.

TEST_F(LogTest, NamesOfALoggerAreJoinedInTheFieldLogger) {
  NewLogger(LogFormat::kJson).Named("web").Named("cache").Info("m");
  EXPECT_NE(lines_.back().find(R"("logger":"web.cache","caller":)"), std::string::npos)
      << lines_.back();

  NewLogger(LogFormat::kText).Named("web").Info("m", {{"a", 1}});
  EXPECT_EQ(TextWithoutHeader(), "\"m\" logger=\"web\" a=1\n");
}

TEST_F(LogTest, VmoduleSetsTheVerbosityOfLoggersWithAMatchingName) {
  const Logger log = NewLogger({.vmodule = {{"web*", 4}, {"*", 2}}});

  EXPECT_FALSE(log.V(1).Enabled());
  EXPECT_TRUE(log.Named("web").V(4).Enabled());
  EXPECT_TRUE(log.Named("web").Named("cache").V(4).Enabled());
  EXPECT_FALSE(log.Named("web").V(5).Enabled());
  EXPECT_TRUE(log.Named("shop").V(2).Enabled());
  EXPECT_FALSE(log.Named("shop").V(3).Enabled());
}

TEST_F(LogTest, VmoduleSetsTheVerbosityOfAController) {
  const Logger log = NewLogger({.verbosity = 1, .vmodule = {{"foo", 4}, {"bar", -1}}});

  EXPECT_TRUE(log.With({{"controller", "foo"}}).With({{"object", "a"}}).V(4).Enabled());
  EXPECT_FALSE(log.With({{"controller", "bar"}}).Enabled());
  EXPECT_TRUE(log.With({{"controller", "other"}}).V(1).Enabled());
  EXPECT_FALSE(log.With({{"object", "foo"}}).V(2).Enabled());
}

TEST_F(LogTest, ANegativeVerbosityLeavesOnlyErrors) {
  const Logger log = NewLogger(LogFormat::kText, -1);

  log.Info("hidden");
  log.Error("shown");

  ASSERT_EQ(lines_.size(), 1U);
  EXPECT_EQ(TextWithoutHeader(), "\"shown\"\n");
}

// Sampling.

TEST_F(LogTest, RepeatedLinesOfOneSecondAreLeftOutAndCounted) {
  testing::FakeClock clock;
  const Logger log({.sampling = {.first = 2, .thereafter = 3},
                    .write = [this](std::string_view line) { lines_.emplace_back(line); },
                    .clock = clock});
  const auto repeat = [&](const char* message) { log.Error(message); };

  for (int i = 0; i < 9; ++i) repeat("failed");  // writes 1, 2, 5 and 8
  EXPECT_EQ(lines_.size(), 4U);
  EXPECT_EQ(TextWithoutHeader(), "\"failed\" suppressed=2\n");
  repeat("another message");
  EXPECT_EQ(TextWithoutHeader(), "\"another message\"\n");
  clock.Advance(std::chrono::seconds(1));
  repeat("failed");
  EXPECT_EQ(TextWithoutHeader(), "\"failed\" suppressed=1\n");
}

TEST_F(LogTest, AllRepeatedLinesAreWrittenByDefault) {
  const Logger log = NewLogger(LogFormat::kText);

  for (int i = 0; i < 1000; ++i) log.Error("failed");

  EXPECT_EQ(lines_.size(), 1000U);
}

TEST_F(LogTest, ALoggerWithAVerbosityWritesAllRepeatedLines) {
  const Logger log = NewLogger({.vmodule = {{"web", 1}}, .sampling = {.first = 1}}).Named("web");

  for (int i = 0; i < 3; ++i) log.Info("m");

  EXPECT_EQ(lines_.size(), 3U);
}

// Redirects standard error to a pipe. A file is not sufficient, because one write to a file accepts
// a line of any length.
class StandardErrorPipe {
 public:
  StandardErrorPipe() : original_(::dup(STDERR_FILENO)) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    ::dup2(ends[1], STDERR_FILENO);
    ::close(ends[1]);
    reader_ = std::jthread([this, from = ends[0]] {
      std::array<char, 1000> buffer{};
      for (ssize_t count = 0; (count = ::read(from, buffer.data(), buffer.size())) > 0;) {
        written_.append(buffer.data(), static_cast<std::size_t>(count));
      }
      ::close(from);
    });
  }

  // Restores standard error. Returns the text that was written to it.
  std::string Finish() {
    ::dup2(original_, STDERR_FILENO);
    ::close(original_);
    reader_.join();
    return written_;
  }

 private:
  int original_;
  std::string written_;
  std::jthread reader_;
};

TEST_F(LogTest, LinesOfSeveralLoggersAreNotInterleavedOnStandardError) {
  const std::string message(100'000, 'x');  // longer than a pipe accepts in one write
  StandardErrorPipe pipe;

  {
    std::vector<std::jthread> writers;
    for (int i = 0; i < 4; ++i) {
      writers.emplace_back([&] {
        const Logger log({.format = LogFormat::kJson});
        for (int n = 0; n < 2; ++n) log.Info(message);  // all together: less than 1 MiB
      });
    }
  }

  EXPECT_TRUE(FlushLog(std::chrono::minutes(1)));
  std::istringstream lines(pipe.Finish());
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_TRUE(line.starts_with("{\"level\":"));
    EXPECT_TRUE(line.ends_with(",\"msg\":\"" + message + "\"}"));
  }
  EXPECT_EQ(count, 8);
}

}  // namespace
}  // namespace kopp
