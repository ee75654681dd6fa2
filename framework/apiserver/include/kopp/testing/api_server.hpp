#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <kopp/transport.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp::testing {

struct ApiServerOptions {
  Clock& clock = Clock::Real();  ///< for timestamps, timeouts and what is kept of the past
  std::uint64_t seed = 1;        ///< of uids and generated names: the same in each run
  Duration history = std::chrono::minutes(5);  ///< a version older than this is gone (410)
};

/// A Kubernetes API server in memory, in this process: for tests of operators, and of what they are
/// made of. It starts in milliseconds and behaves as a kube-apiserver does.
///
///     kopp::testing::ApiServer server;
///     kopp::Client client(server.transport());
///
/// Nothing of it goes into production. Safe to use from any thread.
class ApiServer {
 public:
  explicit ApiServer(ApiServerOptions options = {});
  ~ApiServer();
  ApiServer(const ApiServer&) = delete;
  ApiServer& operator=(const ApiServer&) = delete;

  /// To this server without a socket, as an administrator. Lives as long as the server.
  [[nodiscard]] Transport& transport();

  /// What was asked so far, in the form of a Kubernetes audit log: audit.k8s.io/v1 Events, those of
  /// writes with what was sent and what was answered.
  [[nodiscard]] std::vector<nlohmann::json> Requests() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kopp::testing
