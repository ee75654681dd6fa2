// The views of a Cache: how they are added and removed.
#include "base/option_checks.hpp"
#include "cache/cache_impl.hpp"
#include "cache_reference.hpp"

#include <algorithm>
#include <exception>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <kopp/detail/watched_view.hpp>
#include <kopp/informer/detail/exception_text.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {
namespace detail {
namespace {

Guarded<std::vector<WatchedViewRef>>& ReadViewsOfProgram() {
  static Guarded<std::vector<WatchedViewRef>> views;
  return views;
}

}  // namespace

std::vector<WatchedViewRef> ReadViews() { return *ReadViewsOfProgram().Lock(); }

bool AddReadView(WatchedViewRef view) {
  ReadViewsOfProgram().Lock()->push_back(std::move(view));
  return true;
}

}  // namespace detail

Cache::Impl::Impl(Transport& transport, CacheOptions options, Logger log, Clock& clock)
    : transport_(transport),
      options_(std::move(options)),
      log_(std::move(log)),
      clock_(clock),
      self_(std::make_shared<CacheReference>(*this)) {
  detail::RequireNotNegative("CacheOptions::sync_timeout", options_.sync_timeout);
  detail::RequireNotNegative("CacheOptions::own_writes_timeout", options_.own_writes_timeout);
  detail::RequireNotNegative("CacheOptions::audit_interval", options_.audit_interval);
}

Cache::Impl::~Impl() {
  Stop();
  self_->Expire();                                       // a running Release uses this cache
  static_cast<void>(WaitForHandlers(TimePoint::max()));  // they may read this cache
}

Cache::Impl::Informers Cache::Impl::Find(const Key& key) const {
  const std::shared_lock lock{mutex_};
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : found->second.informers;
}

Cache::Impl::Informers Cache::Impl::FindOrAdd(const detail::WatchedView& view, Use use) const {
  // If Start throws, they are destroyed after the lock, because that waits for threads.
  Informers added;
  const std::unique_lock lock{mutex_};
  auto found = entries_.find(view.key);
  if (found == entries_.end()) {
    added = NewInformers(view);
    // Before they are added: other threads must not find informers without threads.
    if (running_) added->Start();
    found = entries_.emplace(view.key, Entry{added, WaitsIfMissing(OptionsOf(view))}).first;
  }
  Entry& entry = found->second;
  if (use == Use::kPermanent) {
    entry.permanent = true;
  } else {
    ++entry.acquired;
  }
  return entry.informers;
}

InformerSet& Cache::Impl::InformersFor(const detail::WatchedView& view) {
  return *FindOrAdd(view, Use::kPermanent);
}

/// Requires: the mutex is held.
Cache::Impl::Informers Cache::Impl::NewInformers(const detail::WatchedView& view) const {
  return std::make_shared<InformerSet::Impl>(
      transport_, InformerSet::Impl::Options{
                      .kind = view.kind,
                      .form = view.form,
                      .decode = DecoderOf(view),
                      .selectors = detail::SelectorsOf(options_, OptionsOf(view), view.kind.scope),
                      .log = log_,
                      .clock = clock_,
                      .on_error = options_.on_error,
                      .on_skipped = options_.on_skipped,
                      .metrics = options_.metrics,
                      .use_watch_list = options_.use_watch_list,
                      // The program may have written objects whose writes were not recorded.
                      .consistent_start = running_ || options_.consistent_start,
                      .audit_interval = options_.audit_interval,
                      .manual = options_.manual});
}

bool Cache::Impl::RejectsReads(const Key& view) const {
  return !options_.start_informers_on_read && !Find(view);
}

const detail::CacheKey& Cache::Impl::OptionsOf(const detail::WatchedView& view) const {
  return options_.by_object.contains(view.key) ? view.key : view.complete;
}

AnyHttpSource::Decoder Cache::Impl::DecoderOf(const detail::WatchedView& view) const {
  return [decode = view.decode, kind = view.kind, transform = TransformOf(view.key)](
             const JsonObject& text) { return decode(text, kind, transform); };
}

/// Returns the transform of `key`, or the default. It throws DecodeError in place of any other
/// exception, so that the source skips the object. It keeps the name, namespace, uid and
/// resourceVersion, by which the cache identifies and orders the states of objects.
detail::CacheTransform Cache::Impl::TransformOf(const Key& key) const {
  const auto found = options_.by_object.find(key);
  const auto own = found == options_.by_object.end() ? nullptr : found->second.transform;
  if (!own && !options_.transform) return {};
  return [own, of_metadata = options_.transform](void* object, ObjectMeta& metadata) {
    ObjectMeta identity{.name = metadata.name,
                        .ns = metadata.ns,
                        .uid = metadata.uid,
                        .resourceVersion = metadata.resourceVersion};
    try {
      own ? own(object) : of_metadata(metadata);
    } catch (const std::exception& error) {
      throw DecodeError(DecodeError::Kind::kTypeMismatch, "",
                        "the transform threw: " + detail::ExceptionText(error));
    } catch (...) {
      throw DecodeError(DecodeError::Kind::kTypeMismatch, "",
                        "the transform threw an exception that is not a std::exception");
    }
    metadata.name = std::move(identity.name);
    metadata.ns = std::move(identity.ns);
    metadata.uid = std::move(identity.uid);
    metadata.resourceVersion = std::move(identity.resourceVersion);
  };
}

bool Cache::Impl::WaitsIfMissing(const Key& key) const {
  const auto own = options_.by_object.find(key);
  if (own == options_.by_object.end()) return options_.wait_if_missing;
  return own->second.wait_if_missing.value_or(options_.wait_if_missing);
}

std::shared_ptr<InformerSet> Cache::Impl::Acquire(const detail::WatchedView& view) {
  auto informers = FindOrAdd(view, Use::kAcquired);
  InformerSet* const pointer = informers.get();
  const auto release = [self = self_, key = view.key,
                        informers = std::move(informers)](InformerSet*) {
    self->Use([&](Impl& cache) { cache.Release(key, informers); });
  };
  return {pointer, release};
}

/// Removes the informers if this was their last use.
void Cache::Impl::Release(const Key& key, const Informers& informers) {
  std::unique_lock lock{mutex_};
  const auto found = entries_.find(key);
  // After Remove, the entry may be another one.
  if (found == entries_.end() || found->second.informers != informers) return;
  if (--found->second.acquired == 0 && !found->second.permanent) Remove(found, std::move(lock));
}

bool Cache::Impl::Remove(const Key& key) {
  std::unique_lock lock{mutex_};
  const auto found = entries_.find(key);
  if (found == entries_.end()) return false;
  Remove(found, std::move(lock));
  return true;
}

void Cache::Impl::Remove(std::map<Key, Entry>::iterator entry,
                         std::unique_lock<std::shared_mutex> lock) {
  const auto removed = removed_.insert(entries_.extract(entry));
  const Informers informers = removed->second.informers;
  lock.unlock();
  informers->Stop();
  static_cast<void>(informers->WaitForHandlers(TimePoint::max()));
  lock.lock();
  removed_.erase(removed);
  lock.unlock();  // before `informers` are destroyed
}

std::vector<Cache::Impl::Entry> Cache::Impl::Entries() const {
  const std::shared_lock lock{mutex_};
  std::vector<Entry> entries;
  entries.reserve(entries_.size());
  for (const auto& [key, entry] : entries_) entries.push_back(entry);
  return entries;
}

std::vector<Cache::Impl::Entry> Cache::Impl::Entries(
    const std::vector<const InformerSet*>& informers) const {
  std::vector<Entry> entries = Entries();
  std::erase_if(entries, [&](const Entry& entry) {
    return std::ranges::find(informers, entry.informers.get()) == informers.end();
  });
  return entries;
}

std::vector<ManualInformer> Cache::Impl::ManualInformers() const {
  std::vector<ManualInformer> all;
  for (const Entry& entry : Entries()) {
    std::ranges::move(entry.informers->ManualInformers(), std::back_inserter(all));
  }
  std::ranges::stable_sort(all, {}, &ManualInformer::kind);
  return all;
}

std::vector<Cache::Impl::Informers> Cache::Impl::AllInformers() const {
  const std::shared_lock lock{mutex_};
  std::vector<Informers> all;
  all.reserve(entries_.size() + removed_.size());
  for (const auto& [key, entry] : entries_) all.push_back(entry.informers);
  for (const auto& [key, entry] : removed_) all.push_back(entry.informers);
  return all;
}

}  // namespace kopp
