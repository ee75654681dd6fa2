#include "net/bind_address.hpp"
#include "system/command_line.hpp"
#include "system/duration.hpp"
#include "system/environment.hpp"
#include "system/quoted.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <initializer_list>
#include <iostream>
#include <limits>
#include <stdexcept>
#include <utility>

#include <kopp/options.hpp>

namespace kopp {
namespace {

using detail::Quoted;
using detail::UsageError;
using Getenv = std::function<std::optional<std::string>(const std::string&)>;

// The text of each flag, before it is converted and validated.
struct FlagValues {
  std::string kubeconfig;
  std::string context;
  std::string master;
  std::string watch_namespace;
  std::string http_transport = "beast";
  std::string kube_api_qps = "0";
  std::string kube_api_burst = "0";
  std::string metrics_bind_address = "0";
  std::string graceful_shutdown_timeout = "30s";
  std::string verbosity = "0";
  std::string logging_format = "text";
};

void AddFlags(detail::CommandLine& line, FlagValues& values) {
  constexpr const char* kServer = "API server";
  line.Add({"--kubeconfig", "FILE", kServer,
            "The kubeconfig file. Without this flag: the files in\n"
            "$KUBECONFIG (separated by ':'), else the service account\n"
            "of the Pod, else ~/.kube/config."},
           values.kubeconfig);
  line.Add({"--context", "NAME", kServer,
            "The context of the kubeconfig to use, instead of its\n"
            "current-context."},
           values.context);
  line.Add({"--master", "URL", kServer,
            "The address of the API server, such as\n"
            "https://10.0.0.1:6443. Overrides the kubeconfig."},
           values.master);
  line.Add({"--http-transport", "NAME", kServer,
            "The HTTP library for requests other than watches:\n"
            "beast or cpprestsdk."},
           values.http_transport);
  line.Add({"--kube-api-qps", "NUMBER", kServer,
            "Maximum calls per second to the API server. Watches\n"
            "are exempt. 0 means no limit."},
           values.kube_api_qps);
  line.Add({"--kube-api-burst", "NUMBER", kServer,
            "Maximum calls sent at once after a pause. 0 means\n"
            "twice --kube-api-qps."},
           values.kube_api_burst);

  constexpr const char* kControllers = "Controllers";
  line.Add({"--namespace", "NAME", kControllers,
            "The only namespaces to watch, such as web or web,shop;\n"
            "empty: all namespaces. Without this flag:\n"
            "$WATCH_NAMESPACE."},
           values.watch_namespace);
  line.Add({"--graceful-shutdown-timeout", "DURATION", kControllers,
            "The time that running reconciles have to finish after\n"
            "SIGTERM or SIGINT, such as 500ms or 1m30s; then their\n"
            "API calls are cancelled."},
           values.graceful_shutdown_timeout);

  constexpr const char* kMetrics = "Metrics";
  line.Add({"--metrics-bind-address", "ADDRESS", kMetrics,
            "Serve Prometheus metrics at /metrics over plain HTTP:\n"
            ":8080 on all addresses, 127.0.0.1:8080 on one of them;\n"
            "0: no metrics."},
           values.metrics_bind_address);

  constexpr const char* kLog = "Log, on standard error";
  line.Add({"-v,--v", "LEVEL", kLog,
            "Verbosity: 0 for normal use, 4 for debugging, 6 for each\n"
            "request."},
           values.verbosity);
  line.Add({"--logging-format", "FORMAT", kLog, "text (like klog) or json."},
           values.logging_format);
  line.AddProgramFlags();
}

// Returns the error for the invalid value `value` of the flag or environment variable `source`.
// `advice` describes a valid value.
UsageError InvalidValue(const std::string& source, const std::string& value,
                        const std::string& advice) {
  // NOLINTNEXTLINE(modernize-return-braced-init-list): the constructor is explicit
  return UsageError("invalid value " + Quoted(value) + " for " + source + ": " + advice);
}

// Returns the choice with the name `value`.
template <typename T>
T ParseChoice(const std::string& flag, const std::string& value,
              std::initializer_list<std::pair<std::string_view, T>> choices) {
  std::string names;
  for (const auto& [name, choice] : choices) {
    if (value == name) return choice;
    names += (names.empty() ? "" : " or ") + std::string(name);
  }
  throw InvalidValue(flag, value, "write " + names);
}

// Accepts a finite number of 0 or more. `example` is one for the error.
template <typename Number>
Number ParseNumber(const std::string& flag, const std::string& value, const std::string& example) {
  Number number{};
  const char* const end = value.data() + value.size();
  const auto [parsed_end, error] = std::from_chars(value.data(), end, number);
  const bool in_range = number >= 0 && number <= std::numeric_limits<Number>::max();
  if (error == std::errc() && parsed_end == end && in_range) return number;
  throw InvalidValue(flag, value, "write a number of 0 or more, such as " + example);
}

Duration ParseTimeout(const std::string& flag, const std::string& value) {
  const auto duration = detail::ParseDuration(value);
  if (duration && *duration >= Duration::zero()) return *duration;
  throw InvalidValue(flag, value, "write a duration with its unit, such as 500ms, 30s or 1m30s");
}

std::string ParseMetricsAddress(const std::string& flag, const std::string& value) {
  if (value == "0" || detail::ParseBindAddress(value)) return value;
  throw InvalidValue(flag, value, std::string(detail::kBindAddressHelp) + ", or 0 for no metrics");
}

// Accepts an empty value or names separated by commas. Other text must not get into request URLs.
std::string CheckNamespaces(const std::string& source, const std::string& value) {
  try {
    static_cast<void>(ParseNamespaces(value));
    return value;
  } catch (const std::invalid_argument&) {
    throw InvalidValue(source, value,
                       "write the names of namespaces, separated by commas, or nothing for all");
  }
}

Options ToOptions(const detail::CommandLine& line, const FlagValues& values) {
  const bool has_namespace_flag = line.IsGiven("--namespace");
  const auto format =
      ParseChoice<LogFormat>("--logging-format", values.logging_format,
                             {{"text", LogFormat::kText}, {"json", LogFormat::kJson}});
  using Calls = TransportOptions::Calls;
  return {
      .name = line.name(),
      .kubeconfig = values.kubeconfig,
      .context = values.context,
      .master = values.master,
      .watch_namespace = CheckNamespaces(has_namespace_flag ? "--namespace" : "$WATCH_NAMESPACE",
                                         values.watch_namespace),
      .http_transport =
          ParseChoice<Calls>("--http-transport", values.http_transport,
                             {{"beast", Calls::kBeast}, {"cpprestsdk", Calls::kCppRest}}),
      .kube_api_qps = ParseNumber<double>("--kube-api-qps", values.kube_api_qps, "20"),
      .kube_api_burst = ParseNumber<int>("--kube-api-burst", values.kube_api_burst, "40"),
      .metrics_bind_address =
          ParseMetricsAddress("--metrics-bind-address", values.metrics_bind_address),
      .graceful_shutdown_timeout =
          ParseTimeout("--graceful-shutdown-timeout", values.graceful_shutdown_timeout),
      .log = Logger({.format = format, .verbosity = ParseNumber<int>("-v", values.verbosity, "4")}),
  };
}

}  // namespace

std::variant<Options, EarlyExit> ParseCommandLine(int argc, const char* const* argv,
                                                  std::string_view about, const Getenv& getenv) {
  FlagValues values;
  values.watch_namespace =
      (getenv ? getenv : detail::EnvironmentVariable)("WATCH_NAMESPACE").value_or("");
  detail::CommandLine line(argc, argv, about, Options{}.name);
  AddFlags(line, values);
  try {
    if (auto early = line.Parse()) return *std::move(early);
    return ToOptions(line, values);
  } catch (const UsageError& error) {
    return EarlyExit{2, line.name() + ": " + error.what() + '\n'};
  }
}

Options Options::FromCommandLine(int argc, const char* const* argv, std::string_view about) {
  auto parsed = ParseCommandLine(argc, argv, about);
  if (const auto* early = std::get_if<EarlyExit>(&parsed)) {
    (early->code == 0 ? std::cout : std::cerr) << early->text << std::flush;
    std::exit(early->code);  // NOLINT(concurrency-mt-unsafe): called at the start of main
  }
  return std::get<Options>(std::move(parsed));
}

}  // namespace kopp
