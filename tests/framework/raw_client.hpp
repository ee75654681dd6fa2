#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kopp::testing {

/// A client of a server on the loopback that sends what a test tells it to, byte for byte. No wait
/// is longer than 5 s.
class RawClient {
 public:
  struct Answer {
    int status = 0;  ///< 0: the server closed the connection instead
    std::string head{};
    std::string body{};
  };

  explicit RawClient(std::uint16_t port, const std::string& address = "127.0.0.1");
  ~RawClient();
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  /// Blocks until the kernel has it all. Returns false on a connection that is closed.
  bool Send(std::string_view bytes);
  void SendGet(std::string_view target, std::string_view headers = "");

  /// The next answer; of one to HEAD, which has no body, `head_only`.
  [[nodiscard]] Answer Read(bool head_only = false);
  /// What comes until the server closes.
  [[nodiscard]] std::string ReadToEnd();
  /// Whether the server closes, or has closed, within `limit`; what comes before that is kept.
  [[nodiscard]] bool IsClosedWithin(std::chrono::milliseconds limit);
  /// Whether the server closes while `text` is sent again and again, every 5 ms.
  [[nodiscard]] bool IsClosedWhileItSends(std::string_view text);
  /// Whether anything comes, its end included, within `limit`.
  [[nodiscard]] bool HearsWithin(std::chrono::milliseconds limit) const;

 private:
  bool ReadMore();

  int socket_;
  std::string input_;
};

/// The answer to one GET on a connection of its own.
[[nodiscard]] RawClient::Answer Get(std::uint16_t port, std::string_view target);

}  // namespace kopp::testing
