#pragma once

#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <kopp/config.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp::detail {

/// Returns the token in `text` without surrounding white space. Returns nullopt if it is empty or
/// has a character that is not allowed in an HTTP header: a line break would allow header
/// injection.
[[nodiscard]] std::optional<std::string> ParseToken(std::string_view text);

/// Supplies the bearer token for requests. A token file may be renewed while the process runs (as
/// by the kubelet), so it is read again once a minute, and after a 401. If the file cannot be read
/// or contains no token, the previous token stays in use.
///
/// Thread-safe.
class TokenSource {
 public:
  /// Reads the token file, if there is one. Throws ConfigError if the configured token is not valid
  /// or the file cannot be read.
  TokenSource(const Config& config, Clock& clock);

  /// Returns the token for the next request, or "" if requests carry no token. May block to read
  /// the file.
  [[nodiscard]] std::string Get();

  /// Reports that the server rejected the token (401). The next Get reads the file again.
  void Invalidate();

 private:
  std::filesystem::path file_;  // empty: the token never changes
  Clock& clock_;
  std::mutex mutex_;  // guards the members below
  std::string token_;
  TimePoint next_read_;
};

}  // namespace kopp::detail
