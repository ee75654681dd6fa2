#pragma once

#include "exchange.hpp"
#include "uptime.hpp"
#include "world.hpp"

#include <memory>
#include <string>
#include <vector>

#include <kopp/config.hpp>
#include <kopp/testing/api_server.hpp>

namespace kopp::apiserver {

/// A server's HTTP, or HTTPS: from the constructor to the destructor.
class Front {
 public:
  /// Throws ConfigError where it cannot listen.
  Front(World& world, Answerer& server, Uptime& uptime, const testing::ListenOptions& options);
  ~Front();
  Front(const Front&) = delete;
  Front& operator=(const Front&) = delete;

  [[nodiscard]] Config ConfigFor(const User& user);
  [[nodiscard]] Config ConfigWithCertificate(const User& user);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kopp::apiserver
