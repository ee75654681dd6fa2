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

/// One IP address and port to connect to.
struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;

  [[nodiscard]] bool IsIpv4() const { return storage.ss_family == AF_INET; }
  [[nodiscard]] std::string Text() const;  ///< "127.0.0.1", "::1"
};

/// Resolves the server's host name. Each new connection resolves it again, because the addresses
/// may change.
///
/// getaddrinfo has no deadline and cannot be cancelled. Therefore a thread of glibc runs it
/// (getaddrinfo_a), and the caller only waits. All concurrent callers share one lookup, so a name
/// server that does not respond cannot fill the process with threads. Thread-safe.
class NameLookup {
 public:
  NameLookup(std::string host, std::uint16_t port);

  /// Blocks until the name is resolved, and returns at least one address, in the order in which to
  /// try them. Throws TransportError if the name does not resolve, if `deadline` passes, or on
  /// stop. The text of the error does not name the request.
  [[nodiscard]] std::vector<Address> Resolve(TimePoint deadline, const std::stop_token& stop);

 private:
  class Query;
  [[nodiscard]] std::shared_ptr<Query> JoinOrStartQuery();
  void RemoveQuery(const std::shared_ptr<Query>& query);

  std::string host_;
  std::string port_;
  std::mutex mutex_;  // guards the members below
  std::shared_ptr<Query> active_query_;
};

}  // namespace kopp::detail
