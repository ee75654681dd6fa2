#include "handler_queue.hpp"
#include "handler_runner.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <stdexcept>

#include <kopp/informer/detail/exception_text.hpp>
#include <kopp/informer/informer.hpp>

namespace kopp::informer {
namespace {

using detail::HandlerEvent;
using detail::HandlerRunner;
using Runners = std::vector<std::shared_ptr<HandlerRunner>>;

void NotifyDelete(const Runners& runners, const AnyObject& object, bool final_state_unknown,
                  bool is_watch_event = false) {
  const HandlerEvent event{.type = HandlerEvent::Type::kDelete,
                           .object = object,
                           .final_state_unknown = final_state_unknown,
                           .is_watch_event = is_watch_event};
  for (const auto& runner : runners) runner->Deliver(event);
}

void NotifyChange(const Runners& runners, const AnyObject& before, const AnyObject& after,
                  bool in_initial_list, bool is_watch_event = false) {
  const bool is_update = before && before.metadata().uid == after.metadata().uid;
  if (before && !is_update) NotifyDelete(runners, before, /*final_state_unknown=*/true);
  HandlerEvent event = is_update
                           ? HandlerEvent{HandlerEvent::Type::kUpdate, after, before}
                           : HandlerEvent{HandlerEvent::Type::kAdd, after, {}, in_initial_list};
  event.is_watch_event = is_watch_event;
  for (const auto& runner : runners) runner->Deliver(event);
}

/// Raises a resync period that is too short. Returns a report for a log, or "". Throws if it is
/// negative. client-go: minimumResyncPeriod.
std::string LimitResync(HandlerOptions& options) {
  constexpr Duration kMinResync = std::chrono::seconds(1);
  if (options.resync < Duration::zero()) {
    throw std::invalid_argument("the resync period of a handler must not be negative");
  }
  if (options.resync <= Duration::zero() || options.resync >= kMinResync) return {};
  options.resync = kMinResync;
  return "handler \"" + options.name + "\": its resync period is raised to the minimum of 1 s";
}

/// Returns the key of InformerStatus::events.
std::string_view NameOf(EventType type) {
  switch (type) {
    case EventType::kAdded:
      return "added";
    case EventType::kModified:
      return "modified";
    default:
      return "deleted";
  }
}

/// Returns when the first resync of a handler is due that has been called for the first list.
TimePoint FirstResync(const HandlerOptions& options, TimePoint now) {
  return options.resync > Duration::zero() ? SaturatingAdd(now, options.resync) : TimePoint::max();
}

}  // namespace

AnyInformer::AnyInformer(AnySource& source, InformerOptions options)
    : source_(source),
      options_(std::move(options)),
      store_(options_.on_problem),
      version_(options_.clock) {
  if (options_.metrics == nullptr) return;
  metric_ = options_.metrics->NewInformerMetric([this] { return Status(); });
}

AnyInformer::~AnyInformer() {
  const auto runners = handlers_.Lock()->runners;
  for (const auto& runner : *runners) runner->Remove();
}

HandlerRegistration AnyInformer::AddHandler(AnyEventHandler handler, HandlerOptions options) {
  std::shared_ptr<HandlerRunner> runner;
  std::optional<AnyStoreSnapshot> initial_list;
  std::string problem;
  {
    auto handlers = handlers_.Lock();
    if (handlers->stopped) throw std::logic_error("AddHandler was called after the informer ended");
    ++handlers->added;
    if (options.name.empty()) options.name = "handler-" + std::to_string(handlers->added);
    problem = LimitResync(options);
    runner = std::make_shared<HandlerRunner>(std::move(handler), std::move(options), options_);
    if (handlers->store_has_first_list) {
      initial_list = store_.Snapshot();
      runner->AwaitInitialList();
      runner->next_resync = FirstResync(runner->options(), options_.clock.Now());
    }
    if (handlers->running) runner->Start();
    auto runners = std::make_shared<Runners>(*handlers->runners);
    std::erase_if(*runners, [](const auto& other) { return other->Ended(); });
    runners->push_back(runner);
    handlers->runners = std::move(runners);
  }
  if (!problem.empty() && options_.on_problem) options_.on_problem(problem, /*minor=*/false);
  if (initial_list) runner->PushInitialList(initial_list->List());
  runner->CallPending();
  return HandlerRegistration(std::move(runner));
}

void AnyInformer::Run(const std::stop_token& stop) {
  {
    auto handlers = handlers_.Lock();
    handlers->running = true;
    for (const auto& runner : *handlers->runners) runner->Start();
  }
  AnyReflector reflector(source_, *this,
                         {.clock = options_.clock,
                          .seed = options_.seed,
                          .use_watch_list = options_.use_watch_list,
                          .consistent_start = options_.consistent_start,
                          .audit_interval = options_.audit_interval,
                          .on_drift = [this](const CacheDrift& drift) { OnDrift(drift); },
                          .on_problem = options_.on_problem});
  reflector.Run(stop);
  auto handlers = handlers_.Lock();
  handlers->stopped = true;
  const auto runners = handlers->runners;
  handlers.lock().unlock();
  for (const auto& runner : *runners) runner->RequestStop();
}

bool AnyInformer::WaitForHandlers(TimePoint deadline) const {
  const auto runners = handlers_.Lock()->runners;
  return std::ranges::all_of(*runners,
                             [&](const auto& runner) { return runner->WaitUntilEnded(deadline); });
}

InformerStatus AnyInformer::Status() const {
  InformerStatus status;
  {
    auto statistics = statistics_.Lock();
    status = statistics->status;
    status.resource_version = version_.Get();
    if (!status.resource_version.empty()) {
      status.resource_version_age = options_.clock.Now() - statistics->version_time;
    }
  }
  status.name = options_.name;
  status.kind = options_.kind;
  status.synced = HasSynced();
  status.objects = store_.Size();
  const auto runners = handlers_.Lock()->runners;
  for (const auto& runner : *runners) {
    if (!runner->Ended()) status.handlers.push_back(runner->Status());
  }
  return status;
}

bool AnyInformer::WaitForSync(const std::stop_token& stop) const {
  const std::stop_callback wake(stop, [this] {
    { auto synced = synced_.Lock(); }
    synced_changed_.notify_all();
  });
  auto synced = synced_.Lock();
  synced.Wait(synced_changed_, [&] { return *synced || stop.stop_requested(); });
  return *synced;
}

void AnyInformer::Replace(std::vector<AnyObject> objects,
                          const std::vector<ObjectKey>& skipped_keys) {
  // A skipped object exists on the server but could not be decoded. Its cached state is kept.
  for (const ObjectKey& key : skipped_keys) {
    if (AnyObject cached = store_.Get(key)) objects.push_back(std::move(cached));
  }
  KeepUnlistedObjectsIfAKeyIsUnknown(objects, skipped_keys);
  const bool is_first_list = !HasSynced();
  missed_event_ = !skipped_keys.empty();
  const AnyStoreSnapshot previous = store_.Snapshot();
  const std::shared_ptr<const Runners> runners = Commit(store_.PrepareReplace(objects));
  const AnyStoreSnapshot current = store_.Snapshot();
  for (const AnyObject& object : previous.List()) {
    if (current.Get(object.key())) continue;
    NotifyDelete(*runners, object, /*final_state_unknown=*/true);
  }
  for (const AnyObject& object : objects) {
    NotifyChange(*runners, previous.Get(object.key()), object, is_first_list);
  }
  if (is_first_list) OnFirstList(*runners);
  auto statistics = statistics_.Lock();
  ++statistics->status.lists;
  statistics->status.skipped_objects += skipped_keys.size();
}

/// Publishes a change of the store. Returns the handlers that must be called for it.
std::shared_ptr<const AnyInformer::Runners> AnyInformer::Commit(AnyStore::Change change) {
  auto handlers = handlers_.Lock();
  handlers->store_has_first_list = true;
  change.Commit();
  return handlers->runners;
}

/// Call after `runners` were called for each object of the first list.
void AnyInformer::OnFirstList(const Runners& runners) {
  for (const auto& runner : runners) {
    runner->Deliver({HandlerEvent::Type::kSynced});
    runner->next_resync = FirstResync(runner->options(), options_.clock.Now());
  }
  *synced_.Lock() = true;
  synced_changed_.notify_all();
}

/// If the key of a skipped object could not be read, the object may be any cached object that is
/// not in the list. Then none of these is considered deleted.
void AnyInformer::KeepUnlistedObjectsIfAKeyIsUnknown(
    std::vector<AnyObject>& objects, const std::vector<ObjectKey>& skipped_keys) const {
  if (std::none_of(skipped_keys.begin(), skipped_keys.end(),
                   [](const ObjectKey& key) { return key.name.empty(); })) {
    return;
  }
  std::set<ObjectKey> listed;
  for (const AnyObject& object : objects) listed.insert(object.key());
  for (const AnyObject& cached : store_.List()) {
    if (!listed.contains(cached.key())) objects.push_back(cached);
  }
}

/// Returns whether an event with `object` is older than the cached object. This happens if several
/// API servers serve the watch and one of them lags behind. A cached version that the store has not
/// reached is from before a restore of etcd (Replace has kept the object) and cannot be compared.
bool AnyInformer::IsOutdated(const AnyObject& object, const AnyObject& cached) const {
  const std::string& cached_version = cached.metadata().resourceVersion;
  return IsOlderResourceVersion(object.metadata().resourceVersion, cached_version) &&
         !IsOlderResourceVersion(version_.Get(), cached_version);
}

void AnyInformer::ApplyEvent(const WatchItem& event) {
  const AnyObject& object = event.object;
  const AnyObject cached = store_.Get(object.key());
  if (cached && IsOutdated(object, cached)) return;
  ++statistics_.Lock()->status.events[NameOf(event.event_type)];
  const bool is_deletion = event.event_type == EventType::kDeleted;
  if (is_deletion && !cached) return;
  const std::shared_ptr<const Runners> runners =
      Commit(is_deletion ? store_.PrepareErase(object.key()) : store_.PrepareSet(object));
  const bool is_one_change = !missed_event_ && (!cached || cached.metadata().resourceVersion !=
                                                               object.metadata().resourceVersion);
  if (!is_deletion) {
    return NotifyChange(*runners, cached, object, /*in_initial_list=*/false, is_one_change);
  }
  const bool final_state_known =
      !event.metadata_only && cached.metadata().uid == object.metadata().uid;
  NotifyDelete(*runners, final_state_known ? object : cached, !final_state_known,
               is_one_change && final_state_known);
}

void AnyInformer::OnVersion(const std::string& resource_version) {
  version_.Set(resource_version);
  auto statistics = statistics_.Lock();
  statistics->status.consecutive_failures = 0;
  statistics->version_time = options_.clock.Now();
}

void AnyInformer::OnRestore() { version_.OnRestore(); }

void AnyInformer::OnSkippedObject() {
  missed_event_ = true;
  ++statistics_.Lock()->status.skipped_objects;
}

void AnyInformer::OnDrift(const CacheDrift& drift) {
  statistics_.Lock()->status.drifted_objects += drift.total();
  if (options_.on_drift) options_.on_drift(drift);
}

void AnyInformer::OnWatchEnd(std::string_view reason) {
  ++statistics_.Lock()->status.watch_ends[reason];
}

void AnyInformer::OnFailure(const std::exception_ptr& error, Duration retry_in) {
  InformerError report{.error = error, .informer = options_.name, .retry_in = retry_in};
  {
    auto statistics = statistics_.Lock();
    ++statistics->status.errors;
    statistics->status.last_error = kopp::detail::ExceptionText(error);
    report.consecutive_failures = ++statistics->status.consecutive_failures;
  }
  if (options_.on_error) options_.on_error(report);
}

TimePoint AnyInformer::RunPeriodicWork(TimePoint now) {
  TimePoint next = TimePoint::max();
  const auto runners = handlers_.Lock()->runners;
  for (const auto& runner : *runners) {
    if (now >= runner->next_resync) {
      for (const AnyObject& object : store_.List()) {
        runner->Deliver({HandlerEvent::Type::kUpdate, object, object});
      }
      runner->next_resync = SaturatingAdd(now, runner->options().resync);
    }
    next = std::min({next, runner->next_resync, runner->ReportSlowCall(now)});
  }
  return next;
}

}  // namespace kopp::informer
