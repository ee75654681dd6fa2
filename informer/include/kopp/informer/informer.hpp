#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kopp/informer/detail/reflector.hpp>
#include <kopp/informer/detail/store_version.hpp>
#include <kopp/informer/event_handler.hpp>
#include <kopp/informer/informer_error.hpp>
#include <kopp/informer/informer_status.hpp>
#include <kopp/informer/metrics.hpp>
#include <kopp/informer/store.hpp>
#include <kopp/workqueue/random_source.hpp>

namespace kopp::informer {

/// Options of an informer. The callbacks are called on the informer's thread, on the threads of
/// handlers and on threads that call AddHandler or AddIndex, possibly at the same time. They must
/// be thread-safe and must not throw.
struct InformerOptions {
  Clock& clock = Clock::Real();  ///< must outlive the informer

  /// The seed of the jitter of timeouts and back-off.
  std::uint64_t seed = workqueue::RandomSeed();
  bool use_watch_list = false;                                 ///< as in ReflectorOptions
  bool consistent_start = false;                               ///< as in ReflectorOptions
  Duration audit_interval{};                                   ///< as in ReflectorOptions
  std::function<void(const CacheDrift& drift)> on_drift = {};  ///< as in ReflectorOptions
  /// As ReflectorOptions::on_problem. Also called if a handler or an index function throws, and if
  /// a handler has been busy with one event for a minute.
  std::function<void(const std::string& problem, bool minor)> on_problem = {};
  std::string name = {};  ///< of the informer, in errors and metrics: "pods"
  std::string kind = {};  ///< of its objects, in metrics: "Pod"
  /// Called with the exception if a list or watch fails or a handler throws. client-go:
  /// WatchErrorHandler.
  std::function<void(const InformerError&)> on_error = {};
  InformerMetrics* metrics = nullptr;  ///< must outlive the informer; null: no metrics
};

/// Lists and watches all objects of a kind, keeps them in a store and notifies handlers of changes.
///
/// Thread-safe. client-go: SharedIndexInformer, with three differences. An exception from a handler
/// is reported, and the other handlers still get the event; in client-go a panic ends the program.
/// If an object was deleted and created again and the deletion event was missed, handlers get a
/// delete and an add; in client-go they get an update. The pending events of a slow handler are
/// merged per object; in client-go they pile up.
class AnyInformer : private AnyReflector::Sink {
 public:
  /// `source` must outlive the informer.
  explicit AnyInformer(AnySource& source, InformerOptions options = {});
  /// Blocks until the running calls of handlers have returned.
  ~AnyInformer() override;
  AnyInformer(const AnyInformer&) = delete;
  AnyInformer& operator=(const AnyInformer&) = delete;

  /// Adds a handler, before or while the informer runs. A handler that is added after the first
  /// list gets an add for each object of the store, and then every later event. Throws
  /// std::logic_error after Run has returned, and std::invalid_argument for a negative resync.
  HandlerRegistration AddHandler(AnyEventHandler handler, HandlerOptions options = {});
  /// Adds a handler with the resync period `resync`.
  HandlerRegistration AddHandler(AnyEventHandler handler, Duration resync) {
    return AddHandler(std::move(handler), HandlerOptions{.resync = resync});
  }

  /// As AnyStore::AddIndex. May also be called while the informer runs.
  void AddIndex(std::string name, AnyIndexFunc values_of) {
    store_.AddIndex(std::move(name), std::move(values_of));
  }
  /// As AnyStore::AddOwnerIndex. May also be called while the informer runs.
  void AddOwnerIndex() { store_.AddOwnerIndex(); }

  /// Runs the informer; blocks until `stop` is requested. Call it once. Failures of the source are
  /// reported and retried. The store stays readable after Run has returned.
  ///
  /// After a stop, handlers get no further calls, but Run does not wait for calls that are running
  /// on the threads of handlers: see WaitForHandlers.
  void Run(const std::stop_token& stop);

  /// Blocks until no handler is being called any more, or until `deadline`. Returns whether all
  /// calls have ended. Call it after Run has returned.
  [[nodiscard]] bool WaitForHandlers(TimePoint deadline) const;

  /// The store; it lives as long as the informer.
  [[nodiscard]] const AnyStore& store() const { return store_; }

  /// Returns the receiver of lists and events. A simulation calls it in its own thread instead of
  /// Run; nothing else may call it.
  [[nodiscard]] AnyReflector::Sink& sink() { return *this; }

  /// The resource version of the store, and waits for a version; it lives as long as the informer.
  [[nodiscard]] const StoreVersion& version() const { return version_; }

  /// Returns whether the store has the first list. The handlers with Delivery::kInformerThread have
  /// been called for it; for the others see HandlerRegistration::HasSynced.
  [[nodiscard]] bool HasSynced() const { return *synced_.Lock(); }

  /// Blocks until the informer has synced or `stop` is requested. Returns HasSynced().
  bool WaitForSync(const std::stop_token& stop) const;

  /// Returns the current state, for metrics and debugging.
  [[nodiscard]] InformerStatus Status() const;

 private:
  using Runners = std::vector<std::shared_ptr<detail::HandlerRunner>>;

  struct Handlers {
    std::shared_ptr<const Runners> runners = std::make_shared<const Runners>();  // copied to change
    std::size_t added = 0;  // in all, for default names
    bool store_has_first_list = false;
    bool running = false;
    bool stopped = false;
  };

  struct Statistics {
    InformerStatus status = {};  // without what Status() reads elsewhere
    TimePoint version_time{};    // of the last list, event or bookmark
  };

  // AnyReflector::Sink
  void Replace(std::vector<AnyObject> objects, const std::vector<ObjectKey>& skipped_keys) override;
  void ApplyEvent(const WatchItem& event) override;
  [[nodiscard]] std::vector<AnyObject> Objects() const override { return store_.List(); }
  void OnVersion(const std::string& resource_version) override;
  void OnRestore() override;
  void OnSkippedObject() override;
  void OnWatchEnd(std::string_view reason) override;
  void OnFailure(const std::exception_ptr& error, Duration retry_in) override;
  TimePoint RunPeriodicWork(TimePoint now) override;

  void KeepUnlistedObjectsIfAKeyIsUnknown(std::vector<AnyObject>& objects,
                                          const std::vector<ObjectKey>& skipped_keys) const;
  std::shared_ptr<const Runners> Commit(AnyStore::Change change);
  void OnFirstList(const Runners& runners);
  [[nodiscard]] bool IsOutdated(const AnyObject& object, const AnyObject& cached) const;
  void OnDrift(const CacheDrift& drift);

  AnySource& source_;
  const InformerOptions options_;
  AnyStore store_;
  StoreVersion version_;  // of store_
  // An event since the last list could not be decoded, so an object may have changed twice. Used
  // only by the thread of the informer.
  bool missed_event_ = false;
  // The store changes under this lock, so that a handler which is added at the same time gets each
  // event either from the store or as an event. Handlers are called without it.
  mutable kopp::detail::Guarded<Handlers> handlers_;

  mutable kopp::detail::Guarded<bool> synced_{false};
  mutable std::condition_variable synced_changed_;
  mutable kopp::detail::Guarded<Statistics> statistics_;
  std::unique_ptr<workqueue::Metric> metric_;  // last: it reads all members above
};

/// An AnyInformer for objects of the view `T`.
template <ApiObject T>
class Informer final : public AnyInformer {
 public:
  explicit Informer(Source<T>& source, InformerOptions options = {})
      : AnyInformer(source, std::move(options)) {}

  /// Adds an index of the values that `values_of` returns for an object; see AnyIndexFunc. Throws
  /// std::logic_error if there is an index with this name. Thread-safe; may also be called while
  /// the informer runs.
  void AddIndex(std::string name, std::function<std::vector<std::string>(const T&)> values_of) {
    AnyInformer::AddIndex(std::move(name), IndexFuncOf<T>(std::move(values_of)));
  }

  [[nodiscard]] Store<T> store() const { return Store<T>(AnyInformer::store()); }
};

}  // namespace kopp::informer
