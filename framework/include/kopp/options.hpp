#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <kopp/log.hpp>
#include <kopp/transport.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// What a Manager is made with. All have defaults: name what differs,
/// `Options{.name = "web-operator", .watch_namespace = "web"}`.
struct Options {
  std::string name = "kopp";  ///< the program's: field manager, user agent, source of events

  std::string kubeconfig{};  ///< --kubeconfig; see LoadConfig for what is asked when it is empty
  std::string context{};     ///< --context
  std::string master{};      ///< --master

  std::string watch_namespace{};  ///< --namespace: the only one that is watched; empty: all

  /// --http-transport: what carries the calls.
  TransportOptions::Calls http_transport = TransportOptions::Calls::kCppRest;

  /// --metrics-bind-address: where /metrics is served over HTTP, as HttpServerOptions::address has
  /// it; "0": nowhere, and nothing is counted.
  std::string metrics_bind_address = "0";

  /// --graceful-shutdown-timeout: how long reconciles in hand may take to end after a stop. Keep it
  /// below the Pod's terminationGracePeriodSeconds.
  Duration graceful_shutdown_timeout = std::chrono::seconds(30);

  Logger log{};  ///< -v and --logging-format

  /// For tests: used instead of a connection to the configured server.
  std::shared_ptr<Transport> transport{};
  Clock& clock = Clock::Real();

  /// Reads the flags that operators know from Go (`--help` shows them), with one dash or two,
  /// `--flag value` or `--flag=value`; `about` heads the help. `name` becomes the base name of
  /// argv[0]. Ends the program for --help and --version (exit code 0) and, after one line on
  /// standard error, for a flag or value it does not know (exit code 2): call it first in `main`.
  static Options FromCommandLine(int argc, const char* const* argv, std::string_view about = {});
};

/// Why a program ends before it starts.
struct EarlyExit {
  int code = 0;      ///< 0: `text` is for standard output; else for standard error
  std::string text;  ///< whole lines
};

/// FromCommandLine without its effects. `getenv` is asked for the flags' environment variables;
/// empty: the process's. Throws nothing of its own.
[[nodiscard]] std::variant<Options, EarlyExit> ParseCommandLine(
    int argc, const char* const* argv, std::string_view about = {},
    const std::function<std::optional<std::string>(const std::string&)>& getenv = {});

}  // namespace kopp
