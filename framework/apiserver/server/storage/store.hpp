#pragma once

#include "api/selectable_fields.hpp"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <kopp/informer/object_key.hpp>
#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::apiserver {

/// Identifies a stored object: its storage resource ("deployments.apps"), namespace and name.
struct ObjectLocation {
  std::string resource{};
  ObjectKey key{};
  auto operator<=>(const ObjectLocation&) const = default;
};

/// One version of an object. It is stored as JSON text because clients request it as text, and
/// because a parsed tree takes about eight times the memory.
struct StoredObject {
  ResourceVersion version = 0;
  std::string text{};  ///< JSON, with metadata.resourceVersion
  ObjectAttributes attributes{};
};
using StoredObjectPtr = std::shared_ptr<const StoredObject>;

/// One write to the store. A creation has no `before`. A deletion sets `deleted`; its `after` is
/// the last state of the object with the resourceVersion of the deletion.
struct ObjectChange {
  ObjectKey key{};
  StoredObjectPtr before{};
  StoredObjectPtr after{};
  bool deleted = false;
  TimePoint time{};

  [[nodiscard]] ResourceVersion version() const { return after->version; }
};

/// Orders keys like etcd: by the bytes of "NAMESPACE/NAME".
struct EtcdKeyOrder {
  bool operator()(const ObjectKey& a, const ObjectKey& b) const;
};

/// Thrown if the requested history has been compacted.
class CompactedError : public std::runtime_error {
 public:
  CompactedError() : std::runtime_error("the requested history has been compacted") {}
};

/// Stores all objects and the recent changes to them, like etcd for a kube-apiserver. The store
/// does not interpret objects. A `resource` parameter is a storage resource: "deployments.apps".
///
/// Thread-safe. No function blocks except for a mutex.
class Store {
 public:
  struct Options {
    Clock& clock = Clock::Real();
    Duration history = std::chrono::minutes(5);  ///< older changes are compacted
    std::size_t max_changes = 10'000;            ///< per resource; older changes are compacted
  };
  struct Snapshot {
    ResourceVersion version = 0;
    std::vector<std::pair<ObjectKey, StoredObjectPtr>> objects{};  ///< in EtcdKeyOrder
  };

  explicit Store(Options options) : options_(options) {}
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  [[nodiscard]] ResourceVersion version() const { return state_.Lock()->version; }
  /// Returns nullptr if the object does not exist.
  [[nodiscard]] StoredObjectPtr Get(const std::string& resource, const ObjectKey& key) const;

  /// Returns the objects of namespace `ns`, or of all namespaces if `ns` is empty: the current
  /// ones, or those at resourceVersion `at`. Throws CompactedError if `at` has been compacted.
  [[nodiscard]] Snapshot List(const std::string& resource, const std::string& ns,
                              std::optional<ResourceVersion> at = {}) const;
  /// Returns whether the namespace contains objects of the resource.
  [[nodiscard]] bool HasObjects(const std::string& resource, const std::string& ns) const;

  /// Creates or replaces an object, and sets metadata.resourceVersion in `object`. `expected` is
  /// the state that the caller read, or nullptr if the object must not exist. Returns the new
  /// state, or nullptr without a change if the stored state is not `expected`. Throws StatusError
  /// if the object is larger than the 1.5 MiB that etcd accepts by default.
  StoredObjectPtr Put(const std::string& resource, const ObjectKey& key,
                      const StoredObjectPtr& expected, nlohmann::json& object,
                      ObjectAttributes attributes);
  /// Removes an object, under the same condition as Put. Watches receive `last` as its last state.
  StoredObjectPtr Remove(const std::string& resource, const ObjectKey& key,
                         const StoredObjectPtr& expected, nlohmann::json last);

  /// Returns the objects that have an owner reference to `uid`.
  [[nodiscard]] std::vector<ObjectLocation> DependentsOf(const std::string& uid) const;
  /// Returns whether an owner reference to `uid` has blockOwnerDeletion: it blocks the foreground
  /// deletion of the owner.
  [[nodiscard]] bool HasBlockingDependents(const std::string& uid) const;

  /// Returns at most `limit` changes of a resource after `version`, in order. Throws
  /// CompactedError if changes after `version` have been compacted.
  [[nodiscard]] std::vector<ObjectChange> ChangesAfter(const std::string& resource,
                                                       ResourceVersion version,
                                                       std::size_t limit) const;

  /// Discards the history of all resources. Objects stay.
  void Compact();

  /// Discards the objects and the history of a resource, without any change event.
  void Reset(const std::string& resource);
  /// Calls the listeners of a resource without a write.
  void NotifyListeners(const std::string& resource);

  /// Calls `on_change` after each write to `resource`, and from NotifyListeners, during its
  /// lifetime. The call is made by the writing thread; it must be short and must not use the store.
  /// The destructor blocks until a running call has returned. The store must outlive the listener.
  class Listener {
   public:
    Listener(Store& store, std::string resource, std::function<void()> on_change);
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

   private:
    friend class Store;
    Store& store_;
    const std::string resource_;
    const std::function<void()> on_change_;
  };

 private:
  using Objects = std::map<ObjectKey, StoredObjectPtr, EtcdKeyOrder>;
  struct ResourceState {
    Objects objects;
    std::deque<ObjectChange> history;
    ResourceVersion compacted = 0;  // the history up to this version has been discarded
  };
  struct State {
    ResourceVersion version = 0;
    std::map<std::string, ResourceState, std::less<>> resources;
    std::map<std::string, std::set<ObjectLocation>, std::less<>> dependents;  // by owner uid
  };
  using Listeners = std::multimap<std::string, const Listener*>;

  StoredObjectPtr Write(const std::string& resource, const ObjectKey& key,
                        const StoredObjectPtr& expected, nlohmann::json& object,
                        ObjectAttributes attributes, bool deleted);
  static void UpdateDependents(State& state, const ObjectLocation& location,
                               const StoredObject* before, const StoredObject* after);
  /// Discards the changes that exceed the limits of the options.
  void CompactOldChanges(ResourceState& resource, TimePoint now) const;

  const Options options_;
  mutable detail::Guarded<State> state_;
  detail::Guarded<Listeners> listeners_;
};

}  // namespace kopp::apiserver
