#pragma once

#include "cache/informer_set_impl.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <kopp/cache.hpp>
#include <kopp/cache_options.hpp>
#include <kopp/detail/watched_view.hpp>
#include <kopp/informer/informer_status.hpp>
#include <kopp/informer/owning_kind.hpp>
#include <kopp/log.hpp>
#include <kopp/read_your_writes.hpp>
#include <kopp/unsynced_informer.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

class CacheReference;

/// The internal interface of a cache, for its cluster and its manager. Functions without a comment
/// are those of Cache. Thread-safe.
class Cache::Impl final : public WriteObserver {
 public:
  Impl(Transport& transport, CacheOptions options, Logger log, Clock& clock);
  /// Calls Stop, and blocks until no handler is being called any more.
  ~Impl() override;

  /// Returns the implementation of `cache`.
  [[nodiscard]] static Impl& Of(const Cache& cache) { return *cache.impl_; }

  /// Return the informers of a view for a read of one object, or of a namespace, which is empty for
  /// all. They have received the writes of this program that the read contains. Throw as the reads
  /// of Cache do.
  [[nodiscard]] std::shared_ptr<InformerSet::Impl> ForRead(const detail::WatchedViewRef& view,
                                                           const ObjectKey& key,
                                                           const ReadOptions& read) const;
  [[nodiscard]] std::shared_ptr<InformerSet::Impl> ForRead(const detail::WatchedViewRef& view,
                                                           std::string_view ns,
                                                           const ReadOptions& read) const;

  InformerSet& InformersFor(const detail::WatchedView& view);
  std::shared_ptr<InformerSet> Acquire(const detail::WatchedView& view);
  bool Remove(const detail::CacheKey& view);

  /// Returns whether reads of the view throw because nothing watches it.
  [[nodiscard]] bool RejectsReads(const detail::CacheKey& view) const;
  [[nodiscard]] std::vector<OwningKind> Kinds() const;
  /// Returns the kinds of Kinds() for which CacheOptions::wait_if_missing is false: the API server
  /// must serve them at the start.
  [[nodiscard]] std::vector<OwningKind> RequiredKinds() const;
  /// Returns the informers of all views, by kind; see CacheOptions::manual.
  [[nodiscard]] std::vector<ManualInformer> ManualInformers() const;

  void Start();
  bool WaitForSync(const std::stop_token& stop) const;
  /// The same for those views whose informers are in `informers`.
  bool WaitForSync(const std::vector<const InformerSet*>& informers,
                   const std::stop_token& stop) const;
  /// The same with a time limit instead of CacheOptions::sync_timeout. 0: none.
  bool WaitForSync(Duration limit, const std::stop_token& stop) const;
  bool WaitForSync(const std::vector<const InformerSet*>& informers, Duration limit,
                   const std::stop_token& stop) const;
  [[nodiscard]] std::vector<UnsyncedInformer> NotSynced() const;
  [[nodiscard]] std::vector<UnsyncedInformer> NotSynced(
      const std::vector<const InformerSet*>& informers) const;
  [[nodiscard]] std::vector<informer::InformerStatus> Statuses() const;
  /// Returns the metadata of the first `limit` objects, by namespace and name, of the informer with
  /// this InformerStatus::name; empty if there is none.
  [[nodiscard]] std::vector<ObjectMeta> MetadataOf(std::string_view informer,
                                                   std::size_t limit) const;
  void OnWrite(const Kind& kind, const WrittenObject& object) override;
  [[nodiscard]] std::optional<std::string> FindOwned(const Kind& kind, const ObjectKey& key,
                                                     std::string_view owner_uid) const override;
  /// Makes reads of a view throw StaleCacheError until its first lists are complete, except in
  /// handlers, whose events would be lost. Call it before Start.
  void RejectUnsyncedReads() { rejects_unsynced_reads_ = true; }
  /// Makes the reads that wait throw: for own writes StaleCacheError, for a first list
  /// std::runtime_error. Later reads that would wait throw at once.
  void CancelReads() { cancel_reads_.request_stop(); }

  /// Calls CancelReads, stops the threads and blocks until they have ended.
  void Stop();
  /// Blocks until no handler is being called any more, or until `deadline`. Returns the handlers
  /// that are still being called, for a log: `"foo" of Pod`. Call it after Stop.
  [[nodiscard]] std::vector<std::string> WaitForHandlers(TimePoint deadline) const;

 private:
  using Key = detail::CacheKey;
  using Informers = std::shared_ptr<InformerSet::Impl>;
  enum class Use { kPermanent, kAcquired };
  struct Entry {
    Informers informers;
    bool wait_if_missing = false;
    bool permanent = false;  // Release does not remove it
    int acquired = 0;        // the number of results of Acquire
  };

  /// Returns the view whose options apply.
  [[nodiscard]] const Key& OptionsOf(const detail::WatchedView& view) const;
  [[nodiscard]] AnyHttpSource::Decoder DecoderOf(const detail::WatchedView& view) const;
  [[nodiscard]] detail::CacheTransform TransformOf(const Key& key) const;

  [[nodiscard]] Informers Find(const Key& key) const;
  /// Also starts the informers that it adds, if the cache runs.
  Informers FindOrAdd(const detail::WatchedView& view, Use use) const;
  [[nodiscard]] Informers NewInformers(const detail::WatchedView& view) const;
  void Release(const Key& key, const Informers& informers);
  [[nodiscard]] bool WaitsIfMissing(const Key& key) const;
  /// Removes the entry, and blocks until its informers have ended. `lock` holds mutex_.
  void Remove(std::map<Key, Entry>::iterator entry, std::unique_lock<std::shared_mutex> lock);

  [[nodiscard]] Informers ForRead(const detail::WatchedViewRef& view) const;
  [[nodiscard]] Informers Synced(const detail::WatchedView& view) const;
  [[nodiscard]] std::vector<Entry> Entries() const;
  [[nodiscard]] std::vector<Entry> Entries(const std::vector<const InformerSet*>& informers) const;
  [[nodiscard]] bool IsRemoved(const Entry& entry) const;
  [[nodiscard]] bool WaitForSync(const std::vector<Entry>& entries,
                                 const std::stop_token& stop) const;
  [[nodiscard]] bool WaitForSync(const std::vector<Entry>& entries, Duration limit,
                                 const std::stop_token& stop) const;
  [[nodiscard]] static std::vector<UnsyncedInformer> NotSynced(const std::vector<Entry>& entries);
  /// Returns the informers of all entries, and those that are being removed.
  [[nodiscard]] std::vector<Informers> AllInformers() const;
  [[nodiscard]] bool AwaitsWrites(const ReadOptions& read) const;

  Transport& transport_;
  CacheOptions options_;
  Logger log_;
  Clock& clock_;
  bool rejects_unsynced_reads_ = false;
  std::stop_source cancel_reads_;
  const std::shared_ptr<CacheReference> self_;  // for the results of Acquire

  mutable std::shared_mutex mutex_;  // guards the members below; reads share it
  mutable std::map<Key, Entry> entries_;
  std::multimap<Key, Entry> removed_;  // whose threads have not ended
  mutable bool running_ = false;
  bool stopped_ = false;  // Stop was called
};

}  // namespace kopp
