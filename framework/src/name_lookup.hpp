#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include <sys/socket.h>

#include <kopp/workqueue/clock.hpp>

namespace kopp::detail {

/// One address to connect to.
struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;

  [[nodiscard]] bool IsIpv4() const { return storage.ss_family == AF_INET; }
  [[nodiscard]] std::string Text() const;  ///< "127.0.0.1", "::1"
};

/// Turns the server's name into addresses, anew for each connection, since it may move.
///
/// getaddrinfo knows neither a deadline nor a way to stop it, so glibc's own thread runs it
/// (getaddrinfo_a) and the caller only waits. However many wait, one look-up is under way at a
/// time: a name server that does not answer cannot fill the process with threads. Safe to use from
/// any thread.
class NameLookup {
 public:
  NameLookup(std::string host, std::uint16_t port);

  /// At least one address, in the order to try them. Throws TransportError (its text without what
  /// was asked) for a name that does not resolve, at `deadline` and when `stop` asks.
  [[nodiscard]] std::vector<Address> Resolve(TimePoint deadline, const std::stop_token& stop);

 private:
  class Query;
  [[nodiscard]] std::shared_ptr<Query> Join();
  void Leave(const std::shared_ptr<Query>& query);

  std::string host_;
  std::string port_;
  std::mutex mutex_;  // guards what follows
  std::shared_ptr<Query> under_way_;
};

}  // namespace kopp::detail
