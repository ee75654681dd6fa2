#pragma once

#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <kopp/config.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp::detail {

/// `text` without the blanks around it: a token that can stand in an HTTP header; nullopt: it is
/// none. A line break within one would let its writer add headers of his own.
[[nodiscard]] std::optional<std::string> AsToken(std::string_view text);

/// The bearer token of the next request. A token in a file is renewed by others while we run: the
/// file is read again once a minute, and before the next request after a 401. Where it cannot be
/// read, or holds no token, the one from before stays in use.
///
/// Safe to use from any thread.
class TokenSource {
 public:
  /// Throws ConfigError when there is to be a token and it cannot be had.
  TokenSource(const Config& config, Clock& clock);

  /// Without blanks and controls around and in it; empty: requests bear none.
  [[nodiscard]] std::string Get();

  /// The server took the last token for none (401).
  void Distrust();

 private:
  std::filesystem::path file_;  // empty: the token never changes
  Clock& clock_;
  std::mutex mutex_;  // guards what follows
  std::string token_;
  TimePoint read_again_;
};

}  // namespace kopp::detail
