#include "base/option_checks.hpp"
#include "controller/controller_impl.hpp"
#include "pause.hpp"
#include "reconcile_runner.hpp"
#include "running_reconciles.hpp"
#include "source_runner.hpp"
#include "worker_pool.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <typeinfo>
#include <utility>
#include <vector>

#include <kopp/controller/controller_metrics.hpp>
#include <kopp/informer_set.hpp>

namespace kopp {
namespace {

constexpr Duration kDefaultSyncPeriod = std::chrono::hours(10);

ControllerOptions WithDefaults(ControllerOptions options, const ControllerMetrics* metrics) {
  if (!options.workers) options.workers = 1;
  if (!options.sync_period) options.sync_period = kDefaultSyncPeriod;
  if (metrics != nullptr) options.track_times = true;
  return options;
}

std::unique_ptr<ControllerQueue> NewQueue(ControllerOptions& options, Clock& clock,
                                          ControllerMetrics* metrics) {
  workqueue::QueueOptions queue{.name = options.name,
                                .clock = clock,
                                .metrics = metrics,
                                .order = options.order,
                                .track_times = options.track_times};
  return std::make_unique<ControllerQueue>(std::move(queue), options.coalesce,
                                           std::move(options.limiter));
}

void RequireWorkers(const std::string& controller, int workers) {
  if (workers >= 1) return;
  throw std::invalid_argument("the controller \"" + controller + "\" has " +
                              std::to_string(workers) + " workers: it needs at least 1");
}

void RequireValid(const ControllerOptions& options) {
  RequireWorkers(options.name, *options.workers);
  const auto name_of = [&](const char* option) {
    return "the option " + std::string(option) + " of the controller \"" + options.name + '"';
  };
  const auto check = [&](const char* option, Duration value) {
    detail::RequireNotNegative(name_of(option), value);
  };
  check("sync_period", options.sync_period.value_or(Duration::zero()));
  check("reconcile_timeout", options.reconcile_timeout);
  check("max_interval", options.max_interval);
  check("coalesce.quiet", options.coalesce.quiet);
  check("coalesce.max_wait", options.coalesce.max_wait);
  if (!options.field_manager.empty()) {
    detail::RequireFieldManager(name_of("field_manager"), options.field_manager);
  }
  for (const std::string& former :
       options.former_field_managers.value_or(std::vector<std::string>())) {
    detail::RequireFieldManager(name_of("former_field_managers"), former);
  }
}

}  // namespace

Controller::Impl::Impl(ControllerOptions options, const Kind& kind, Cache& cache, Clock& clock,
                       ControllerMetrics* metrics)
    : options_(WithDefaults(std::move(options), metrics)),
      kind_(kind),
      cache_(cache),
      clock_(clock),
      queue_(NewQueue(options_, clock, metrics)),
      own_events_(kind_,
                  [this](const ObjectKey& key, OwnEvents::AddOptions add) {
                    queue_->AddCoalesced(key, std::move(add));
                  }),
      sources_(std::make_unique<SourceRunner>(EventsOf({}), clock)) {
  RequireValid(options_);
  if (options_.cancel_superseded) {
    running_ = std::make_unique<RunningReconciles>(*queue_);
    queue_->OnAddedAgain([this](const ObjectKey& key) { running_->OnAddedAgain(key); });
  }
  if (metrics != nullptr) {
    metrics_ = metrics->NewReconcileMetrics(name());
    metrics_->SetWorkers(*options_.workers);
    key_metrics_.push_back(metrics->NewWaitingKeysMetric(name(), [this] {
      return static_cast<double>(queue_->TakeSnapshot(/*limit=*/0).waiting_count);
    }));
    key_metrics_.push_back(metrics->NewFailingKeysMetric(
        name(), [this] { return static_cast<double>(failing_.NumThrew()); }));
  }
  workers_ = std::make_unique<WorkerPool>(
      *queue_, clock_, *options_.workers,
      [this](const WorkerPool::QueuedKey& next, const std::stop_token& stop) {
        runner_->Process(next, stop);
        ++completed_;
      });
}

Controller::Impl::~Impl() = default;

void Controller::Impl::SetPrimaryInformers(InformerSet& informers, Find find) {
  find_ = std::move(find);
  if (options_.pause_annotation.empty()) return;
  informers.AddHandler(
      EnqueueResumed(EventsOf(kind_.kind), options_.pause_annotation),
      {.name = name() + "-pause", .delivery = informer::Delivery::kInformerThread});
}

void Controller::Impl::AddWatchedKind(const OwningKind& kind) { watched_.Lock()->insert(kind); }

bool Controller::Impl::Watches(const Kind& kind) const {
  const auto is_same = [&](const OwningKind& other) {
    return other.kind == kind.kind && other.group() == kind.group();
  };
  return std::ranges::any_of(informers_, is_same, &InformerSet::kind) ||
         std::ranges::any_of(*watched_.Lock(), is_same);
}

void Controller::Impl::SetReconciler(Reconciler reconcile) {
  reconcile_ = std::move(reconcile);
  if (on_reconciler_) on_reconciler_();
}

void Controller::Impl::RequireReconciler() const {
  if (reconcile_) return;
  throw std::logic_error("the controller \"" + name() +
                         "\" was added without .Reconcile(…): pass its reconcile function");
}

void Controller::Impl::Start(Client client, EventRecorder& events, const Logger& log) {
  client_ = std::move(client);
  const Logger own_log = options_.log.value_or(log).With(
      {{"controller", name()}, {"controllerGroup", kind_.group()}, {"controllerKind", kind_.kind}});
  own_log.Info("Starting Controller");
  own_log.Info("Starting workers", {{"worker count", workers()}});
  logged_stuck_sources_ = false;
  logged_counts_ = false;
  StartThreads("the threads of the event sources", [&] { sources_->Start(own_log); });
  if (!runner_) {
    StartThreads("the thread for timers", [&] {
      ReconcileRunner::Options options{
          .controller = name(),
          .kind = kind_,
          .watches = [this](const Kind& kind) { return Watches(kind); },
          .reconcile = reconcile_,
          .on_error = options_.on_error,
          .reconcile_timeout = options_.reconcile_timeout,
          .max_interval = options_.max_interval,
          .pause_annotation = options_.pause_annotation,
          .track_times = options_.track_times,
          .reasons = options_.reasons,
          .running = running_.get(),
          .find = find_,
          .observers = observers_,
          .failing = failing_,
          .own_events = own_events_,
          .metrics = metrics_.get(),
          .tracer = tracer_};
      runner_ = std::make_unique<ReconcileRunner>(
          *queue_, std::move(options),
          ReconcileRunner::Dependencies{*client_, cache_, clock_, own_log});
    });
  }
  runner_->SetEvents(events);
  StartWorkers(workers(), [&] { workers_->Start(own_log); });
}

void Controller::Impl::RetryFailing(const std::string& source) {
  const EventQueue events = EventsOf(source);
  for (const ObjectKey& key : failing_.RetriedAfterError()) events.Add(key);
}

void Controller::Impl::SetWorkers(int workers) {
  RequireWorkers(name(), workers);
  StartWorkers(workers, [&] { workers_->SetWorkers(workers); });
  if (metrics_) metrics_->SetWorkers(workers);
}

int Controller::Impl::workers() const { return workers_->workers(); }

void Controller::Impl::StartWorkers(int workers, const std::function<void()>& start) const {
  StartThreads("the " + std::to_string(workers) + " worker threads", start);
}

/// Calls `start`, and replaces the std::system_error of a thread that cannot be started by an
/// exception that says which of `threads` it is and what to do.
void Controller::Impl::StartThreads(const std::string& threads,
                                    const std::function<void()>& start) const {
  try {
    start();
  } catch (const std::system_error& error) {
    throw std::runtime_error("cannot start " + threads + " of the controller \"" + name() +
                             "\": " + error.what() +
                             ": use fewer workers, or raise the limit of threads (ulimit -u, "
                             "pids.max of the container) or of memory");
  }
}

void Controller::Impl::AddSource(std::shared_ptr<EventSource> source) {
  sources_->Add(std::move(source));
}

void Controller::Impl::RequestStop() {
  sources_->RequestStop();
  workers_->RequestStop();
}

bool Controller::Impl::WaitForWorkers(TimePoint deadline, const Logger& log) {
  const std::vector<std::string> running_sources = sources_->WaitUntilEnded(deadline);
  if (!running_sources.empty()) {
    if (logged_stuck_sources_.exchange(true)) return false;
    for (const std::string& source : running_sources) {
      log.Error("An event source did not return", {{"controller", name()}, {"source", source}});
    }
    return false;
  }
  if (!workers_->WaitUntilEnded(deadline)) return false;
  failing_.ForgetErrors();  // another replica may reconcile them
  own_events_.Clear();
  if (!runner_ || logged_counts_.exchange(true)) return true;
  const ReconcileCounts& counts = runner_->counts();
  log.Info("Workers finished", {{"controller", name()},
                                {"success", counts.success.load()},
                                {"requeue_after", counts.requeue_after.load()},
                                {"requeue", counts.requeue.load()},
                                {"error", counts.error.load()},
                                {"terminal_error", counts.terminal_error.load()}});
  return true;
}

const std::string& Controller::name() const { return impl_.name(); }
const OwningKind& Controller::kind() const { return impl_.kind(); }
Cache& Controller::cache() { return impl_.cache(); }
EventQueue Controller::EventsOf(std::string source) { return impl_.EventsOf(std::move(source)); }
void Controller::SetWorkers(int workers) { impl_.SetWorkers(workers); }
int Controller::workers() const { return impl_.workers(); }
std::uint64_t Controller::CompletedReconciles() const { return impl_.CompletedReconciles(); }

WatchHandle Controller::Watch(const OwningKind& kind,
                              std::function<std::vector<ObjectKey>(const Unstructured&)> keys,
                              AnyPredicate predicate) {
  AnyPredicate of_view = AnyPredicate{.view = &typeid(Unstructured)} && std::move(predicate);
  const auto keys_of_any = [keys = std::move(keys)](const informer::AnyObject& object) {
    return keys(*object.As<Unstructured>());
  };
  return Watch(cache().Acquire(kind),
               informer::EnqueueAnyMapped(EventsOf(kind.kind).Enqueue(), keys_of_any),
               std::move(of_view));
}

WatchHandle Controller::Watch(std::shared_ptr<InformerSet> informers,
                              informer::AnyEventHandler handler, AnyPredicate predicate) const {
  auto filtered = informer::WithPredicate(
      std::make_shared<const AnyPredicate>(std::move(predicate)), std::move(handler));
  impl_.AddWatchedKind(informers->kind());
  auto registrations = informers->AddHandler(filtered, {.name = name()});
  return {std::move(informers), std::move(registrations)};
}

}  // namespace kopp
