// The controllers of a Manager.
#include "built_in_checks.hpp"
#include "cache/cache_impl.hpp"
#include "debug_source.hpp"
#include "manager_impl.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/detail/duration_math.hpp>
#include <kopp/workqueue/random_source.hpp>

namespace kopp {
namespace {

// How long a controller waits for clusters that are not required and cannot be reached.
constexpr Duration kMaxWaitForCluster = std::chrono::seconds(5);

/// Returns the workers of a controller that does not set ControllerOptions::workers.
int DefaultWorkers(const Options& options, const Kind& kind) {
  std::string name(kind.kind);  // as GroupKind.String() of Go: "Foo.samplecontroller.k8s.io"
  if (!kind.group().empty()) name.append(1, '.').append(kind.group());
  const auto found = options.kind_concurrency.find(name);
  return found == options.kind_concurrency.end() ? options.max_concurrent_reconciles
                                                 : found->second;
}

/// Returns a time that is up to 10 % shorter or longer, so that the resyncs of several controllers
/// and programs do not coincide. controller-runtime does the same.
Duration Spread(Duration period) {
  return workqueue::detail::Scaled(period, 0.9 + 0.2 * workqueue::SystemRandom());
}

/// Sets what liveness checks, debug pages and spans need: the times of the queue; pages and spans
/// also the reasons.
void TrackQueue(ControllerOptions& options, const Options& program) {
  const bool debugs = program.debug.bind_address != "0" || program.tracer;
  if (debugs) options.reasons = true;
  if (debugs || program.health.bind_address != "0") options.track_times = true;
}

}  // namespace

Controller::Impl& Manager::Impl::NewController(ControllerOptions options, const Kind& kind) {
  if (options.name.empty()) {
    for (const char c : kind.kind) {
      options.name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  if (options.name.find('/') != std::string::npos) {
    throw std::invalid_argument("the name of the controller \"" + options.name +
                                "\" has a '/', which names of health checks must not have");
  }
  {
    const std::lock_guard guard{mutex_};
    RequireNewController(options.name);  // before its metrics exist
  }
  if (!options.workers) options.workers = DefaultWorkers(options_, kind);
  if (!options.sync_period) options.sync_period = Spread(options_.sync_period);
  TrackQueue(options, options_);
  auto added = std::make_unique<Controller::Impl>(std::move(options), kind, cluster_->cache(),
                                                  options_.clock, CollectedMetrics());
  Controller::Impl& controller = *added;
  static_cast<void>(controller.FieldManager(client().field_manager()));  // throws if it is invalid
  controller.SetTracer(options_.tracer.get());
  if (history_) controller.AddObserver(RecordIn(*history_, options_.clock));
  const std::lock_guard guard{mutex_};
  RequireNewController(controller.name());
  if (phase_ == Phase::kNew) {
    controllers_.push_back(std::move(added));
  } else {
    controller.OnReconciler([this, &controller] { StartLater(controller); });
    later_controllers_.push_back(std::move(added));
  }
  return controller;
}

/// Throws std::logic_error if no controller with this name can be added. Requires: mutex_ is held.
void Manager::Impl::RequireNewController(const std::string& name) const {
  if (phase_ == Phase::kStopping) {
    throw std::logic_error("the controller \"" + name + "\" was added during the shutdown");
  }
  const auto has_name = [&](const auto& other) { return other->name() == name; };
  if (std::ranges::none_of(controllers_, has_name) &&
      std::ranges::none_of(later_controllers_, has_name)) {
    return;
  }
  throw std::logic_error("there are two controllers with the name \"" + name +
                         "\": set ControllerOptions::name");
}

std::vector<Controller::Impl*> Manager::Impl::Controllers() const {
  const std::lock_guard guard{mutex_};
  std::vector<Controller::Impl*> all;
  for (const auto& controller : controllers_) all.push_back(controller.get());
  for (const auto& controller : later_controllers_) all.push_back(controller.get());
  return all;
}

/// Starts a controller that was added while the manager runs, now or when this replica leads.
void Manager::Impl::StartLater(Controller::Impl& controller) {
  const auto run = [this, &controller,
                    checks = std::make_shared<std::once_flag>()](const std::stop_token& stop) {
    AwaitCaches(controller, stop);
    if (stop.stop_requested()) return;
    std::call_once(*checks, [&] { AddLivenessChecks(view_, controller, endpoints_->liveness()); });
    RunController(controller, stop);
  };
  Add({.name = "controller " + controller.name(), .group = RunnableGroup::kLeaderElected}, run);
}

/// Blocks until the caches of the controller have synced, or until `stop`. After
/// kMaxWaitForCluster, does not wait for clusters that are not required if a list has failed.
/// Throws std::runtime_error if the caches of a required cluster do not sync in time.
void Manager::Impl::AwaitCaches(const Controller::Impl& controller,
                                const std::stop_token& stop) const {
  const std::vector<const InformerSet*>& informers = controller.informers();
  const TimePoint limit = SaturatingAdd(options_.clock.Now(), kMaxWaitForCluster);
  for (const Cluster::Impl* cluster : Clusters()) {
    const auto& cache = Cache::Impl::Of(cluster->cache());
    if (cluster->required()) {
      if (cache.WaitForSync(informers, stop) || stop.stop_requested()) continue;
      throw std::runtime_error("the caches have not synced in time: " +
                               ToString(cache.NotSynced(informers)));
    }
    Duration time_left = std::max(limit - options_.clock.Now(), Duration(1));
    while (!cache.WaitForSync(informers, time_left, stop) && !stop.stop_requested()) {
      const std::vector<UnsyncedInformer> unsynced = cache.NotSynced(informers);
      const auto has_failed = [](const UnsyncedInformer& each) { return !each.problem.empty(); };
      if (std::ranges::any_of(unsynced, has_failed)) {
        options_.log.Info("Starting a controller before the caches of a cluster have synced",
                          {{"controller", controller.name()},
                           {"cluster", cluster->name()},
                           {"notSynced", ToString(unsynced)}});
        break;
      }
      time_left = kMaxWaitForCluster;
    }
  }
}

/// Starts a controller in the term that has begun.
void Manager::Impl::StartWorkers(Controller::Impl& controller) {
  controller.Start(controller.ClientOf(leadership_.term_client(), Controllers()), TermEvents(),
                   options_.log);
}

/// Runs the sources and workers until `stop`. They have ended when it returns or throws.
void Manager::Impl::RunController(Controller::Impl& controller, const std::stop_token& stop) {
  const auto end = [&] {
    controller.RequestStop();
    controller.WaitForWorkers(TimePoint::max(), options_.log);
  };
  try {
    StartWorkers(controller);
  } catch (...) {
    end();
    throw;
  }
  SleepUntil(options_.clock, TimePoint::max(), stop);
  end();
}

}  // namespace kopp
