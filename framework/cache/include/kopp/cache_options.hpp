#pragma once

#include <chrono>
#include <compare>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <typeindex>
#include <typeinfo>
#include <utility>
#include <vector>

#include <kopp/client_options.hpp>
#include <kopp/http_source.hpp>
#include <kopp/informer/informer_error.hpp>
#include <kopp/informer/metadata_only.hpp>
#include <kopp/informer/metrics.hpp>
#include <kopp/informer/owning_kind.hpp>
#include <kopp/informer/unstructured.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// The labels and fields of the Selector of an informer. A part that is not set is inherited; see
/// CacheOptions.
struct CacheSelector {
  std::optional<LabelSelector> labels = {};  ///< "app=web"; "": not restricted
  std::optional<FieldSelector> fields = {};  ///< "status.phase=Running"; "": not restricted
};

/// The namespaces that a cache watches, each with its selectors. The name "" means all namespaces
/// that are not in the map. An empty map means all namespaces.
using CacheNamespaces = std::map<std::string, CacheSelector>;

/// Returns the namespaces of a comma-separated list such as "shop,web", without selectors; all
/// namespaces for an empty text. Throws std::invalid_argument for an invalid name.
[[nodiscard]] CacheNamespaces ParseNamespaces(std::string_view text);

struct CacheOptions;

/// Replaces `options.namespaces` by those in the comma-separated list `text`, which keep their
/// selectors; no effect if it is empty. Throws std::invalid_argument for an invalid name.
void RestrictNamespaces(CacheOptions& options, std::string_view text);

/// Options of a cache for the objects of one view; see CacheOptions::ByObject.
template <typename T>
struct ObjectCacheOptions {
  CacheNamespaces namespaces = {};  ///< empty: CacheOptions::namespaces
  CacheSelector selector = {};
  /// Changes each object before it is stored, for example to drop what the program does not read.
  /// Changes of the name, namespace, uid and resourceVersion have no effect. Keep
  /// `ownerReferences` and `deletionTimestamp`: handlers read them. The function must give the same
  /// result if it is applied twice. It is called on the threads of informers, also on several at
  /// once. If it throws, the object is skipped, like an object that does not fit its view. Empty:
  /// CacheOptions::transform. It does not apply to MetadataOnly<T>, which `Owns` without Cached()
  /// uses.
  std::function<void(T&)> transform = {};
  std::optional<bool> wait_if_missing = {};  ///< not set: CacheOptions::wait_if_missing
};

namespace detail {

/// Identifies an informer of a cache: a view type, or one of the two forms without a view
/// (Unstructured, PartialObjectMetadata) and its kind.
struct CacheKey {
  std::type_index form;
  OwningKind kind = {};  // empty for a view type, which has a kind

  template <ApiObject T>
  static CacheKey Of() {
    return {typeid(T)};
  }
  static CacheKey Of(OwningKind kind, ObjectForm form) {
    const bool complete = form == ObjectForm::kComplete;
    return {complete ? typeid(Unstructured) : typeid(PartialObjectMetadata), std::move(kind)};
  }
  friend auto operator<=>(const CacheKey&, const CacheKey&) = default;
};

/// ObjectCacheOptions without the type of the object.
struct AnyObjectCacheOptions {
  template <typename T>
  static AnyObjectCacheOptions From(ObjectCacheOptions<T> options) {
    AnyObjectCacheOptions any{
        std::move(options.namespaces), std::move(options.selector), {}, options.wait_if_missing};
    if (options.transform) {
      any.transform = [transform = std::move(options.transform)](void* object) {
        transform(*static_cast<T*>(object));
      };
    }
    return any;
  }

  CacheNamespaces namespaces = {};
  CacheSelector selector = {};
  std::function<void(void* object)> transform = {};
  std::optional<bool> wait_if_missing = {};
};

}  // namespace detail

/// Options of a Cache: which objects it watches, and how it treats kinds that it does not watch
/// yet. The defaults watch all objects of each watched kind.
///
///     kopp::CacheOptions cache{.namespaces = {{"shop", {}}, {"web", {}}}};
///     cache.ByObject<kopp::Pod>({.selector = {.labels = "app=web"}});
///     kopp::Manager manager{kopp::Options{.cache = cache}};
///
/// Each selector is taken from the first of these that sets it: ByObject for the namespace,
/// ByObject, `namespaces`, `selector`. An object that stops matching is a deletion for the cache.
/// Namespaces have no effect on cluster-scoped kinds. controller-runtime: cache.Options.
struct CacheOptions {
  CacheNamespaces namespaces = {};
  CacheSelector selector = {};
  /// Changes the metadata of each object before it is stored; see ObjectCacheOptions::transform.
  std::function<void(ObjectMeta&)> transform = {};

  /// Behaviour of a read of a view that is not watched. false: it throws std::logic_error. true: it
  /// starts to watch the view and waits for the first list, as in controller-runtime.
  bool start_informers_on_read = false;

  /// Behaviour of the start if the API server does not serve a watched kind. false: the start
  /// fails. true: it waits until the kind's CustomResourceDefinition is installed. The informer
  /// tries again after at most a minute. `sync_timeout` does not apply while the answer to its
  /// lists is 404.
  bool wait_if_missing = false;

  /// The time limit for the first lists of all watched kinds, and of a kind that a read starts to
  /// watch; 0: no limit. controller-runtime: CacheSyncTimeout.
  Duration sync_timeout = std::chrono::minutes(2);

  /// How long a read waits for the program's own writes, before it throws StaleCacheError. 0: the
  /// manager does not report its writes to the cache, and reads do not wait.
  Duration own_writes_timeout = std::chrono::seconds(5);

  /// Lists with a watch that sends the existing objects first (WatchList), where the API server
  /// supports that. See informer::ReflectorOptions.
  bool use_watch_list = false;
  /// The first lists have the newest objects, not those that an API server has cached, which may
  /// be older. It costs a read of etcd. Lists of views that are added after the start always have.
  bool consistent_start = false;
  /// The mean time between audits, each of which compares an informer with a list of the same
  /// version and corrects differences; 0: never. See informer::ReflectorOptions.
  Duration audit_interval{};

  /// For simulations: the informers get no threads. StandaloneCache::Start is never called; the
  /// simulation feeds the informers, and handlers run in its thread.
  bool manual = false;

  /// Called with the exception if a list or watch fails or a handler throws; on several threads at
  /// once. Problems are logged, whether or not it is set. client-go: WatchErrorHandler.
  std::function<void(const informer::InformerError&)> on_error = {};

  /// Called for each object that is skipped because it does not fit its view, if its metadata can
  /// be read; on several threads at once. The problem is logged, whether or not it is set. A
  /// Manager also records an Event.
  std::function<void(const SkippedObject&)> on_skipped = {};

  /// Exports the state of each informer; must outlive the cache. Manager sets it.
  informer::InformerMetrics* metrics = nullptr;

  /// Sets the options for the objects of the view `T`. They also apply to MetadataOnly<T>, except
  /// `transform`, unless it has options of its own. Returns *this.
  template <ApiObject T>
  CacheOptions& ByObject(ObjectCacheOptions<T> options) {
    return Set(detail::CacheKey::Of<T>(), detail::AnyObjectCacheOptions::From(std::move(options)));
  }
  /// Sets the options for the objects of a kind that is only known at run time.
  CacheOptions& ByObject(const OwningKind& kind, ObjectCacheOptions<Unstructured> options) {
    return Set(detail::CacheKey::Of(kind, ObjectForm::kComplete),
               detail::AnyObjectCacheOptions::From(std::move(options)));
  }
  CacheOptions& ByObject(const OwningKind& kind,
                         ObjectCacheOptions<PartialObjectMetadata> options) {
    return Set(detail::CacheKey::Of(kind, ObjectForm::kMetadataOnly),
               detail::AnyObjectCacheOptions::From(std::move(options)));
  }

  /// The part of ByObject that does not depend on the view. Returns *this.
  CacheOptions& Set(detail::CacheKey view, detail::AnyObjectCacheOptions options);

  /// Set by ByObject.
  std::map<detail::CacheKey, detail::AnyObjectCacheOptions> by_object = {};
};

namespace detail {

/// Returns the selectors of the informers for `key`: one for each namespace, or one for all of
/// them.
[[nodiscard]] std::vector<Selector> SelectorsOf(const CacheOptions& options, const CacheKey& key,
                                                Scope scope);

}  // namespace detail
}  // namespace kopp
