#include "resource_path.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <vector>

#include <kopp/config.hpp>
#include <kopp/http_server.hpp>
#include <kopp/manager.hpp>
#include <kopp/metrics.hpp>
#include <kopp/workqueue/sleep.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;

constexpr Duration kAfterCancel = 5s;  // for a reconcile whose calls were cancelled to end

/// In the place of a transport that could not be made.
class NoTransport final : public Transport {
 public:
  explicit NoTransport(std::string problem) : problem_(std::move(problem)) {}
  Response Call(const Request&, std::stop_token) override { throw ConfigError(problem_); }
  std::unique_ptr<Stream> Open(const Request&, std::stop_token) override {
    throw ConfigError(problem_);
  }

 private:
  std::string problem_;
};

/// `problem` becomes what was wrong, if anything.
std::shared_ptr<Transport> TransportOf(const Options& options, std::string& problem) {
  if (options.transport) return options.transport;
  try {
    return MakeTransport(
        LoadConfig({.kubeconfig = options.kubeconfig,
                    .master = options.master,
                    .context = options.context}),
        {.calls = options.http_transport, .user_agent = options.name, .clock = options.clock});
  } catch (const ConfigError& error) {
    problem = error.what();
    return std::make_shared<NoTransport>(problem);
  }
}

/// What a group and version serves.
struct ResourceList {
  struct Resource {
    std::string name;
  };
  std::vector<Resource> resources;
};
KOPP_FIELDS(ResourceList::Resource, name)
KOPP_FIELDS(ResourceList, resources)

std::vector<std::string> ServedPlurals(Transport& transport, std::string_view api_version,
                                       const std::stop_token& stop) {
  const bool core = api_version.find('/') == std::string_view::npos;
  const std::string path = (core ? "/api/" : "/apis/") + std::string(api_version);
  const Response response = transport.Call({.target = path}, stop);
  std::vector<std::string> plurals;
  if (response.status == 404) return plurals;
  if (response.status != 200) {
    throw ApiError::FromBody("GET " + path, response.status, response.body);
  }
  try {
    for (auto& resource : Decode<ResourceList>(response.body).resources) {
      plurals.push_back(std::move(resource.name));
    }
  } catch (const DecodeError& error) {
    throw ConfigError("GET " + path + ": the answer is not an API server's (" + error.what() +
                      "): check the server's address");
  }
  return plurals;
}

}  // namespace

Manager::Manager(Options options)
    : options_(std::move(options)),
      transport_(TransportOf(options_, startup_problem_)),
      client_(*transport_, options_.name, calls_.get_token()),
      cache_(*transport_, options_.watch_namespace, options_.log, options_.clock),
      metrics_(options_.metrics_bind_address == "0" ? nullptr : std::make_unique<Metrics>()) {}

Manager::~Manager() { cache_.Stop(); }  // its threads put keys into the controllers' queues

Controller& Manager::AddNamed(ControllerOptions options, const Kind& kind) {
  if (ran_) throw std::logic_error("add controllers before the manager runs");
  if (options.name.empty()) {
    for (const char c : kind.kind) {
      options.name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  const auto same = [&](const auto& other) { return other->name() == options.name; };
  if (std::any_of(controllers_.begin(), controllers_.end(), same)) {
    throw std::logic_error("two controllers are named \"" + options.name + "\"");
  }
  controllers_.push_back(
      std::make_unique<Controller>(std::move(options), cache_, options_.clock, metrics_.get()));
  return *controllers_.back();
}

std::unique_ptr<HttpServer> Manager::ServeMetrics() const {
  if (!metrics_) return nullptr;
  const auto page = [this](std::string_view) {
    return HttpAnswer{.body = metrics_->Text(), .content_type = std::string(Metrics::kContentType)};
  };
  try {
    auto server =
        std::make_unique<HttpServer>(HttpServerOptions{.address = options_.metrics_bind_address},
                                     HttpServer::Handlers{{"/metrics", page}});
    options_.log.Info("Serving metrics", {{"address", server->address()}, {"path", "/metrics"}});
    return server;
  } catch (const ConfigError& error) {
    throw ConfigError(std::string("--metrics-bind-address: ") + error.what());
  }
}

/// Throws what is in the way of watching the kinds that the controllers look at.
void Manager::CheckKinds(const std::stop_token& stop) const {
  std::map<std::string_view, std::vector<std::string>> served;
  for (const Kind& kind : cache_.Kinds()) {
    if (!served.contains(kind.api_version)) {
      served[kind.api_version] = ServedPlurals(*transport_, kind.api_version, stop);
    }
    const auto& plurals = served[kind.api_version];
    if (std::find(plurals.begin(), plurals.end(), kind.plural) == plurals.end()) {
      throw ConfigError("the API server does not serve " + std::string(kind.plural) + " of " +
                        std::string(kind.api_version) +
                        ": install the CustomResourceDefinition of " + std::string(kind.kind) +
                        " with kubectl apply, then start again");
    }
  }
}

int Manager::Run(const std::stop_token& stop) {
  if (std::exchange(ran_, true)) throw std::logic_error("a manager runs once");
  for (const auto& controller : controllers_) controller->RequireReconciler();
  const Logger& log = options_.log;
  std::unique_ptr<HttpServer> pages;  // to the end, so that the stopping can be watched as well
  try {
    if (!startup_problem_.empty()) throw ConfigError(startup_problem_);
    pages = ServeMetrics();
    CheckKinds(stop);
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
    StopWorkers();
    log.Info("All workers finished");
  } else {
    log.Error("Stopped before the caches had synced");
  }
  cache_.Stop();
  events_->Stop();
  return synced ? 0 : 1;
}

void Manager::StopWorkers() {
  for (const auto& controller : controllers_) controller->RequestStop();
  Clock& clock = options_.clock;
  const auto await_all = [&](TimePoint deadline) {
    return std::all_of(controllers_.begin(), controllers_.end(), [&](const auto& controller) {
      return controller->AwaitEnd(deadline, options_.log);
    });
  };
  if (await_all(After(clock.Now(), options_.graceful_shutdown_timeout))) return;
  options_.log.Error("Reconciles did not end in time, their calls are cancelled");
  calls_.request_stop();
  if (await_all(After(clock.Now(), kAfterCancel))) return;
  options_.log.Error("A reconcile does not end; the process does");
  std::_Exit(1);
}

}  // namespace kopp
