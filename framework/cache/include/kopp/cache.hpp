#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kopp/cache_options.hpp>
#include <kopp/http_source.hpp>
#include <kopp/informer/any_object.hpp>
#include <kopp/informer/informer_status.hpp>
#include <kopp/informer/kind_ref.hpp>
#include <kopp/informer/metadata_only.hpp>
#include <kopp/informer/store.hpp>
#include <kopp/informer/unstructured.hpp>
#include <kopp/log.hpp>
#include <kopp/read_your_writes.hpp>
#include <kopp/unsynced_informer.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

class CacheReference;
class InformerSet;
struct ManualInformer;

/// Local copies of the objects of all watched kinds, kept up to date by list and watch. Reads may
/// be stale; use `Client` to read the current state from the API server.
///
/// Reads contain the writes of this program. After the manager's client (`ctx.client`) has written
/// an object, reads of it and of lists with its namespace wait until the cache has received the
/// write, which usually takes milliseconds. They throw StaleCacheError after
/// CacheOptions::own_writes_timeout, and when the calls of `ctx.client` are cancelled: at the
/// timeout of a reconcile (in reads on its thread) or of a graceful shutdown. All other reads
/// return at once, as do reads in handlers of informers and functions of Watches, and reads with
/// `{.await_own_writes = false}`. Two kinds of writes are not awaited: those whose response did not
/// arrive, and evictions.
///
/// The cache has one InformerSet for each view: a struct with KOPP_FIELDS, Whole or MetadataOnly.
/// CacheOptions::ByObject selects the objects of a view. To cache a kind with two selections,
/// define two views. A kind that is only known at run time is named by a KindRef, and has the forms
/// Unstructured and PartialObjectMetadata instead of views.
///
/// Thread-safe.
class Cache : private WriteObserver {
 public:
  /// `transport` and `clock` must outlive the cache. InformerFor throws std::invalid_argument if
  /// a selector or namespace in `options` is not valid.
  Cache(Transport& transport, CacheOptions options, Logger log, Clock& clock);
  /// Watches the namespaces in the comma-separated list `namespaces`; see ParseNamespaces.
  Cache(Transport& transport, std::string_view namespaces, Logger log, Clock& clock)
      : Cache(transport, CacheOptions{.namespaces = ParseNamespaces(namespaces)}, std::move(log),
              clock) {}
  ~Cache() override;

  // Reads. They throw std::logic_error if the view or the namespace is not watched. With
  // CacheOptions::start_informers_on_read, the first read of a view starts to watch it, and reads
  // block until its first list is complete. They throw std::runtime_error if that takes longer than
  // CacheOptions::sync_timeout, and std::logic_error before Start.

  /// Returns the object, or null if the cache has none.
  template <Object T>
  [[nodiscard]] std::shared_ptr<const T> Get(const ObjectKey& key,
                                             const ReadOptions& read = {}) const {
    return GetAny(Key::Of<T>(), SpecOfView<T>, key, read).template As<T>();
  }
  /// Returns the objects of the namespace `ns`, or of all watched namespaces if it is empty, in no
  /// particular order.
  template <Object T>
  [[nodiscard]] std::vector<std::shared_ptr<const T>> List(std::string_view ns = {},
                                                           const ReadOptions& read = {}) const {
    return Typed<T>(ListAny(Key::Of<T>(), SpecOfView<T>, ns, read));
  }

  /// Returns the selected objects, in no particular order unless the options say so.
  template <Object T>
  [[nodiscard]] std::vector<std::shared_ptr<const T>> List(
      const informer::StoreListOptions& options, const ReadOptions& read = {}) const {
    return Typed<T>(ListAny(Key::Of<T>(), SpecOfView<T>, options, read));
  }
  /// Returns the objects for which the index has `value`, in time proportional to their number.
  /// Throws std::logic_error if AddIndex was not called for this index.
  template <Object T>
  [[nodiscard]] std::vector<std::shared_ptr<const T>> ByIndex(std::string_view index,
                                                              std::string_view value,
                                                              const ReadOptions& read = {}) const {
    return Typed<T>(ByIndexAny(Key::Of<T>(), SpecOfView<T>, index, value, read));
  }
  /// Returns the objects with an owner reference to `owner`, in time proportional to their number.
  /// Throws std::logic_error if AddOwnerIndex was not called for `T`.
  template <Object T, Object Owner>
  [[nodiscard]] std::vector<std::shared_ptr<const T>> OwnedBy(const Owner& owner,
                                                              const ReadOptions& read = {}) const {
    return ByIndex<T>(informer::kOwnerIndex, owner.metadata.uid, read);
  }

  // The same reads for a kind that is only known at run time: of whole objects, or of metadata.
  [[nodiscard]] std::shared_ptr<const Unstructured> Get(const KindRef& kind, const ObjectKey& key,
                                                        const ReadOptions& read = {}) const;
  [[nodiscard]] std::vector<std::shared_ptr<const Unstructured>> List(
      const KindRef& kind, std::string_view ns = {}, const ReadOptions& read = {}) const;
  [[nodiscard]] std::shared_ptr<const PartialObjectMetadata> GetMetadata(
      const KindRef& kind, const ObjectKey& key, const ReadOptions& read = {}) const;
  [[nodiscard]] std::vector<std::shared_ptr<const PartialObjectMetadata>> ListMetadata(
      const KindRef& kind, std::string_view ns = {}, const ReadOptions& read = {}) const;

  /// Returns the informers of the view `T`. The first call creates them, so that `T` is watched;
  /// after Start it also starts them. The cache owns them until Remove. Include
  /// <kopp/informer_set.hpp> to use them.
  template <Object T>
  InformerSet& InformerFor() {
    return InformersFor(SpecOf<T>());
  }
  /// The same for a kind that is only known at run time. The objects are of the type Unstructured,
  /// or PartialObjectMetadata with kMetadataOnly.
  InformerSet& InformerFor(const KindRef& kind, ObjectForm form = ObjectForm::kComplete);

  /// The same for a time: when the last copies of all results of Acquire for the view have been
  /// destroyed, the informers are removed as by Remove, unless InformerFor or a read has added
  /// them. That blocks as Remove does. The results may outlive the cache; if the last one is
  /// destroyed while another thread destroys the cache, both block until the informers have ended.
  /// Throws std::system_error if a thread of the informers cannot be started; then the view is not
  /// added.
  template <Object T>
  [[nodiscard]] std::shared_ptr<InformerSet> Acquire() {
    return Acquire(SpecOf<T>());
  }
  [[nodiscard]] std::shared_ptr<InformerSet> Acquire(const KindRef& kind,
                                                     ObjectForm form = ObjectForm::kComplete) {
    return Acquire(SpecOf(kind, form));
  }

  /// Adds an index of the values that `values_of` returns for an object, and watches `T`. May be
  /// called while the cache runs. Throws std::logic_error if `T` has an index with this name. See
  /// informer::AnyIndexFunc. controller-runtime: IndexField.
  template <Object T>
  void AddIndex(const std::string& name,
                std::function<std::vector<std::string>(const T&)> values_of) {
    AddIndex(SpecOf<T>(), name, informer::IndexFuncOf<T>(std::move(values_of)));
  }
  /// Adds the index for OwnedBy, unless there is one, and watches `T`.
  template <Object T>
  void AddOwnerIndex() {
    AddOwnerIndex(SpecOf<T>());
  }

  /// Stops the informers of the view `T` and forgets their objects. Blocks until their threads have
  /// ended; must not be called by a handler. References from InformerFor become invalid. Returns
  /// false if `T` is not watched. controller-runtime: RemoveInformer.
  template <Object T>
  bool Remove() {
    return Remove(detail::CacheKey::Of<T>());
  }
  bool Remove(const KindRef& kind, ObjectForm form = ObjectForm::kComplete) {
    return Remove(detail::CacheKey::Of(kind, form));
  }

  /// Returns the kind of each watched view. Several views may be of one kind.
  [[nodiscard]] std::vector<KindRef> Kinds() const;
  /// Returns the kinds of Kinds() for which CacheOptions::wait_if_missing is false: the API server
  /// must serve them at the start.
  [[nodiscard]] std::vector<KindRef> RequiredKinds() const;

  /// Returns the informers of all views, by kind; see CacheOptions::manual.
  [[nodiscard]] std::vector<ManualInformer> ManualInformers() const;

  /// Starts one thread for each informer, which lists and watches. Call it once. Does nothing after
  /// Stop.
  void Start();
  /// Blocks until the first list of each view is complete, until CacheOptions::sync_timeout has
  /// passed (see also wait_if_missing), or until a stop is requested. Returns whether all lists are
  /// complete; see NotSynced.
  bool WaitForSync(const std::stop_token& stop) const;
  /// The same for those views whose informers are in `informers`.
  bool WaitForSync(const std::vector<const InformerSet*>& informers,
                   const std::stop_token& stop) const;
  /// Returns the informers without a complete first list.
  [[nodiscard]] std::vector<UnsyncedInformer> NotSynced() const;
  [[nodiscard]] std::vector<UnsyncedInformer> NotSynced(
      const std::vector<const InformerSet*>& informers) const;
  /// Returns the state of each informer: objects, last version, failures.
  [[nodiscard]] std::vector<informer::InformerStatus> Statuses() const;
  /// Returns the metadata of the first `limit` objects, by namespace and name, of the informer with
  /// this InformerStatus::name; empty if there is none.
  [[nodiscard]] std::vector<ObjectMeta> MetadataOf(std::string_view informer,
                                                   std::size_t limit) const;
  /// Returns the observer for the clients whose writes the reads of this cache contain.
  [[nodiscard]] WriteObserver& write_observer() { return *this; }
  /// Makes the reads that wait throw: for own writes StaleCacheError, for a first list
  /// std::runtime_error. Later reads that would wait throw at once.
  void CancelReads() { cancel_reads_.request_stop(); }

  /// Calls CancelReads, stops the threads and blocks until they have ended. The objects remain
  /// readable. May be called again. Does not wait for running calls of handlers; the destructor
  /// does.
  void Stop();
  /// Blocks until no handler is being called any more, or until `deadline`. Returns the handlers
  /// that are still being called, for a log: `"foo" of Pod`. Call it after Stop.
  [[nodiscard]] std::vector<std::string> WaitForHandlers(TimePoint deadline) const;

 private:
  using Key = detail::CacheKey;
  using Transform = std::function<void(void* object, ObjectMeta& metadata)>;

  /// The arguments to create the informers of a view.
  struct Spec {
    Key key;
    KindRef kind;
    ObjectForm form;
    AnyHttpSource::Decoder decode;
    Key options;  // of ByObject
  };
  enum class Use { kPermanent, kAcquired };
  struct Entry {
    std::shared_ptr<InformerSet> informers;
    bool wait_if_missing = false;
    bool permanent = false;  // Release does not remove it
    int acquired = 0;        // the number of results of Acquire
  };

  /// Decodes an object, and applies `transform` unless it is empty.
  using DecodeFunction = informer::AnyObject (*)(const JsonObject& text,
                                                 const Transform& transform);

  template <Object T>
  [[nodiscard]] Spec SpecOf() const {
    constexpr auto kForm =
        detail::kIsMetadataOnly<T> ? ObjectForm::kMetadataOnly : ObjectForm::kComplete;
    return SpecOf(
        Key::Of<T>(), T::kKind, kForm,
        [](const JsonObject& text, const Transform& transform) {
          return Transformed(text.Decode<T>(), transform);
        },
        Key::Of<typename detail::ViewsOf<T>::Complete>());
  }
  [[nodiscard]] Spec SpecOf(const KindRef& kind, ObjectForm form) const;
  /// `complete` is the view whose options apply if `key` has none.
  [[nodiscard]] Spec SpecOf(const Key& key, const KindRef& kind, ObjectForm form,
                            DecodeFunction decode, const Key& complete) const;

  template <typename T>
  static informer::AnyObject Transformed(T decoded, const Transform& transform) {
    auto object = std::make_shared<T>(std::move(decoded));
    if (transform) transform(object.get(), object->metadata);
    return std::shared_ptr<const T>(std::move(object));
  }
  [[nodiscard]] Transform TransformOf(const Key& key) const;

  [[nodiscard]] std::shared_ptr<InformerSet> Find(const Key& key) const;
  /// Also starts the informers that it adds, if the cache runs.
  std::shared_ptr<InformerSet> FindOrAdd(const Spec& spec, Use use) const;
  [[nodiscard]] std::shared_ptr<InformerSet> NewInformers(const Spec& spec) const;
  std::shared_ptr<InformerSet> Acquire(const Spec& spec);
  void Release(const Key& key, const std::shared_ptr<InformerSet>& informers);
  [[nodiscard]] bool WaitsIfMissing(const Key& key) const;
  bool Remove(const Key& key);
  /// Removes the entry, and blocks until its informers have ended. `lock` holds mutex_.
  void Remove(std::map<Key, Entry>::iterator entry, std::unique_lock<std::shared_mutex> lock);

  template <Object T>
  static Spec SpecOfView(const Cache& cache) {
    return cache.SpecOf<T>();
  }

  // The reads without the type of the objects. `spec` is called for a view that is not watched.
  [[nodiscard]] informer::AnyObject GetAny(const Key& view, Spec (*spec)(const Cache&),
                                           const ObjectKey& key, const ReadOptions& read) const;
  [[nodiscard]] std::vector<informer::AnyObject> ListAny(const Key& view,
                                                         Spec (*spec)(const Cache&),
                                                         std::string_view ns,
                                                         const ReadOptions& read) const;
  [[nodiscard]] std::vector<informer::AnyObject> ListAny(const Key& view,
                                                         Spec (*spec)(const Cache&),
                                                         const informer::StoreListOptions& options,
                                                         const ReadOptions& read) const;
  [[nodiscard]] std::vector<informer::AnyObject> ByIndexAny(const Key& view,
                                                            Spec (*spec)(const Cache&),
                                                            std::string_view index,
                                                            std::string_view value,
                                                            const ReadOptions& read) const;
  InformerSet& InformersFor(const Spec& spec);
  void AddIndex(const Spec& spec, const std::string& name, const informer::AnyIndexFunc& values_of);
  void AddOwnerIndex(const Spec& spec);

  [[nodiscard]] std::shared_ptr<InformerSet> ForRead(const Key& view,
                                                     Spec (*spec)(const Cache&)) const;
  [[nodiscard]] std::shared_ptr<InformerSet> ForRead(const KindRef& kind, ObjectForm form) const;
  [[nodiscard]] std::shared_ptr<InformerSet> Synced(const Spec& spec) const;
  [[nodiscard]] bool MustAwaitSync(const InformerSet& informers) const;
  [[nodiscard]] std::vector<Entry> Entries() const;
  [[nodiscard]] std::vector<Entry> Entries(const std::vector<const InformerSet*>& informers) const;
  [[nodiscard]] bool WaitForSync(const std::vector<Entry>& entries,
                                 const std::stop_token& stop) const;
  [[nodiscard]] static std::vector<UnsyncedInformer> NotSynced(const std::vector<Entry>& entries);
  /// Returns the informers of all entries, and those that are being removed.
  [[nodiscard]] std::vector<std::shared_ptr<InformerSet>> AllInformers() const;

  void OnWrite(const Kind& kind, const WrittenObject& object) override;
  [[nodiscard]] bool AwaitsWrites(const ReadOptions& read) const;
  /// Return `informers` after they have received this program's writes of the object, or of the
  /// namespace. Throw StaleCacheError.
  [[nodiscard]] std::shared_ptr<InformerSet> AfterWrites(std::shared_ptr<InformerSet> informers,
                                                         const ObjectKey& key,
                                                         const ReadOptions& read) const;
  [[nodiscard]] std::shared_ptr<InformerSet> AfterWrites(std::shared_ptr<InformerSet> informers,
                                                         std::string_view ns,
                                                         const ReadOptions& read) const;

  template <typename T>
  static std::vector<std::shared_ptr<const T>> Typed(
      const std::vector<informer::AnyObject>& objects) {
    std::vector<std::shared_ptr<const T>> typed;
    typed.reserve(objects.size());
    for (const informer::AnyObject& object : objects) typed.push_back(object.template As<T>());
    return typed;
  }

  Transport& transport_;
  CacheOptions options_;
  Logger log_;
  Clock& clock_;
  std::stop_source cancel_reads_;
  const std::shared_ptr<CacheReference> self_;  // for the results of Acquire

  mutable std::shared_mutex mutex_;  // guards the members below; reads share it
  mutable std::map<Key, Entry> entries_;
  std::multimap<Key, Entry> removed_;  // whose threads have not ended
  mutable bool running_ = false;
  bool stopped_ = false;  // Stop was called
};

}  // namespace kopp
