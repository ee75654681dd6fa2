#include "controller/running_reconciles.hpp"
#include "controller/source_runner.hpp"
#include "controller/worker_pool.hpp"

#include <stdexcept>
#include <utility>

#include <kopp/controller.hpp>

namespace kopp {

Controller::Controller(ControllerOptions options, Cache& cache, Clock& clock,
                       workqueue::MetricsProvider* metrics)
    : options_(std::move(options)),
      cache_(cache),
      clock_(clock),
      running_(options_.cancel_superseded ? std::make_unique<RunningReconciles>(queue_) : nullptr),
      queue_({.name = options_.name,
              .clock = clock,
              .metrics = metrics,
              .order = options_.order,
              .coalesce = options_.coalesce},
             std::move(options_.limiter)),
      sources_(std::make_unique<SourceRunner>(EventsOf({}), clock)) {
  if (running_) {
    queue_.OnSuperseded([this](const ObjectKey& key) { running_->OnSuperseded(key); });
  }
  if (options_.workers >= 1) return;
  throw std::invalid_argument("the controller \"" + name() + "\" has " +
                              std::to_string(options_.workers) + " workers: it needs at least 1");
}

Controller::~Controller() = default;

void Controller::RequireReconciler() const {
  if (reconcile_) return;
  throw std::logic_error("the controller \"" + name() +
                         "\" was added without .Reconcile(…): pass its reconcile function");
}

void Controller::Start(const Client& client, EventRecorder& events, const Logger& log) {
  const Logger controller_log = log.With({{"controller", name()}});
  sources_->Start(controller_log);
  controller_log.Info("Starting workers", {{"worker count", options_.workers}});
  workers_ = std::make_unique<WorkerPool>(
      queue_, reconcile_,
      WorkerPool::ReconcileDependencies{client, cache_, events, controller_log, running_.get(),
                                        options_.reasons});
  workers_->Start(options_.workers);
}

void Controller::AddSource(std::shared_ptr<EventSource> source) {
  sources_->Add(std::move(source));
}

WatchHandle Controller::Watch(const KindRef& kind,
                              std::function<std::vector<ObjectKey>(const Unstructured&)> keys,
                              AnyPredicate predicate) {
  const auto keys_of_any = [keys = std::move(keys)](const informer::AnyObject& object) {
    return keys(*object.As<Unstructured>());
  };
  return Watch(cache_.Acquire(kind),
               informer::EnqueueAnyMapped(EventsOf(kind.kind).Enqueue(), keys_of_any),
               std::move(predicate));
}

WatchHandle Controller::Watch(std::shared_ptr<InformerSet> informers,
                              informer::AnyEventHandler handler, AnyPredicate predicate) const {
  auto filtered = informer::WithPredicate(
      std::make_shared<const AnyPredicate>(std::move(predicate)), std::move(handler));
  auto registrations = informers->AddHandler(filtered, {.name = name()});
  return {std::move(informers), std::move(registrations)};
}

void Controller::RequestStop() {
  sources_->RequestStop();
  if (workers_) workers_->RequestStop();
}

bool Controller::WaitForWorkers(TimePoint deadline, const Logger& log) {
  if (!sources_->WaitUntilEnded(deadline).empty()) return false;
  if (!workers_) return true;
  if (!workers_->WaitUntilEnded(clock_, deadline)) return false;
  const ReconcileCounts& counts = workers_->counts();
  log.Info("Workers finished", {{"controller", name()},
                                {"success", counts.success.load()},
                                {"requeue_after", counts.requeue_after.load()},
                                {"error", counts.error.load()},
                                {"terminal_error", counts.terminal_error.load()}});
  return true;
}

}  // namespace kopp
