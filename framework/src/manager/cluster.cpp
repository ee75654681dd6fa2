#include "net/endpoint.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <kopp/cluster.hpp>
#include <kopp/config.hpp>
#include <kopp/discovery.hpp>
#include <kopp/metrics.hpp>
#include <kopp/options.hpp>
#include <kopp/transport_policies.hpp>

namespace kopp {
namespace {

/// Used if the configuration is invalid: all calls throw ConfigError.
class UnusableTransport final : public Transport {
 public:
  explicit UnusableTransport(std::string error) : error_(std::move(error)) {}
  Response Call(const Request&, std::stop_token) override { throw ConfigError(error_); }
  std::unique_ptr<Stream> Open(const Request&, std::stop_token) override {
    throw ConfigError(error_);
  }

 private:
  std::string error_;
};

void WarnIfInsecure(const Config& config, const Logger& log) {
  if (!config.insecure_skip_tls_verify) return;
  log.Info(
      "The certificate of the API server is not verified: others on the network can read the "
      "credentials and change all data. Replace insecure-skip-tls-verify by "
      "certificate-authority",
      {{"server", config.server}, {"config", config.source}});
}

/// What Connect finds out besides the transport.
struct Connection {
  std::string host;         // of the API server, with its port
  std::string description;  // see Cluster::description
  std::string error;        // why the configuration cannot be used; empty if it can
};

/// Returns the transport to the API server.
std::shared_ptr<Transport> Connect(const Options& options, Connection& connection) {
  if (options.transport) return options.transport;
  try {
    const Config config = LoadConfig(
        {.kubeconfig = options.kubeconfig, .master = options.master, .context = options.context});
    WarnIfInsecure(config, options.log);
    connection.description = config.server + ", configured by " + config.source;
    connection.host = detail::ParseEndpoint(config.server).Authority();
    const auto warn = [log = options.log](const std::string& problem) {
      log.Error("Problem with the connection to the API server", {{"err", problem}});
    };
    return MakeTransport(config, {.calls = options.http_transport,
                                  .user_agent = UserAgent(options.name, options.version),
                                  .clock = options.clock,
                                  .on_warning = warn});
  } catch (const ConfigError& error) {
    connection.error = error.what();
    return std::make_shared<UnusableTransport>(connection.error);
  }
}

/// Returns the transport for all requests of the cluster. `metrics` may be null.
std::shared_ptr<Transport> TransportOf(const Options& options, Metrics* metrics,
                                       std::string& description, std::string& config_error) {
  TransportPolicies policies{
      .retry = options.retry,
      .rate_limit = {.qps = options.kube_api_qps, .burst = options.kube_api_burst},
      .log = options.log,
      .clock = options.clock};
  auto& observers = policies.observers;
  if (options.on_request) observers.push_back(options.on_request);
  if (metrics != nullptr) {
    observers.emplace_back(
        [metrics](const RequestEvent& event) { metrics->ObserveRequest(event); });
  }
  Connection connection;
  auto transport = Connect(options, connection);
  policies.host = connection.host;
  description = connection.description;
  config_error = connection.error;
  if (options.wrap_transport) transport = options.wrap_transport(std::move(transport));
  return WithPolicies(std::move(transport), std::move(policies));
}

CacheOptions CacheOptionsOf(const Options& options, Metrics* metrics) {
  CacheOptions cache = options.cache;
  RestrictNamespaces(cache, options.watch_namespace);
  cache.metrics = metrics;
  return cache;
}

Logger LogOf(const std::string& cluster, const Options& options) {
  return cluster.empty() ? options.log : options.log.With({{"cluster", cluster}});
}

}  // namespace

Cluster::Cluster(std::string name, const Options& options, Metrics* metrics)
    : name_(std::move(name)),
      transport_(TransportOf(options, metrics, description_, config_error_)),
      client_(Client(*transport_, options.name, cancel_calls_.get_token())
                  .WithFieldValidation(options.field_validation)),
      cache_(*transport_, CacheOptionsOf(options, metrics), LogOf(name_, options), options.clock) {
  if (options.cache.own_writes_timeout > Duration::zero()) {
    client_ = client_.WithWriteObserver(cache_.write_observer());
  }
  if (options.configure_client) client_ = options.configure_client(std::move(client_));
}

Cluster::~Cluster() { Stop(); }

void Cluster::Stop() {
  cache_.Stop();
  static_cast<void>(cache_.WaitForHandlers(TimePoint::max()));
}

void Cluster::RequireUsable() const {
  if (config_error_.empty()) return;
  throw ConfigError(name_.empty() ? config_error_ : "cluster \"" + name_ + "\": " + config_error_);
}

void Cluster::RequireKinds(const std::stop_token& stop) const {
  const DiscoveryClient discovery(*transport_, stop);
  std::map<std::string, std::vector<ApiResource>> served;
  for (const KindRef& kind : cache_.RequiredKinds()) {
    const auto [entry, is_new] = served.try_emplace(kind.api_version);
    if (is_new) entry->second = discovery.Resources(kind.api_version);
    const auto is_kind = [&](const ApiResource& other) { return other.kind.plural == kind.plural; };
    if (std::ranges::none_of(entry->second, is_kind)) {
      throw ConfigError("the API server" +
                        (name_.empty() ? "" : " of the cluster \"" + name_ + "\"") +
                        " does not serve " + kind.plural + " of " + kind.api_version +
                        ": install the CustomResourceDefinition of " + kind.kind +
                        " with kubectl apply, then start again");
    }
  }
}

void Cluster::CancelCalls() {
  cancel_calls_.request_stop();
  cache_.CancelReads();
}

}  // namespace kopp
