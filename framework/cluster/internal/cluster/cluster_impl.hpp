#pragma once

#include "client/write_loop_detector.hpp"

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <kopp/client.hpp>
#include <kopp/client_options.hpp>
#include <kopp/cluster.hpp>
#include <kopp/log.hpp>
#include <kopp/standalone_cache.hpp>
#include <kopp/tracing.hpp>
#include <kopp/transport.hpp>
#include <kopp/transport/observing_transport.hpp>
#include <kopp/transport/rate_limiting_transport.hpp>
#include <kopp/transport/retrying_transport.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// All that a cluster needs. A Manager takes it from its Options, which describe the fields of the
/// same name.
struct ClusterSettings {
  std::string name = {};  ///< for logs; empty for the cluster of the manager
  ClusterOptions options = {};
  std::string program = "kopp";  ///< field manager and user agent: Options::name
  std::string version = {};      ///< of the program, for the user agent
  TransportOptions::Calls http_transport = TransportOptions::Calls::kBeast;
  RetryPolicy retry = {};
  RateLimit rate_limit = {};
  std::vector<RequestObserver> observers = {};
  /// Called for each call that waited for the rate limit; `host` is that of the API server.
  std::function<void(std::string_view method, std::string_view host, Duration wait)> on_rate_limit =
      {};
  std::function<std::shared_ptr<Transport>(std::shared_ptr<Transport>)> wrap_transport = {};
  std::function<void(const detail::WriteLoop&)> on_write_loop = {};
  FieldValidation field_validation = FieldValidation::kWarn;
  std::function<Client(Client)> configure_client = {};
  std::shared_ptr<Tracer> tracer = {};
  Logger log{};
  Clock& clock = Clock::Real();  ///< must outlive the cluster
};

/// The internal interface of a cluster, for its manager. Owns the Cluster that users get.
class Cluster::Impl {
 public:
  /// Loads the configuration, but does not connect and does not start threads. Does not throw if
  /// the configuration is invalid: RequireUsable does. Throws std::invalid_argument if
  /// ClusterOptions::watch_namespace has an invalid name.
  explicit Impl(ClusterSettings settings);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  [[nodiscard]] Cluster& cluster() { return cluster_; }

  [[nodiscard]] const std::string& name() const { return settings_.name; }
  /// See ClusterOptions::required.
  [[nodiscard]] bool required() const { return settings_.options.required; }
  [[nodiscard]] const Client& client() const { return client_; }
  [[nodiscard]] const Cache& cache() const { return cache_; }
  [[nodiscard]] StandaloneCache& cache() { return cache_; }
  [[nodiscard]] const std::shared_ptr<Transport>& transport() const { return transport_; }
  /// See Cluster::description.
  [[nodiscard]] const std::string& description() const;

  /// Returns a transport to the same API server with its observers, but without retries, and with a
  /// rate limit of its own.
  [[nodiscard]] std::shared_ptr<Transport> TransportWithoutRetries(RateLimit rate_limit) const;
  /// Returns a client like client() that uses another transport, which must outlive it.
  [[nodiscard]] Client NewClient(Transport& transport);

  /// Throws ConfigError with the reason if the configuration is invalid.
  void RequireUsable() const;
  /// Throws ConfigError if the API server does not serve one of the watched kinds as declared,
  /// except those with CacheOptions::wait_if_missing, and as calls do if it cannot be reached.
  void RequireKinds(const std::stop_token& stop) const;
  /// Makes the calls of client(), and reads of the cache that wait, end with an exception.
  void CancelCalls();
  /// Stops the cache, and blocks until no handler is being called any more.
  void Stop();

 private:
  struct Connection;

  Cluster cluster_{*this};
  const ClusterSettings settings_;
  std::unique_ptr<const Connection> connection_;
  std::shared_ptr<Transport> transport_;
  std::stop_source cancel_calls_;
  StandaloneCache cache_;
  Client client_;
};

}  // namespace kopp
