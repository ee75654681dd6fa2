#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <kopp/informer/reflector.hpp>
#include <kopp/informer/store.hpp>
#include <kopp/informer/store_version.hpp>

namespace kopp::informer {

/// Callbacks for changes of objects, type-erased. An empty function is skipped.
///
/// The functions are called on the thread of AnyInformer::Run, one at a time and in order, after
/// the store has the new state. For one object the order is add, then updates, then delete. They
/// must not block; enqueue a key and do slow work in a worker. client-go: ResourceEventHandler.
struct AnyEventHandler {
  /// `in_initial_list` is true for objects of the first list, before HasSynced.
  std::function<void(const AnyObject& object, bool in_initial_list)> on_add = {};
  /// A resync passes the same object twice.
  std::function<void(const AnyObject& before, const AnyObject& after)> on_update = {};
  /// `final_state_unknown` is true for a tombstone: the deletion event was missed, and `object` is
  /// the last state that the store had. client-go: DeletedFinalStateUnknown.
  std::function<void(const AnyObject& object, bool final_state_unknown)> on_delete = {};
};

/// Callbacks for changes of objects of the view `T`, with the same meaning as in AnyEventHandler.
/// An rvalue converts to AnyEventHandler.
template <Object T>
struct EventHandler {
  using Ptr = std::shared_ptr<const T>;

  std::function<void(const Ptr& object, bool in_initial_list)> on_add = {};
  std::function<void(const Ptr& before, const Ptr& after)> on_update = {};
  std::function<void(const Ptr& object, bool final_state_unknown)> on_delete = {};

  operator AnyEventHandler() && {  // NOLINT: intentionally implicit
    AnyEventHandler any;
    if (on_add) {
      any.on_add = [f = std::move(on_add)](const AnyObject& object, bool in_initial_list) {
        f(object.template As<T>(), in_initial_list);
      };
    }
    if (on_update) {
      any.on_update = [f = std::move(on_update)](const AnyObject& before, const AnyObject& after) {
        f(before.template As<T>(), after.template As<T>());
      };
    }
    if (on_delete) {
      any.on_delete = [f = std::move(on_delete)](const AnyObject& object,
                                                 bool final_state_unknown) {
        f(object.template As<T>(), final_state_unknown);
      };
    }
    return any;
  }
};

/// Options of an informer.
struct InformerOptions {
  Clock& clock = Clock::Real();  ///< must outlive the informer

  std::uint64_t seed = std::random_device{}();  ///< seed of the jitter of timeouts and back-off
  bool use_watch_list = false;                  ///< as in ReflectorOptions
  bool consistent_start = false;                ///< as in ReflectorOptions
  Duration audit_interval{};                    ///< as in ReflectorOptions
  std::function<void(const CacheDrift& drift)> on_drift = {};  ///< as in ReflectorOptions
  /// As ReflectorOptions::on_problem. Also called if an event handler throws.
  std::function<void(const std::string& problem, bool minor)> on_problem = {};
};

/// Lists and watches all objects of a kind, keeps them in a store and notifies handlers of changes.
///
/// Add handlers before Run. store(), version(), HasSynced() and WaitForSync() are thread-safe; the
/// rest is not. client-go: SharedIndexInformer, with two differences. An exception from a handler
/// is reported, and the other handlers still get the event; in client-go a panic ends the program.
/// If an object was deleted and created again and the deletion event was missed, handlers get a
/// delete and an add; in client-go they get an update.
class AnyInformer : private AnyReflector::Sink {
 public:
  /// `source` must outlive the informer.
  explicit AnyInformer(AnySource& source, InformerOptions options = {})
      : source_(source),
        options_(std::move(options)),
        store_(options_.on_problem),
        version_(options_.clock) {}
  ~AnyInformer() override = default;
  AnyInformer(const AnyInformer&) = delete;
  AnyInformer& operator=(const AnyInformer&) = delete;

  /// Adds a handler. `resync` is the period after which the handler gets an update for every
  /// object, even without a change; 0 means never. Throws std::logic_error after Run was called.
  void AddHandler(AnyEventHandler handler, Duration resync = {});

  /// As AnyStore::AddIndex. Thread-safe; may also be called while the informer runs.
  void AddIndex(std::string name, AnyIndexFunc values_of) {
    store_.AddIndex(std::move(name), std::move(values_of));
  }
  /// As AnyStore::AddOwnerIndex. Thread-safe; may also be called while the informer runs.
  void AddOwnerIndex() { store_.AddOwnerIndex(); }

  /// Runs the informer; blocks until `stop` is requested. Call it once. Failures of the source are
  /// reported and retried. The store stays readable after Run has returned.
  void Run(const std::stop_token& stop);

  /// The store; it lives as long as the informer.
  [[nodiscard]] const AnyStore& store() const { return store_; }

  /// The resource version of the store, and waits for a version; it lives as long as the informer.
  [[nodiscard]] const StoreVersion& version() const { return version_; }

  /// Returns whether the store has the first list and each handler has been called for it.
  [[nodiscard]] bool HasSynced() const { return *synced_.Lock(); }

  /// Blocks until the informer has synced or `stop` is requested. Returns HasSynced().
  bool WaitForSync(const std::stop_token& stop) const;

 private:
  // AnyReflector::Sink
  void Replace(std::vector<AnyObject> objects, const std::vector<ObjectKey>& skipped_keys) override;
  void ApplyEvent(const WatchItem& event) override;
  [[nodiscard]] std::vector<AnyObject> Objects() const override { return store_.List(); }
  TimePoint ResyncIfDue(TimePoint now) override;
  void OnVersion(const std::string& resource_version) override { version_.Set(resource_version); }

  struct Registration {
    AnyEventHandler handler;
    Duration resync{};
    TimePoint next_resync = TimePoint::max();  // set by the first list
  };

  void KeepUnlistedObjectsIfAKeyIsUnknown(std::vector<AnyObject>& objects,
                                          const std::vector<ObjectKey>& skipped_keys) const;
  void NotifyChange(const AnyObject& before, const AnyObject& after, bool in_initial_list) const;
  void NotifyDelete(const AnyObject& object, bool final_state_unknown) const;
  template <typename Function, typename... Args>
  void CallHandler(const char* name, const std::function<Function>& function,
                   const AnyObject& object, const Args&... args) const;

  AnySource& source_;
  InformerOptions options_;
  std::vector<Registration> handlers_;
  bool run_called_ = false;
  AnyStore store_;
  StoreVersion version_;  // of store_

  mutable Guarded<bool> synced_{false};
  mutable std::condition_variable synced_changed_;
};

/// An AnyInformer for objects of the view `T`.
template <Object T>
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
