#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include <kopp/workqueue/clock.hpp>

namespace kopp::testing {

/// How ApiServer::Listen serves connections.
struct ListenOptions {
  /// Address and port, in Go's notation: "127.0.0.1:8080", or ":8080" for all addresses of the
  /// machine. Port 0 selects a free port.
  std::string address = "127.0.0.1:0";
  /// Serves HTTPS. The server creates its own certificate authority, which is part of each Config.
  bool tls = false;

  std::size_t max_connections = 1000;                   ///< open at the same time
  Duration request_timeout = std::chrono::seconds(10);  ///< to receive a whole request
  Duration idle_timeout = std::chrono::seconds(90);     ///< between two requests of a connection
  Duration write_timeout = std::chrono::seconds(10);    ///< for a client to read what was sent
};

}  // namespace kopp::testing
