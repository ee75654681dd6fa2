#pragma once

#include "exchange.hpp"
#include "memory_wire.hpp"
#include "uptime.hpp"
#include "world.hpp"

#include <string>

#include <kopp/transport.hpp>

namespace kopp::apiserver {

/// To a server without a socket: requests are answered in the thread that asks. What befalls an
/// answer, and the server itself, does so here as on a connection, but that waits are by the
/// server's clock.
class MemoryTransport final : public Transport {
 public:
  MemoryTransport(World& world, Answerer& server, Uptime& uptime, User user, std::string user_agent)
      : world_(world),
        server_(server),
        uptime_(uptime),
        user_(std::move(user)),
        user_agent_(std::move(user_agent)) {}

  Response Call(const Request& request, std::stop_token stop) override;
  std::unique_ptr<Stream> Open(const Request& request, std::stop_token stop) override;

 private:
  [[nodiscard]] Ask AskFor(const Request& request) const;
  /// The answer, once its first byte is there.
  Reply Exchange(const Request& request, MemoryWire& wire);

  World& world_;
  Answerer& server_;
  Uptime& uptime_;
  const User user_;
  const std::string user_agent_;
};

}  // namespace kopp::apiserver
