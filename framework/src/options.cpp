#include "bind_address.hpp"
#include "command_line.hpp"
#include "duration.hpp"
#include "environment.hpp"
#include "quoted.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <initializer_list>
#include <iostream>
#include <utility>

#include <kopp/options.hpp>

namespace kopp {
namespace {

using detail::Quoted;
using detail::UsageError;
using Getenv = std::function<std::optional<std::string>(const std::string&)>;

// The flags' values as they were typed.
struct Typed {
  std::string kubeconfig;
  std::string context;
  std::string master;
  std::string watch_namespace;
  std::string http_transport = "cpprestsdk";
  std::string metrics_bind_address = "0";
  std::string graceful_shutdown_timeout = "30s";
  std::string verbosity = "0";
  std::string logging_format = "text";
};

void Declare(detail::CommandLine& line, Typed& typed) {
  constexpr const char* kServer = "The API server";
  line.Add({"--kubeconfig", "FILE", kServer,
            "The kubeconfig to read. Without it: $KUBECONFIG (files\n"
            "separated by ':'), else the pod's service account,\n"
            "else ~/.kube/config."},
           typed.kubeconfig);
  line.Add({"--context", "NAME", kServer, "The kubeconfig's context, instead of its current one."},
           typed.context);
  line.Add({"--master", "URL", kServer, "The server's address, instead of the configured one."},
           typed.master);
  line.Add({"--http-transport", "NAME", kServer, "Carries the calls: cpprestsdk or beast."},
           typed.http_transport);

  constexpr const char* kWork = "The work";
  line.Add({"--namespace", "NAME", kWork,
            "The one namespace to watch; empty: all of them.\n"
            "Environment: $WATCH_NAMESPACE."},
           typed.watch_namespace);
  line.Add({"--graceful-shutdown-timeout", "DURATION", kWork,
            "How long work in hand may take to end after a stop,\n"
            "such as 500ms or 1m30s; 0: not at all."},
           typed.graceful_shutdown_timeout);

  constexpr const char* kPages = "What is served";
  line.Add({"--metrics-bind-address", "ADDRESS", kPages,
            "Serves /metrics there, over plain HTTP: :8080 on all\n"
            "addresses, 127.0.0.1:8080 on one; 0: nowhere."},
           typed.metrics_bind_address);

  constexpr const char* kLog = "The log, on standard error";
  line.Add({"-v,--v", "LEVEL", kLog, "How much is written: 0, 1, 2 and so on."}, typed.verbosity);
  line.Add({"--logging-format", "FORMAT", kLog, "text or json."}, typed.logging_format);
  line.AddProgramFlags();
}

// One of `known`'s names.
template <typename T>
T Choice(const std::string& flag, const std::string& typed,
         std::initializer_list<std::pair<std::string_view, T>> known) {
  std::string names;
  for (const auto& [name, value] : known) {
    if (typed == name) return value;
    names += (names.empty() ? "" : " or ") + std::string(name);
  }
  throw UsageError(flag + ' ' + Quoted(typed) + ": write " + names);
}

int Verbosity(const std::string& typed) {
  int level = 0;
  const char* const end = typed.data() + typed.size();
  const auto [stopped, error] = std::from_chars(typed.data(), end, level);
  if (error == std::errc() && stopped == end && level >= 0) return level;
  throw UsageError("-v " + Quoted(typed) + ": write a number, such as 4");
}

Duration Timeout(const std::string& flag, const std::string& typed) {
  const auto duration = detail::ParseDuration(typed);
  if (duration && *duration >= Duration::zero()) return *duration;
  throw UsageError(flag + ' ' + Quoted(typed) +
                   ": write a duration with its unit, such as 500ms, 30s or 1m30s");
}

std::string BindAddress(const std::string& flag, const std::string& typed) {
  if (typed == "0" || detail::ParseBindAddress(typed)) return typed;
  throw UsageError(flag + ' ' + Quoted(typed) + ": " + detail::kWriteBindAddress +
                   ", or 0 for nowhere");
}

// A namespace's name is a DNS label: anything else would end up in a URL.
std::string Namespace(const std::string& where, const std::string& typed) {
  const auto is_alnum = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  const bool fits =
      typed.empty() ||
      (typed.size() <= 63 && is_alnum(typed.front()) && is_alnum(typed.back()) &&
       std::all_of(typed.begin(), typed.end(), [&](char c) { return is_alnum(c) || c == '-'; }));
  if (fits) return typed;
  throw UsageError(where + ' ' + Quoted(typed) +
                   ": write the name of one namespace, or nothing for all");
}

Options Converted(const detail::CommandLine& line, const Typed& typed) {
  const bool is_typed = line.IsGiven("--namespace");
  const auto format = Choice<LogFormat>("--logging-format", typed.logging_format,
                                        {{"text", LogFormat::kText}, {"json", LogFormat::kJson}});
  using Calls = TransportOptions::Calls;
  return {
      .name = line.name(),
      .kubeconfig = typed.kubeconfig,
      .context = typed.context,
      .master = typed.master,
      .watch_namespace =
          Namespace(is_typed ? "--namespace" : "$WATCH_NAMESPACE", typed.watch_namespace),
      .http_transport = Choice<Calls>("--http-transport", typed.http_transport,
                                      {{"cpprestsdk", Calls::kCppRest}, {"beast", Calls::kBeast}}),
      .metrics_bind_address = BindAddress("--metrics-bind-address", typed.metrics_bind_address),
      .graceful_shutdown_timeout =
          Timeout("--graceful-shutdown-timeout", typed.graceful_shutdown_timeout),
      .log = Logger({.format = format, .verbosity = Verbosity(typed.verbosity)}),
  };
}

}  // namespace

std::variant<Options, EarlyExit> ParseCommandLine(int argc, const char* const* argv,
                                                  std::string_view about, const Getenv& getenv) {
  Typed typed;
  typed.watch_namespace =
      (getenv ? getenv : detail::EnvironmentVariable)("WATCH_NAMESPACE").value_or("");
  detail::CommandLine line(argc, argv, about, Options{}.name);
  Declare(line, typed);
  try {
    if (auto early = line.Parse()) return *std::move(early);
    return Converted(line, typed);
  } catch (const UsageError& error) {
    return EarlyExit{2, line.name() + ": " + error.what() + '\n'};
  }
}

Options Options::FromCommandLine(int argc, const char* const* argv, std::string_view about) {
  auto parsed = ParseCommandLine(argc, argv, about);
  if (const auto* early = std::get_if<EarlyExit>(&parsed)) {
    (early->code == 0 ? std::cout : std::cerr) << early->text << std::flush;
    std::exit(early->code);  // NOLINT(concurrency-mt-unsafe): first in main, before any thread
  }
  return std::get<Options>(std::move(parsed));
}

}  // namespace kopp
