#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kopp/cache_options.hpp>
#include <kopp/detail/watched_view.hpp>
#include <kopp/informer/any_object.hpp>
#include <kopp/informer/informer_status.hpp>
#include <kopp/informer/owning_kind.hpp>
#include <kopp/informer/store.hpp>
#include <kopp/informer/unstructured.hpp>
#include <kopp/log.hpp>
#include <kopp/read_your_writes.hpp>
#include <kopp/unsynced_informer.hpp>
#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/owned_ptr.hpp>

namespace kopp {

class InformerSet;

namespace detail {
struct PrimaryRead;
}  // namespace detail

/// Local copies of the objects of all watched kinds, kept up to date by list and watch. Reads may
/// be stale; use `Client` to read the current state from the API server.
///
/// Reads contain the writes of this program. After the manager's client (`ctx.client`) has written
/// an object, reads of it and of lists with its namespace wait until the cache has received the
/// write, which usually takes milliseconds. They throw StaleCacheError after
/// CacheOptions::own_writes_timeout, and when the calls of `ctx.client` are cancelled: at the
/// timeout of a reconcile (in reads on its thread) or of a graceful shutdown. All other reads
/// return at once, as do reads in handlers of informers and functions of Watches, and reads with
/// `{.await_own_writes = false}`. Evictions, and writes without a response, are not awaited.
///
/// The cache has one InformerSet for each view: a struct with KOPP_FIELDS, Whole or MetadataOnly.
/// CacheOptions::ByObject selects the objects of a view. To cache a kind with two selections,
/// define two views. A kind that is only known at run time is named by an OwningKind, and has the
/// forms Unstructured and PartialObjectMetadata instead of views.
///
/// The manager creates, starts and stops its caches; a program without one uses a StandaloneCache.
/// Thread-safe.
class Cache {
 public:
  class Impl;  // not for users: what the manager calls

  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;

  // Reads. They throw std::logic_error if the view or the namespace is not watched. With
  // CacheOptions::start_informers_on_read, the first read of a view starts to watch it, and reads
  // block until its first list is complete. They throw std::runtime_error if that takes longer than
  // CacheOptions::sync_timeout, and std::logic_error before the start. Lists are in no particular
  // order unless ReadOptions::order says so.

  /// Returns the object, or null if the cache has none.
  template <ApiObject T>
  [[nodiscard]] std::shared_ptr<const T> Get(const ObjectKey& key,
                                             const ReadOptions& read = {}) const {
    return GetAny(ReadRef<T>(), key, read).template As<T>();
  }
  /// Returns the objects of the namespace `ns`, or of all watched namespaces if it is empty.
  template <ApiObject T>
  [[nodiscard]] std::vector<std::shared_ptr<const T>> List(std::string_view ns = {},
                                                           const ReadOptions& read = {}) const {
    return List<T>(Selector{.ns = std::string(ns)}, read);
  }
  /// Returns the selected objects. Throws std::invalid_argument if it selects by fields other than
  /// metadata.name and metadata.namespace: use an index for those.
  template <ApiObject T>
  [[nodiscard]] std::vector<std::shared_ptr<const T>> List(const Selector& selector,
                                                           const ReadOptions& read = {}) const {
    return detail::Typed<T>(ListAny(ReadRef<T>(), selector, read));
  }
  /// Returns the objects for which the index has `value`, in time proportional to their number.
  /// Throws std::logic_error if AddIndex was not called for this index.
  template <ApiObject T>
  [[nodiscard]] std::vector<std::shared_ptr<const T>> ByIndex(std::string_view index,
                                                              std::string_view value,
                                                              const ReadOptions& read = {}) const {
    return detail::Typed<T>(ByIndexAny(ReadRef<T>(), index, value, read));
  }
  /// Returns the objects with an owner reference to `owner`, in time proportional to their number.
  /// Throws std::logic_error if AddOwnerIndex was not called for `T`.
  template <ApiObject T, ApiObject Owner>
  [[nodiscard]] std::vector<std::shared_ptr<const T>> OwnedBy(const Owner& owner,
                                                              const ReadOptions& read = {}) const {
    return ByIndex<T>(informer::kOwnerIndex, owner.metadata.uid, read);
  }

  // The same reads for a kind that is only known at run time: of whole objects, or of metadata.
  [[nodiscard]] std::shared_ptr<const Unstructured> Get(const OwningKind& kind,
                                                        const ObjectKey& key,
                                                        const ReadOptions& read = {}) const;
  [[nodiscard]] std::vector<std::shared_ptr<const Unstructured>> List(
      const OwningKind& kind, std::string_view ns = {}, const ReadOptions& read = {}) const;
  [[nodiscard]] std::shared_ptr<const PartialObjectMetadata> GetMetadata(
      const OwningKind& kind, const ObjectKey& key, const ReadOptions& read = {}) const;
  [[nodiscard]] std::vector<std::shared_ptr<const PartialObjectMetadata>> ListMetadata(
      const OwningKind& kind, std::string_view ns = {}, const ReadOptions& read = {}) const;

  /// Returns the informers of the view `T`. The first call creates them, so that `T` is watched;
  /// after the start it also starts them. The cache owns them until Remove. Include
  /// <kopp/informer_set.hpp> to use them.
  template <ApiObject T>
  InformerSet& InformerFor() {
    return InformersFor(View::Of<T>());
  }
  /// The same for a kind that is only known at run time; `form` is the type of its objects.
  InformerSet& InformerFor(const OwningKind& kind, ObjectForm form = ObjectForm::kComplete);

  /// The same for a time: when the last copies of all results of Acquire for the view have been
  /// destroyed, the informers are removed as by Remove, unless InformerFor or a read has added
  /// them. That blocks as Remove does. The results may outlive the cache; if the last one is
  /// destroyed while another thread destroys the cache, both block until the informers have ended.
  /// Throws std::system_error, and does not add the view, if a thread cannot be started.
  template <ApiObject T>
  [[nodiscard]] std::shared_ptr<InformerSet> Acquire() {
    return Acquire(View::Of<T>());
  }
  [[nodiscard]] std::shared_ptr<InformerSet> Acquire(const OwningKind& kind,
                                                     ObjectForm form = ObjectForm::kComplete) {
    return Acquire(View::Of(kind, form));
  }

  /// Adds an index of the values that `values_of` returns for an object, and watches `T`. May be
  /// called while the cache runs. Throws std::logic_error if `T` has an index with this name. See
  /// informer::AnyIndexFunc. controller-runtime: IndexField.
  template <ApiObject T>
  void AddIndex(const std::string& name,
                std::function<std::vector<std::string>(const T&)> values_of) {
    AddIndex(View::Of<T>(), name, informer::IndexFuncOf<T>(std::move(values_of)));
  }
  /// Adds the index for OwnedBy, unless there is one, and watches `T`.
  template <ApiObject T>
  void AddOwnerIndex() {
    AddOwnerIndex(View::Of<T>());
  }

  /// Stops the informers of the view `T` and forgets their objects. Blocks until their threads have
  /// ended; must not be called by a handler. References from InformerFor become invalid. Returns
  /// false if `T` is not watched. controller-runtime: RemoveInformer.
  template <ApiObject T>
  bool Remove() {
    return Remove(detail::CacheKey::Of<T>());
  }
  bool Remove(const OwningKind& kind, ObjectForm form = ObjectForm::kComplete) {
    return Remove(detail::CacheKey::Of(kind, form));
  }

  /// Returns the kind of each watched view. Several views may be of one kind.
  [[nodiscard]] std::vector<OwningKind> Kinds() const;
  /// Blocks until the first list of each view is complete, until CacheOptions::sync_timeout has
  /// passed (see also wait_if_missing), or until a stop is requested. Returns whether all lists are
  /// complete, except those of views that were removed meanwhile; see NotSynced.
  bool WaitForSync(const std::stop_token& stop) const;
  /// Returns the informers without a complete first list.
  [[nodiscard]] std::vector<UnsyncedInformer> NotSynced() const;
  /// Returns the state of each informer: objects, last version, failures.
  [[nodiscard]] std::vector<informer::InformerStatus> Statuses() const;

 protected:
  Cache(Transport& transport, CacheOptions options, Logger log, Clock& clock);
  ~Cache();

 private:
  friend class StandaloneCache;
  friend struct detail::PrimaryRead;
  using View = detail::WatchedView;
  using ViewRef = detail::WatchedViewRef;
  using AnyObjects = std::vector<informer::AnyObject>;
  template <ApiObject T>
  static ViewRef ReadRef() {
    static_cast<void>(&detail::read_view<T>);
    return ViewRef::Of<T>();
  }
  [[nodiscard]] informer::AnyObject GetAny(const ViewRef& view, const ObjectKey& key,
                                           const ReadOptions& read) const;
  [[nodiscard]] AnyObjects ListAny(const ViewRef& view, const Selector& selector,
                                   const ReadOptions& read) const;
  [[nodiscard]] AnyObjects ByIndexAny(const ViewRef& view, std::string_view index,
                                      std::string_view value, const ReadOptions& read) const;
  InformerSet& InformersFor(const View& view);
  std::shared_ptr<InformerSet> Acquire(const View& view);
  void AddIndex(const View& view, const std::string& name, const informer::AnyIndexFunc& values_of);
  void AddOwnerIndex(const View& view);
  bool Remove(const detail::CacheKey& view);

  detail::OwnedPtr<Impl> impl_;
};

}  // namespace kopp
