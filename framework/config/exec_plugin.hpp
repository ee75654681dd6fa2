#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include <kopp/config.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp::detail {

/// The credential that a plugin has returned: a token, a client certificate with its key, or both.
struct ExecCredential {
  SecretString token{};
  std::string client_certificate{};   ///< PEM
  SecretString client_key{};          ///< PEM
  std::optional<WallTime> expires{};  ///< nullopt: valid until the server rejects it
};

/// Runs the plugin of `config.exec` and blocks until it has ended: at most for `time_limit`, and
/// only until a stop is requested. `now` is the wall time: a credential that has expired is
/// used for 10 s.
///
/// Throws ConfigError if the plugin cannot be run, fails, or returns no usable credential. The
/// message contains the end of the plugin's standard error, but never its output.
[[nodiscard]] ExecCredential RunExecPlugin(const Config& config, WallTime now,
                                           const std::stop_token& stop,
                                           Duration time_limit = std::chrono::seconds(60));

}  // namespace kopp::detail
