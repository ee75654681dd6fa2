#include "cache/cache_impl.hpp"
#include "client/served_kinds.hpp"
#include "cluster/cluster_impl.hpp"
#include "net/endpoint.hpp"
#include "tracing/stream_tracing.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <kopp/config.hpp>
#include <kopp/discovery.hpp>
#include <kopp/transport/transport_policies.hpp>

namespace kopp {
namespace {

/// Used if the configuration is invalid: all calls throw ConfigError.
class UnusableTransport final : public Transport {
 public:
  explicit UnusableTransport(std::string error) : error_(std::move(error)) {}
  ApiResponse Call(const ApiRequest&, std::stop_token) override { throw ConfigError(error_); }
  std::unique_ptr<Stream> Open(const ApiRequest&, std::stop_token) override {
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

CacheOptions CacheOptionsOf(const ClusterOptions& options) {
  CacheOptions cache = options.cache;
  RestrictNamespaces(cache, options.watch_namespace);
  return cache;
}

/// `tracer` may be null.
std::shared_ptr<Transport> WithStreamSpans(std::shared_ptr<Transport> transport,
                                           const std::shared_ptr<Tracer>& tracer) {
  if (!tracer) return transport;
  return std::make_shared<detail::StreamTracingTransport>(std::move(transport), tracer);
}

Logger LogOf(const ClusterSettings& settings) {
  return settings.name.empty() ? settings.log : settings.log.With({{"cluster", settings.name}});
}

}  // namespace

/// The connection to an API server, and how it is used.
struct Cluster::Impl::Connection {
  std::shared_ptr<Transport> transport;  // sends each request once
  std::string description;               // see Cluster::description
  std::string error;                     // why the configuration cannot be used; empty if it can
  TransportPolicies policies;

  explicit Connection(const ClusterSettings& settings)
      : policies{.retry = settings.retry,
                 .rate_limit = settings.rate_limit,
                 .observers = settings.observers,
                 .log = settings.log,
                 .clock = settings.clock} {
    if (settings.on_rate_limit) {
      policies.on_rate_limit = [&host = policies.host, report = settings.on_rate_limit](
                                   std::string_view method, Duration wait) {
        report(method, host, wait);
      };
    }
    transport = settings.options.transport ? settings.options.transport : Connect(settings);
    if (settings.wrap_transport) transport = settings.wrap_transport(std::move(transport));
    if (settings.on_write_loop) {
      transport = detail::WithWriteLoopDetection(std::move(transport), settings.clock,
                                                 settings.on_write_loop);
    }
  }

  std::shared_ptr<Transport> Connect(const ClusterSettings& settings) {
    const ClusterOptions& options = settings.options;
    try {
      const Config config = LoadConfig(
          {.kubeconfig = options.kubeconfig, .master = options.master, .context = options.context});
      WarnIfInsecure(config, settings.log);
      description = config.server + ", configured by " + config.source;
      policies.host = detail::ParseEndpoint(config.server).Authority();
      const auto warn = [log = settings.log](const std::string& problem) {
        log.Error("Problem with the connection to the API server", {{"err", problem}});
      };
      return MakeTransport(config, {.calls = settings.http_transport,
                                    .user_agent = UserAgent(settings.program, settings.version),
                                    .clock = settings.clock,
                                    .on_warning = warn});
    } catch (const ConfigError& config_error) {
      error = config_error.what();
      return std::make_shared<UnusableTransport>(error);
    }
  }
};

Cluster::Impl::Impl(ClusterSettings settings)
    : settings_(std::move(settings)),
      connection_(std::make_unique<Connection>(settings_)),
      transport_(WithStreamSpans(WithPolicies(connection_->transport, connection_->policies),
                                 settings_.tracer)),
      cache_(*transport_, CacheOptionsOf(settings_.options), LogOf(settings_), settings_.clock),
      client_(NewClient(*transport_)) {
  if (!required()) Cache::Impl::Of(cache_).RejectUnsyncedReads();
}

Client Cluster::Impl::NewClient(Transport& transport) {
  Client client = Client(transport, settings_.program, cancel_calls_.get_token())
                      .WithFieldValidation(settings_.field_validation);
  const bool reads_own_writes = settings_.options.cache.own_writes_timeout > Duration::zero();
  if (reads_own_writes) client = client.WithWriteObserver(cache_.write_observer());
  const auto& configure = settings_.configure_client;
  return configure ? configure(std::move(client)) : client;
}

std::shared_ptr<Transport> Cluster::Impl::TransportWithoutRetries(RateLimit rate_limit) const {
  TransportPolicies policies = connection_->policies;
  policies.retry = {.max_tries = 1};
  policies.rate_limit = rate_limit;
  return WithPolicies(connection_->transport, std::move(policies));
}

const std::string& Cluster::Impl::description() const { return connection_->description; }

Cluster::Impl::~Impl() { Stop(); }

void Cluster::Impl::Stop() {
  cache_.Stop();
  static_cast<void>(Cache::Impl::Of(cache_).WaitForHandlers(TimePoint::max()));
}

void Cluster::Impl::RequireUsable() const {
  const std::string& error = connection_->error;
  if (error.empty()) return;
  throw ConfigError(name().empty() ? error : "cluster \"" + name() + "\": " + error);
}

void Cluster::Impl::RequireKinds(const std::stop_token& stop) const {
  detail::ServedKinds served{DiscoveryClient(*transport_, stop)};
  for (const OwningKind& kind : Cache::Impl::Of(cache_).RequiredKinds()) {
    const std::string difference = served.FindDifference(kind);
    if (difference.empty()) continue;
    throw ConfigError("the API server" +
                      (name().empty() ? "" : " of the cluster \"" + name() + "\"") + " " +
                      difference + ", then start again");
  }
}

void Cluster::Impl::CancelCalls() {
  cancel_calls_.request_stop();
  Cache::Impl::Of(cache_).CancelReads();
}

const std::string& Cluster::name() const { return impl_.name(); }
const Client& Cluster::client() const { return impl_.client(); }
const Cache& Cluster::cache() const { return std::as_const(impl_).cache(); }
Cache& Cluster::cache() { return impl_.cache(); }
const std::shared_ptr<Transport>& Cluster::transport() const { return impl_.transport(); }
const std::string& Cluster::description() const { return impl_.description(); }

}  // namespace kopp
