#pragma once

#include "hang_timeout.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kopp::testing {

/// A TCP client that sends exactly the bytes that a test passes to it. Every blocking call times
/// out after kHangTimeout. Not thread-safe.
class RawClient {
 public:
  struct Response {
    int status = 0;  ///< 0 if the server closed the connection before a complete response
    std::string head{};
    std::string body{};
  };

  /// Connects to a server. Throws std::system_error if that fails.
  explicit RawClient(std::uint16_t port, const std::string& address = "127.0.0.1");
  ~RawClient();
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  /// Blocks until the kernel has accepted all bytes. Returns false if the connection is closed.
  bool Send(std::string_view bytes);
  /// Sends a GET request. `headers` are complete lines with line ends.
  void SendGet(std::string_view target, std::string_view headers = "");

  /// Blocks until the next response has arrived and returns it. Pass `head_only` for a response to
  /// HEAD, which has no body.
  [[nodiscard]] Response Read(bool head_only = false);
  /// Returns all bytes until the server closes the connection.
  [[nodiscard]] std::string ReadToEnd();
  /// Blocks until the server closes the connection. Returns false after kHangTimeout. Bytes that
  /// arrive before are kept for the next read.
  [[nodiscard]] bool AwaitClose();
  /// The same, and sends `text` every 5 ms meanwhile.
  [[nodiscard]] bool AwaitCloseWhileSending(std::string_view text);
  /// Blocks until bytes or the end of the connection arrive. Returns false after kHangTimeout.
  [[nodiscard]] bool AwaitBytes() const { return ReceivesWithin(kHangTimeout); }
  /// Returns whether bytes or the end of the connection arrive within `limit`. Use it only to
  /// expect that nothing arrives.
  [[nodiscard]] bool ReceivesWithin(std::chrono::milliseconds limit) const;

 private:
  bool ReadMore();  // returns false at the end of the connection

  int socket_;
  std::string input_;
};

/// Sends one GET on a new connection and returns the response.
[[nodiscard]] RawClient::Response Get(std::uint16_t port, std::string_view target);

}  // namespace kopp::testing
