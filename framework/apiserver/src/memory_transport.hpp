#pragma once

#include "api.hpp"

#include <string>

#include <kopp/transport.hpp>

namespace kopp::apiserver {

/// To an Api without a socket: requests are answered in the thread that asks.
class MemoryTransport final : public Transport {
 public:
  MemoryTransport(World& world, Api& api, User user, std::string user_agent)
      : world_(world), api_(api), user_(std::move(user)), user_agent_(std::move(user_agent)) {}

  Response Call(const Request& request, std::stop_token stop) override;
  std::unique_ptr<Stream> Open(const Request& request, std::stop_token stop) override;

 private:
  [[nodiscard]] Ask AskFor(const Request& request) const;

  World& world_;
  Api& api_;
  const User user_;
  const std::string user_agent_;
};

}  // namespace kopp::apiserver
