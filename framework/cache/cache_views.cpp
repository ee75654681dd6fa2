// The views of a Cache: how they are added and removed.
#include "cache_reference.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <kopp/cache.hpp>
#include <kopp/informer_set.hpp>

namespace kopp {

Cache::Cache(Transport& transport, CacheOptions options, Logger log, Clock& clock)
    : transport_(transport),
      options_(std::move(options)),
      log_(std::move(log)),
      clock_(clock),
      self_(std::make_shared<CacheReference>(*this)) {}

Cache::~Cache() {
  Stop();
  self_->Expire();                                       // a running Release uses this cache
  static_cast<void>(WaitForHandlers(TimePoint::max()));  // they may read this cache
}

std::shared_ptr<InformerSet> Cache::Find(const Key& key) const {
  const std::shared_lock lock{mutex_};
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : found->second.informers;
}

std::shared_ptr<InformerSet> Cache::FindOrAdd(const Spec& spec, Use use) const {
  // If Start throws, they are destroyed after the lock, because that waits for threads.
  std::shared_ptr<InformerSet> added;
  const std::unique_lock lock{mutex_};
  auto found = entries_.find(spec.key);
  if (found == entries_.end()) {
    added = NewInformers(spec);
    // Before they are added: other threads must not find informers without threads.
    if (running_) added->Start();
    found = entries_.emplace(spec.key, Entry{added, WaitsIfMissing(spec.options)}).first;
  }
  Entry& entry = found->second;
  if (use == Use::kPermanent) {
    entry.permanent = true;
  } else {
    ++entry.acquired;
  }
  return entry.informers;
}

/// Requires: the mutex is held.
std::shared_ptr<InformerSet> Cache::NewInformers(const Spec& spec) const {
  return std::make_shared<InformerSet>(
      transport_,
      InformerSet::Options{.kind = spec.kind,
                           .form = spec.form,
                           .decode = spec.decode,
                           .filters = detail::CacheFilters(options_, spec.options, spec.kind.scope),
                           .log = log_,
                           .clock = clock_,
                           .on_error = options_.on_error,
                           .on_skipped = options_.on_skipped,
                           .metrics = options_.metrics,
                           .use_watch_list = options_.use_watch_list,
                           // The program may have written objects that nobody has recorded.
                           .consistent_start = running_ || options_.consistent_start,
                           .audit_interval = options_.audit_interval,
                           .manual = options_.manual});
}

bool Cache::WaitsIfMissing(const Key& key) const {
  const auto own = options_.by_object.find(key);
  if (own == options_.by_object.end()) return options_.wait_if_missing;
  return own->second.wait_if_missing.value_or(options_.wait_if_missing);
}

std::shared_ptr<InformerSet> Cache::Acquire(const Spec& spec) {
  auto informers = FindOrAdd(spec, Use::kAcquired);
  InformerSet* const pointer = informers.get();
  const auto release = [self = self_, key = spec.key,
                        informers = std::move(informers)](InformerSet*) {
    self->Use([&](Cache& cache) { cache.Release(key, informers); });
  };
  return {pointer, release};
}

/// Removes the informers if this was their last use.
void Cache::Release(const Key& key, const std::shared_ptr<InformerSet>& informers) {
  std::unique_lock lock{mutex_};
  const auto found = entries_.find(key);
  // After Remove, the entry may be another one.
  if (found == entries_.end() || found->second.informers != informers) return;
  if (--found->second.acquired == 0 && !found->second.permanent) Remove(found, std::move(lock));
}

bool Cache::Remove(const Key& key) {
  std::unique_lock lock{mutex_};
  const auto found = entries_.find(key);
  if (found == entries_.end()) return false;
  Remove(found, std::move(lock));
  return true;
}

void Cache::Remove(std::map<Key, Entry>::iterator entry, std::unique_lock<std::shared_mutex> lock) {
  const auto removed = removed_.insert(entries_.extract(entry));
  const std::shared_ptr<InformerSet> informers = removed->second.informers;
  lock.unlock();
  informers->Stop();
  static_cast<void>(informers->WaitForHandlers(TimePoint::max()));
  lock.lock();
  removed_.erase(removed);
  lock.unlock();  // before `informers` are destroyed
}

std::vector<Cache::Entry> Cache::Entries() const {
  const std::shared_lock lock{mutex_};
  std::vector<Entry> entries;
  entries.reserve(entries_.size());
  for (const auto& [key, entry] : entries_) entries.push_back(entry);
  return entries;
}

std::vector<Cache::Entry> Cache::Entries(const std::vector<const InformerSet*>& informers) const {
  std::vector<Entry> entries = Entries();
  std::erase_if(entries, [&](const Entry& entry) {
    return std::ranges::find(informers, entry.informers.get()) == informers.end();
  });
  return entries;
}

std::vector<ManualInformer> Cache::ManualInformers() const {
  std::vector<ManualInformer> all;
  for (const Entry& entry : Entries()) {
    std::ranges::move(entry.informers->ManualInformers(), std::back_inserter(all));
  }
  std::ranges::stable_sort(all, {}, &ManualInformer::kind);
  return all;
}

std::vector<std::shared_ptr<InformerSet>> Cache::AllInformers() const {
  const std::shared_lock lock{mutex_};
  std::vector<std::shared_ptr<InformerSet>> all;
  all.reserve(entries_.size() + removed_.size());
  for (const auto& [key, entry] : entries_) all.push_back(entry.informers);
  for (const auto& [key, entry] : removed_) all.push_back(entry.informers);
  return all;
}

}  // namespace kopp
