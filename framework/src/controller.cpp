#include "worker_pool.hpp"

#include <stdexcept>

#include <kopp/controller.hpp>

namespace kopp {

class Controller::Workers final : public WorkerPool {
 public:
  using WorkerPool::WorkerPool;
};

namespace {

std::unique_ptr<workqueue::RateLimiter<ObjectKey>> LimiterOf(ControllerOptions& options,
                                                             Clock& clock) {
  using namespace std::chrono_literals;
  if (options.limiter) return std::move(options.limiter);
  return std::make_unique<workqueue::ItemExponentialFailureRateLimiter<ObjectKey>>(5ms, 1000s,
                                                                                   clock);
}

}  // namespace

Controller::Controller(ControllerOptions options, Cache& cache, Clock& clock)
    : options_(std::move(options)),
      cache_(cache),
      clock_(clock),
      queue_({.name = options_.name, .clock = clock}, LimiterOf(options_, clock)) {}

Controller::~Controller() = default;

void Controller::Start(const Client& client, EventRecorder& events, const Logger& log) {
  if (!reconcile_) {
    throw std::logic_error("the controller \"" + name() + "\" was added without .Reconcile(…)");
  }
  const Logger mine = log.With({{"controller", name()}});
  mine.Info("Starting workers", {{"worker count", options_.workers}});
  workers_ = std::make_unique<Workers>(queue_, reconcile_,
                                       WorkerPool::World{client, cache_, events, mine});
  workers_->Start(options_.workers);
}

void Controller::RequestStop() {
  if (workers_) workers_->RequestStop();
}

bool Controller::AwaitEnd(TimePoint deadline) {
  return !workers_ || workers_->AwaitEnd(clock_, deadline);
}

}  // namespace kopp
