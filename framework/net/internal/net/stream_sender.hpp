#pragma once

#include "net/http_message.hpp"
#include "net/server_connection.hpp"

#include <memory>
#include <string>

#include <kopp/workqueue/clock.hpp>

namespace kopp::detail {

/// Sends a BodyStream as the last response of a connection. Used in the network thread only.
class StreamSender {
 public:
  struct Options {
    std::string head{};   ///< status line and headers
    bool chunked = true;  ///< false: the end of the connection is the end of the body
    Duration write_timeout{};
  };

  /// Sends `prefix`, then `stream`. The connection must outlive the sender.
  StreamSender(ServerConnection& connection, std::string prefix, std::unique_ptr<BodyStream> stream,
               Options options);

  /// Sends the bytes that the stream has ready, unless a write is pending.
  void Pump();

 private:
  void AfterLastByte();

  ServerConnection& connection_;
  const Options options_;
  std::string head_;    // empty after it was sent
  std::string prefix_;  // empty after it was sent
  std::unique_ptr<BodyStream> stream_;
  bool writing_ = false;
  bool finished_ = false;  // the connection closes
};

}  // namespace kopp::detail
