#include "manager/log_flags.hpp"

#include "base/command_line.hpp"
#include "base/flag_settings.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopp::detail {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

LogOptions ParsedLog(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "web");
  Flags flags;
  LogFlags values;
  AddLogFlags(flags, values);
  CommandLine line(static_cast<int>(arguments.size()), arguments.data(), "web", flags, {});
  ApplySettings(flags, {line.Parse()});
  return ToLogOptions(values);
}

std::string LogErrorOf(const std::vector<const char*>& arguments) {
  try {
    ParsedLog(arguments);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(LogFlagsTest, WithoutFlagsOptionsHaveDefaults) {
  const LogOptions options = ParsedLog({});

  EXPECT_EQ(options.format, LogFormat::kText);
  EXPECT_EQ(options.verbosity, 0);
  EXPECT_THAT(options.vmodule, IsEmpty());
  EXPECT_EQ(options.sampling.first, LogSampling{}.first);
  EXPECT_EQ(options.time, LogTime::kDefault);
}

TEST(LogFlagsTest, LoggingFormatSelectsTheFormat) {
  EXPECT_EQ(ParsedLog({"--logging-format=text"}).format, LogFormat::kText);
  EXPECT_EQ(ParsedLog({"--logging-format=json"}).format, LogFormat::kJson);
  EXPECT_EQ(ParsedLog({"--logging-format=console"}).format, LogFormat::kConsole);
  EXPECT_EQ(ParsedLog({"--logging-format=logfmt"}).format, LogFormat::kLogfmt);
}

TEST(LogFlagsTest, VmoduleIsAListOfPatternsAndLevels) {
  EXPECT_THAT(ParsedLog({"--vmodule=foo=4,bar*=2", "--vmodule=x=0"}).vmodule,
              ElementsAre(Pair("foo", 4), Pair("bar*", 2), Pair("x", 0)));
  for (const char* value : {"foo", "=4", "foo=", "foo=x", "foo=-1"}) {
    EXPECT_EQ(LogErrorOf({"--vmodule", value}),
              std::string("invalid value \"") + value +
                  "\" for --vmodule: write names and levels, such as foo=4,bar*=2");
  }
}

TEST(LogFlagsTest, LogSamplingFalseWritesAllLines) {
  EXPECT_EQ(ParsedLog({"--log-sampling=false"}).sampling.first, 0);
}

// The flags of controller-runtime.

TEST(LogFlagsTest, ZapDevelSelectsConsoleWithDebugLinesAndNoSampling) {
  const LogOptions options = ParsedLog({"--zap-devel"});

  EXPECT_EQ(options.format, LogFormat::kConsole);
  EXPECT_EQ(options.verbosity, 1);
  EXPECT_EQ(options.sampling.first, 0);
}

TEST(LogFlagsTest, OtherFlagsOverrideZapDevel) {
  const LogOptions options =
      ParsedLog({"--zap-devel", "--zap-encoder=json", "--zap-log-level=info"});

  EXPECT_EQ(options.format, LogFormat::kJson);
  EXPECT_EQ(options.verbosity, 0);
}

TEST(LogFlagsTest, ZapLogLevelsAreVerbosities) {
  EXPECT_EQ(ParsedLog({"--zap-log-level=debug"}).verbosity, 1);
  EXPECT_EQ(ParsedLog({"--zap-log-level=info"}).verbosity, 0);
  EXPECT_EQ(ParsedLog({"--zap-log-level=error"}).verbosity, -1);
  EXPECT_EQ(ParsedLog({"--zap-log-level=panic"}).verbosity, -1);
  EXPECT_EQ(ParsedLog({"--zap-log-level=5"}).verbosity, 5);
  for (const char* value : {"0", "-1", "warn", ""}) {
    EXPECT_EQ(LogErrorOf({"--zap-log-level", value}),
              std::string("invalid value \"") + value +
                  "\" for --zap-log-level: write debug, info, error, or a number of 1 or more, "
                  "such as 4");
  }
}

TEST(LogFlagsTest, ZapTimeEncodingsAreAccepted) {
  const std::vector<std::pair<const char*, LogTime>> encodings{
      {"epoch", LogTime::kEpoch},     {"millis", LogTime::kMillis},
      {"nano", LogTime::kNano},       {"iso8601", LogTime::kIso8601},
      {"rfc3339", LogTime::kRfc3339}, {"rfc3339nano", LogTime::kRfc3339Nano}};
  for (const auto& [name, time] : encodings) {
    EXPECT_EQ(ParsedLog({"--zap-time-encoding", name}).time, time) << name;
  }
  EXPECT_EQ(LogErrorOf({"--zap-time-encoding=unix"}),
            "invalid value \"unix\" for --zap-time-encoding: write epoch, millis, nano, iso8601, "
            "rfc3339 or rfc3339nano");
}

TEST(LogFlagsTest, ZapStacktraceLevelIsAcceptedOnlyWithoutStackTraces) {
  ParsedLog({"--zap-stacktrace-level=panic"});

  EXPECT_EQ(LogErrorOf({"--zap-stacktrace-level=error"}),
            "invalid value \"error\" for --zap-stacktrace-level: there are no stack traces in the "
            "log: remove the flag");
}

TEST(LogFlagsTest, FlagsThatContradictEachOtherAreRejected) {
  EXPECT_EQ(LogErrorOf({"-v=2", "--zap-log-level=debug"}),
            "-v and --zap-log-level both set the verbosity: remove one of them");
  EXPECT_EQ(LogErrorOf({"--logging-format=text", "--zap-encoder=json"}),
            "--logging-format and --zap-encoder are different: remove one of them");
  EXPECT_EQ(LogErrorOf({"--logging-format=json", "--zap-encoder=json"}), "no error");
}

}  // namespace
}  // namespace kopp::detail
