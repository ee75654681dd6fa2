#include "log_flags.hpp"

#include "base/flag_settings.hpp"
#include "base/quoted.hpp"
#include "flag_parsers.hpp"

#include <stdexcept>

namespace kopp::detail {
namespace {

constexpr const char* kVerbosityAdvice = "write a number of 0 or more, such as 4";

// Accepts elements NAME=LEVEL.
std::vector<std::pair<std::string, int>> ParseVmodule(const std::vector<std::string>& values) {
  const std::string advice = "write names and levels, such as foo=4,bar*=2";
  std::vector<std::pair<std::string, int>> vmodule;
  for (const std::string& element : SplitList(JoinList(values))) {
    const auto equals = element.find('=');
    if (equals == 0 || equals == std::string::npos) throw std::invalid_argument(advice);
    vmodule.emplace_back(element.substr(0, equals),
                         ParseCount(element.substr(equals + 1), 0, advice));
  }
  return vmodule;
}

// Accepts the names of zap and a verbosity of klog.
int ParseZapLevel(const std::string& value) {
  if (value == "debug") return 1;
  if (value == "info") return 0;
  if (value == "error" || value == "panic") return -1;
  return ParseCount(value, 1, "write debug, info, error, or a number of 1 or more, such as 4");
}

void CheckStacktraceLevel(const std::string& value) {
  if (value == "panic") return;
  throw std::invalid_argument("there are no stack traces in the log: remove the flag");
}

void AddKlogFlags(Flags& flags, LogFlags& values) {
  constexpr const char* kGroup = "Log, on standard error";
  flags.AddParsed({.name = "v",
                   .help = "Verbosity: 0 for normal use, 4 for debugging, 6 for each request.",
                   .type = "LEVEL",
                   .group = kGroup},
                  "0", [&](const std::string& text) {
                    values.verbosity = ParseCount(text, 0, kVerbosityAdvice);
                  });
  flags.AddParsedList(
      {.name = "vmodule",
       .help = "Verbosity of single controllers and loggers, such as foo=4,bar*=2. Instead of -v.",
       .type = "NAME=LEVEL",
       .group = kGroup},
      "", [&](const std::vector<std::string>& texts) { values.vmodule = ParseVmodule(texts); });
  flags.AddParsed({.name = "logging-format",
                   .help = "text (as klog), json, console (for people) or logfmt.",
                   .type = "FORMAT",
                   .group = kGroup},
                  "text", [&](const std::string& text) {
                    values.format = ParseChoice<LogFormat>(text, {{"text", LogFormat::kText},
                                                                  {"json", LogFormat::kJson},
                                                                  {"console", LogFormat::kConsole},
                                                                  {"logfmt", LogFormat::kLogfmt}});
                  });
  flags.Add({.name = "log-sampling",
             .help = "In each second, write the first 100 lines with the same message and caller, "
                     "then each 100th. Lines at a verbosity of 1 or more are all written.",
             .group = kGroup},
            values.sampling);
}

void AddZapFlags(Flags& flags, LogFlags& values) {
  constexpr const char* kGroup = "Log, with the flags of controller-runtime";
  flags.Add({.name = "zap-devel",
             .help = "Defaults for development: format console, verbosity 1, no sampling.",
             .group = kGroup},
            values.zap_devel);
  flags.AddParsed({.name = "zap-encoder",
                   .help = "json or console, as --logging-format.",
                   .type = "FORMAT",
                   .group = kGroup},
                  "", [&](const std::string& text) {
                    values.encoder = ParseChoice<LogFormat>(
                        text, {{"json", LogFormat::kJson}, {"console", LogFormat::kConsole}});
                  });
  flags.AddParsed({.name = "zap-log-level",
                   .help = "debug (as -v 1), info (-v 0), error (only errors), or a number, as -v.",
                   .type = "LEVEL",
                   .group = kGroup},
                  "", [&](const std::string& text) { values.zap_verbosity = ParseZapLevel(text); });
  flags.AddParsed(
      {.name = "zap-time-encoding",
       .help = "The format of times, except in the format text: epoch, millis, nano, iso8601, "
               "rfc3339 or rfc3339nano.",
       .type = "FORMAT",
       .group = kGroup},
      "", [&](const std::string& text) {
        values.zap_time = ParseChoice<LogTime>(text, {{"epoch", LogTime::kEpoch},
                                                      {"millis", LogTime::kMillis},
                                                      {"nano", LogTime::kNano},
                                                      {"iso8601", LogTime::kIso8601},
                                                      {"rfc3339", LogTime::kRfc3339},
                                                      {"rfc3339nano", LogTime::kRfc3339Nano}});
      });
  flags.AddParsed({.name = "zap-stacktrace-level",
                   .help = "Accepted for compatibility: only panic, as there are no stack traces.",
                   .type = "LEVEL",
                   .group = kGroup},
                  "", CheckStacktraceLevel);
}

}  // namespace

void AddLogFlags(Flags& flags, LogFlags& values) {
  AddKlogFlags(flags, values);
  AddZapFlags(flags, values);
}

LogOptions ToLogOptions(const LogFlags& values) {
  if (values.verbosity && values.zap_verbosity) {
    throw UsageError("-v and --zap-log-level both set the verbosity: remove one of them");
  }
  if (values.format && values.encoder && values.format != values.encoder) {
    throw UsageError("--logging-format and --zap-encoder are different: remove one of them");
  }
  const auto format = values.format ? values.format : values.encoder;
  const auto verbosity = values.verbosity ? values.verbosity : values.zap_verbosity;
  const bool sampling = values.sampling && !values.zap_devel;
  return {.format = format.value_or(values.zap_devel ? LogFormat::kConsole : LogFormat::kText),
          .verbosity = verbosity.value_or(values.zap_devel ? 1 : 0),
          .vmodule = values.vmodule,
          .sampling = sampling ? LogSampling{} : LogSampling{.first = 0},
          .time = values.zap_time};
}

}  // namespace kopp::detail
