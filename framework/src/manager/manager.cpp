#include "net/endpoint.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <vector>

#include <kopp/config.hpp>
#include <kopp/discovery.hpp>
#include <kopp/http_server.hpp>
#include <kopp/manager.hpp>
#include <kopp/metrics.hpp>
#include <kopp/transport_policies.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;

// For reconciles and handlers to return after their calls are cancelled.
constexpr Duration kCancelTimeout = 5s;

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

/// Returns the transport to the API server; sets `host` to its address. Sets `config_error` if the
/// configuration cannot be used.
std::shared_ptr<Transport> Connect(const Options& options, std::string& host,
                                   std::string& config_error) {
  if (options.transport) return options.transport;
  try {
    const Config config = LoadConfig(
        {.kubeconfig = options.kubeconfig, .master = options.master, .context = options.context});
    WarnIfInsecure(config, options.log);
    host = detail::ParseEndpoint(config.server).Authority();
    const auto warn = [log = options.log](const std::string& problem) {
      log.Error("Problem with the connection to the API server", {{"err", problem}});
    };
    return MakeTransport(config, {.calls = options.http_transport,
                                  .user_agent = UserAgent(options.name, options.version),
                                  .clock = options.clock,
                                  .on_warning = warn});
  } catch (const ConfigError& error) {
    config_error = error.what();
    return std::make_shared<UnusableTransport>(config_error);
  }
}

/// Returns the transport for all requests of the manager. `metrics` may be null.
std::shared_ptr<Transport> TransportOf(const Options& options, Metrics* metrics,
                                       std::string& config_error) {
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
  auto transport = Connect(options, policies.host, config_error);
  return WithPolicies(std::move(transport), std::move(policies));
}

CacheOptions CacheOptionsOf(const Options& options, Metrics* metrics) {
  CacheOptions cache = options.cache;
  RestrictNamespaces(cache, options.watch_namespace);
  cache.metrics = metrics;
  return cache;
}

}  // namespace

Manager::Manager(Options options)
    : options_(std::move(options)),
      metrics_(options_.metrics_bind_address == "0" ? nullptr : std::make_unique<Metrics>()),
      transport_(TransportOf(options_, metrics_.get(), config_error_)),
      client_(Client(*transport_, options_.name, cancel_calls_.get_token())
                  .WithFieldValidation(options_.field_validation)),
      cache_(*transport_, CacheOptionsOf(options_, metrics_.get()), options_.log, options_.clock) {
  if (options_.cache.own_writes_timeout > Duration::zero()) {
    client_ = client_.WithWriteObserver(cache_.write_observer());
  }
}

Manager::~Manager() {  // the handlers add keys to the queues of the controllers
  cache_.Stop();
  static_cast<void>(cache_.WaitForHandlers(TimePoint::max()));
}

Controller& Manager::NewController(ControllerOptions options, const Kind& kind) {
  if (run_called_) throw std::logic_error("AddController must be called before Run");
  if (options.name.empty()) {
    for (const char c : kind.kind) {
      options.name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  const auto has_name = [&](const auto& other) { return other->name() == options.name; };
  if (std::any_of(controllers_.begin(), controllers_.end(), has_name)) {
    throw std::logic_error("there are two controllers with the name \"" + options.name +
                           "\": set ControllerOptions::name");
  }
  controllers_.push_back(
      std::make_unique<Controller>(std::move(options), cache_, options_.clock, metrics_.get()));
  return *controllers_.back();
}

std::unique_ptr<HttpServer> Manager::ServeMetrics() const {
  if (!metrics_) return nullptr;
  const auto handler = [this](const HttpRequest&) {
    return HttpResponse{.body = metrics_->Text(),
                        .content_type = std::string(Metrics::kContentType)};
  };
  try {
    auto server =
        std::make_unique<HttpServer>(HttpServerOptions{.address = options_.metrics_bind_address},
                                     HttpServer::Routes{{"/metrics", handler}});
    options_.log.Info("Serving metrics", {{"address", server->address()}, {"path", "/metrics"}});
    return server;
  } catch (const ConfigError& error) {
    throw ConfigError(std::string("--metrics-bind-address: ") + error.what());
  }
}

/// Throws if the API server cannot be reached or does not serve one of the watched kinds.
void Manager::CheckKindsAreServed(const std::stop_token& stop) const {
  const DiscoveryClient discovery(*transport_, stop);
  std::map<std::string, std::vector<ApiResource>> served;
  for (const KindRef& kind : cache_.RequiredKinds()) {
    const auto [entry, is_new] = served.try_emplace(kind.api_version);
    if (is_new) entry->second = discovery.Resources(kind.api_version);
    const auto is_kind = [&](const ApiResource& other) { return other.kind.plural == kind.plural; };
    if (std::ranges::none_of(entry->second, is_kind)) {
      throw ConfigError("the API server does not serve " + kind.plural + " of " + kind.api_version +
                        ": install the CustomResourceDefinition of " + kind.kind +
                        " with kubectl apply, then start again");
    }
  }
}

int Manager::Run(const std::stop_token& stop) {
  if (std::exchange(run_called_, true)) throw std::logic_error("Manager::Run was called twice");
  for (const auto& controller : controllers_) controller->RequireReconciler();
  const Logger& log = options_.log;
  std::unique_ptr<HttpServer> metrics_server;  // until the end: it also serves during the shutdown
  try {
    if (!config_error_.empty()) throw ConfigError(config_error_);
    metrics_server = ServeMetrics();
    CheckKindsAreServed(stop);
  } catch (const std::exception& error) {
    if (stop.stop_requested()) return 0;
    log.Error("Cannot start", {{"err", error.what()}});
    return 1;
  }

  events_ = std::make_unique<EventRecorder>(client_, options_.name, log, options_.clock);
  cache_.Start();
  log.Info("Waiting for informer caches to sync");
  const bool synced = cache_.WaitForSync(stop);
  if (synced) {
    for (const auto& controller : controllers_) controller->Start(client_, *events_, log);
    SleepUntil(options_.clock, TimePoint::max(), stop);
    log.Info("Shutdown signal received, waiting for all workers to finish");
  } else {
    log.Error(stop.stop_requested() ? "Stopped before the caches had synced"
                                    : "Cannot start: the caches have not synced in time",
              {{"err", ToString(cache_.NotSynced())}});
  }
  const TimePoint deadline = After(options_.clock.Now(), options_.graceful_shutdown_timeout);
  StopWorkers(deadline);
  if (synced) log.Info("All workers finished");
  StopCache(deadline);
  events_->Stop();
  return synced ? 0 : 1;
}

void Manager::StopWorkers(TimePoint deadline) {
  for (const auto& controller : controllers_) controller->RequestStop();
  Clock& clock = options_.clock;
  const auto wait_for_all = [&](TimePoint until) {
    return std::all_of(controllers_.begin(), controllers_.end(), [&](const auto& controller) {
      return controller->WaitForWorkers(until, options_.log);
    });
  };
  if (wait_for_all(deadline)) return;
  options_.log.Error(
      "Reconciles did not return within the graceful shutdown timeout, cancelling their API calls");
  cancel_calls_.request_stop();
  cache_.CancelReads();
  if (wait_for_all(After(clock.Now(), kCancelTimeout))) return;
  options_.log.Error(
      "Reconciles did not return after their API calls were cancelled, exiting with code 1");
  std::_Exit(1);
}

void Manager::StopCache(TimePoint deadline) {
  cache_.Stop();
  if (cache_.WaitForHandlers(deadline).empty()) return;
  options_.log.Error(
      "Handlers did not return within the graceful shutdown timeout, cancelling their API calls");
  cancel_calls_.request_stop();
  const auto busy = cache_.WaitForHandlers(After(options_.clock.Now(), kCancelTimeout));
  if (busy.empty()) return;
  options_.log.Error(
      "A handler did not return after its API calls were cancelled, exiting with "
      "code 1",
      {{"handler", busy.front()}});
  std::_Exit(1);
}

}  // namespace kopp
