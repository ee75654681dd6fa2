#pragma once

#include "exchange.hpp"
#include "uptime.hpp"
#include "world.hpp"

#include <string>

#include <kopp/transport.hpp>

namespace kopp::apiserver {

/// To a server without a socket: requests are answered in the thread that asks.
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

  World& world_;
  Answerer& server_;
  Uptime& uptime_;
  const User user_;
  const std::string user_agent_;
};

}  // namespace kopp::apiserver
