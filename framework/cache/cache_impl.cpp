#include "cache/cache_impl.hpp"

#include "base/any_token.hpp"
#include "client/read_scope.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <stdexcept>
#include <thread>
#include <typeinfo>

namespace kopp {
namespace {

/// Calls `wait` with a token that is stopped with `stop`, and after `limit` unless that is 0.
/// Returns its result.
bool WaitWithLimit(Clock& clock, Duration limit, const std::stop_token& stop,
                   const std::function<bool(const std::stop_token&)>& wait) {
  if (limit == Duration::zero()) return wait(stop);
  std::stop_source ended;
  const std::stop_callback end_on_stop(stop, [&] { ended.request_stop(); });
  const std::jthread timer(
      [&, deadline = SaturatingAdd(clock.Now(), limit)](const std::stop_token& done) {
        if (SleepUntil(clock, deadline, done)) ended.request_stop();
      });
  return wait(ended.get_token());
}

std::string SecondsText(Duration duration) {
  return std::to_string(std::chrono::ceil<std::chrono::seconds>(duration).count()) + " s";
}

/// Returns a description of a view, and what watches it.
std::string WatchHint(const detail::CacheKey& key, const std::string& kind) {
  if (key.kind.kind.empty()) {
    return "this view of " + kind + ": add .Owns<…>().Cached() or .Watches<…>()";
  }
  if (key.form == typeid(PartialObjectMetadata)) {
    return "the metadata of " + kind + " objects: add .Owns(kind)";
  }
  return "complete " + kind + " objects: add .Owns(kind).Cached() or .Watches(kind, …)";
}

/// Several views may be of one kind, also of another version of it.
bool IsSameResource(const Kind& a, const Kind& b) {
  return a.plural == b.plural && a.group() == b.group();
}

}  // namespace

void Cache::Impl::OnWrite(const Kind& kind, const WrittenObject& object) {
  for (const Entry& entry : Entries()) {
    if (IsSameResource(entry.informers->kind(), kind)) entry.informers->RecordWrite(object);
  }
}

std::optional<std::string> Cache::Impl::FindOwned(const Kind& kind, const ObjectKey& key,
                                                  std::string_view owner_uid) const {
  std::optional<std::string> absent;
  for (const Entry& entry : Entries()) {
    if (!IsSameResource(entry.informers->kind(), kind)) continue;
    auto uid = entry.informers->FindOwned(key, owner_uid);
    if (!uid) continue;
    if (!uid->empty()) return uid;
    absent = std::move(uid);
  }
  return absent;
}

/// A mapping function must not fail because an unrelated write is late: its event would be lost.
bool Cache::Impl::AwaitsWrites(const ReadOptions& read) const {
  return options_.own_writes_timeout > Duration::zero() &&
         read.await_own_writes.value_or(!InformerSet::Impl::InHandler());
}

Cache::Impl::Informers Cache::Impl::ForRead(const detail::WatchedViewRef& view,
                                            const ObjectKey& key, const ReadOptions& read) const {
  auto informers = ForRead(view);
  if (AwaitsWrites(read)) {
    informers->AwaitWrites(key, options_.own_writes_timeout, cancel_reads_.get_token());
  }
  return informers;
}

Cache::Impl::Informers Cache::Impl::ForRead(const detail::WatchedViewRef& view, std::string_view ns,
                                            const ReadOptions& read) const {
  auto informers = ForRead(view);
  if (AwaitsWrites(read)) {
    informers->AwaitWrites(ns, options_.own_writes_timeout, cancel_reads_.get_token());
  }
  return informers;
}

Cache::Impl::Informers Cache::Impl::ForRead(const detail::WatchedViewRef& view) const {
  auto informers = Find(view.key);
  const bool rejects = rejects_unsynced_reads_ && !InformerSet::Impl::InHandler();
  const bool needs_sync = rejects || options_.start_informers_on_read;
  if (informers && (!needs_sync || informers->HasSynced())) return informers;
  if (informers && rejects) {
    throw StaleCacheError("the cache has no complete list yet: " +
                          ToString(informers->NotSynced()));
  }
  return Synced(view.describe(view.key));
}

/// Returns the informers after their first lists; adds them if there are none. Throws as the reads
/// do.
Cache::Impl::Informers Cache::Impl::Synced(const detail::WatchedView& view) const {
  if (!options_.start_informers_on_read) {
    throw std::logic_error("the cache does not watch " + WatchHint(view.key, view.kind.kind) +
                           " to the controller, set CacheOptions::start_informers_on_read, or use "
                           "the client");
  }
  {
    const std::shared_lock lock{mutex_};
    if (!running_) {
      throw std::logic_error("the cache of " + view.kind.kind +
                             " objects was read, but it is not running: read it after Start");
    }
  }
  auto informers = FindOrAdd(view, Use::kPermanent);
  const TimePoint start = clock_.Now();
  const Duration limit = options_.sync_timeout;
  const auto wait = [&](const std::stop_token& end) { return informers->WaitForSync(end); };
  const detail::AnyToken cancelled(cancel_reads_.get_token(), ReadScope::stop());
  if (WaitWithLimit(clock_, limit, cancelled.get(), wait)) return informers;
  std::string problem = "the cache has no complete list of " + view.kind.kind + " objects ";
  const bool timed_out = limit > Duration::zero() && clock_.Now() - start >= limit;
  problem += timed_out ? "after " + SecondsText(limit) : "before the stop";
  throw std::runtime_error(problem + ": " + ToString(informers->NotSynced()));
}

std::vector<OwningKind> Cache::Impl::Kinds() const {
  std::vector<OwningKind> kinds;
  for (const Entry& entry : Entries()) kinds.push_back(entry.informers->kind());
  return kinds;
}

std::vector<OwningKind> Cache::Impl::RequiredKinds() const {
  std::vector<OwningKind> kinds;
  for (const Entry& entry : Entries()) {
    if (!entry.wait_if_missing) kinds.push_back(entry.informers->kind());
  }
  return kinds;
}

void Cache::Impl::Start() {
  std::unique_lock lock{mutex_};
  if (stopped_) return;
  running_ = true;
  const auto entries = entries_;  // FindOrAdd starts those that are added later
  lock.unlock();
  for (const auto& [key, entry] : entries) entry.informers->Start();
}

bool Cache::Impl::WaitForSync(const std::vector<Entry>& entries, Duration limit,
                              const std::stop_token& stop) const {
  return WaitWithLimit(clock_, limit, stop, [&](const std::stop_token& end) {
    return std::ranges::all_of(entries, [&](const Entry& entry) {
      return entry.informers->WaitForSync(end) || IsRemoved(entry);
    });
  });
}

/// Returns whether the view was removed while the cache runs. A removed view never syncs.
bool Cache::Impl::IsRemoved(const Entry& entry) const {
  const std::shared_lock lock{mutex_};
  return !stopped_ && entry.informers->IsStopped();
}

bool Cache::Impl::WaitForSync(const std::vector<Entry>& entries,
                              const std::stop_token& stop) const {
  const auto may_wait = [this](const Entry& entry) {
    if (IsRemoved(entry)) return true;
    return std::ranges::all_of(entry.informers->NotSynced(), [&](const UnsyncedInformer& unsynced) {
      return entry.wait_if_missing && unsynced.missing;
    });
  };
  while (!WaitForSync(entries, options_.sync_timeout, stop)) {
    if (stop.stop_requested() || !std::ranges::all_of(entries, may_wait)) return false;
  }
  return true;
}

bool Cache::Impl::WaitForSync(const std::stop_token& stop) const {
  return WaitForSync(Entries(), stop);
}

bool Cache::Impl::WaitForSync(const std::vector<const InformerSet*>& informers,
                              const std::stop_token& stop) const {
  return WaitForSync(Entries(informers), stop);
}

bool Cache::Impl::WaitForSync(Duration limit, const std::stop_token& stop) const {
  return WaitForSync(Entries(), limit, stop);
}

bool Cache::Impl::WaitForSync(const std::vector<const InformerSet*>& informers, Duration limit,
                              const std::stop_token& stop) const {
  return WaitForSync(Entries(informers), limit, stop);
}

std::vector<ObjectMeta> Cache::Impl::MetadataOf(std::string_view informer,
                                                std::size_t limit) const {
  std::vector<ObjectMeta> metadata;
  for (const Entry& entry : Entries()) {
    const auto objects = entry.informers->ObjectsOf(informer, limit);
    if (!objects) continue;
    for (const informer::AnyObject& object : *objects) metadata.push_back(object.metadata());
    break;  // further views of the kind have informers of the same name
  }
  return metadata;
}

std::vector<informer::InformerStatus> Cache::Impl::Statuses() const {
  std::vector<informer::InformerStatus> statuses;
  for (const Entry& entry : Entries()) {
    std::ranges::move(entry.informers->Statuses(), std::back_inserter(statuses));
  }
  return statuses;
}

std::vector<UnsyncedInformer> Cache::Impl::NotSynced() const { return NotSynced(Entries()); }

std::vector<UnsyncedInformer> Cache::Impl::NotSynced(
    const std::vector<const InformerSet*>& informers) const {
  return NotSynced(Entries(informers));
}

std::vector<UnsyncedInformer> Cache::Impl::NotSynced(const std::vector<Entry>& entries) {
  std::vector<UnsyncedInformer> unsynced;
  for (const Entry& entry : entries) {
    std::ranges::move(entry.informers->NotSynced(), std::back_inserter(unsynced));
  }
  return unsynced;
}

std::vector<std::string> Cache::Impl::WaitForHandlers(TimePoint deadline) const {
  std::vector<std::string> busy;
  for (const auto& informers : AllInformers()) {
    std::ranges::move(informers->WaitForHandlers(deadline), std::back_inserter(busy));
  }
  return busy;
}

void Cache::Impl::Stop() {
  {
    const std::unique_lock lock{mutex_};
    running_ = false;  // FindOrAdd starts nothing any more
    stopped_ = true;
  }
  CancelReads();  // handlers may wait in a read
  const auto all = AllInformers();
  for (const auto& informers : all) informers->RequestStop();
  for (const auto& informers : all) informers->Stop();
}

}  // namespace kopp
