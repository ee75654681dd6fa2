#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

namespace kopp::detail {

/// Accepts connections up to a limit. When the limit is reached and a client connects, it evicts
/// the connection that has been idle longest; if none is idle, the client waits in the listen
/// backlog of the kernel.
///
/// Used in the thread of the io_context only, except for the constructor, endpoint(), a Start
/// before that thread runs, and a StopListening after it has ended.
class ConnectionLimiter {
 public:
  using ConnectionId = std::uint64_t;  ///< identifies a connection; chosen by on_accept
  using Socket = boost::asio::ip::tcp::socket;
  using Endpoint = boost::asio::ip::tcp::endpoint;

  /// The functions that own and close the connections. Each connection must be reported to
  /// OnClosed.
  struct Callbacks {
    std::function<void(Socket)> on_accept{};       ///< takes ownership of a new connection
    std::function<void(ConnectionId)> on_evict{};  ///< must close the connection
  };

  /// Listens at `address` (see ListenAt) and accepts nothing before Start. Throws ConfigError.
  ConnectionLimiter(boost::asio::io_context& io, const std::string& address, std::size_t limit,
                    Callbacks callbacks);
  ConnectionLimiter(const ConnectionLimiter&) = delete;
  ConnectionLimiter& operator=(const ConnectionLimiter&) = delete;

  [[nodiscard]] const Endpoint& endpoint() const { return endpoint_; }

  void Start() { Accept(); }

  /// Reports that a connection is idle. It may be evicted until OnBusy.
  void OnIdle(ConnectionId connection);
  void OnBusy(ConnectionId connection) { std::erase(idle_, connection); }
  void OnClosed(ConnectionId connection);

  /// Stops listening: new connections are refused. Open connections stay.
  void StopListening();
  /// Listens again at the same endpoint; retries every 100 ms while another program listens there.
  void ResumeListening();

 private:
  using Error = boost::system::error_code;

  [[nodiscard]] bool IsFull() const { return open_ >= limit_; }
  void Listen();
  void Accept();
  void AcceptOrEvict();
  void RetryLater();

  const Callbacks callbacks_;
  const std::size_t limit_;
  boost::asio::ip::tcp::acceptor acceptor_;
  const Endpoint endpoint_;
  boost::asio::steady_timer retry_;
  std::size_t open_ = 0;            // connections
  std::vector<ConnectionId> idle_;  // the longest idle first
  bool accepting_ = false;          // a wait for the next client, or for a retry, is pending
  bool evicting_ = false;           // a connection was evicted and is not closed yet
  bool stopped_ = false;
};

}  // namespace kopp::detail
