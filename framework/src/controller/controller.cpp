#include "controller/worker_pool.hpp"

#include <stdexcept>

#include <kopp/controller.hpp>

namespace kopp {

Controller::Controller(ControllerOptions options, Cache& cache, Clock& clock,
                       workqueue::MetricsProvider* metrics)
    : options_(std::move(options)),
      cache_(cache),
      clock_(clock),
      queue_({.name = options_.name, .clock = clock, .metrics = metrics, .order = options_.order},
             std::move(options_.limiter)) {
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
  controller_log.Info("Starting workers", {{"worker count", options_.workers}});
  workers_ = std::make_unique<WorkerPool>(
      queue_, reconcile_,
      WorkerPool::ReconcileDependencies{client, cache_, events, controller_log});
  workers_->Start(options_.workers);
}

void Controller::RequestStop() {
  if (workers_) workers_->RequestStop();
}

bool Controller::WaitForWorkers(TimePoint deadline, const Logger& log) {
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
