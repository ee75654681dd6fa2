#pragma once

#include <cstdint>
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

/// A point in the history of all objects: each write makes the next.
using Version = std::uint64_t;

/// What the server looks at without reading the object.
struct Attributes {
  std::string uid{};
  std::map<std::string, std::string> labels{};
  std::map<std::string, std::string> fields{};
  std::vector<std::string> owners{};   ///< the uids of those that it goes with
  std::vector<std::string> held_up{};  ///< … and that wait for it, deleted in the foreground
  bool awaits_dependents = false;      ///< is deleted in the foreground itself
};

/// An object by where it is kept.
struct Place {
  std::string resource{};
  ObjectKey key{};
  auto operator<=>(const Place&) const = default;
};

/// One state of an object. Kept as text: that is what it is asked for as, and a tree of it would
/// take eight times the memory.
struct Stored {
  Version version = 0;
  std::string text{};  ///< JSON, with metadata.resourceVersion
  Attributes attributes{};
};
using StoredPtr = std::shared_ptr<const Stored>;

/// One write. Made: no `before`. Removed: `gone`, and `after` is the last state with the version of
/// the removal.
struct Change {
  ObjectKey key{};
  StoredPtr before{};
  StoredPtr after{};
  bool gone = false;
  TimePoint at{};

  [[nodiscard]] Version version() const { return after->version; }
};

/// As etcd orders keys: by "NAMESPACE/NAME".
struct ByPath {
  bool operator()(const ObjectKey& a, const ObjectKey& b) const;
};

/// The history that was asked for is no longer kept.
class Compacted : public std::runtime_error {
 public:
  Compacted() : std::runtime_error("the history that was asked for is no longer kept") {}
};

/// All objects and what lately happened to them: what etcd is to a kube-apiserver. It knows nothing
/// of what objects mean. A resource is what a kind's objects are kept under: "deployments.apps".
///
/// Safe to use from any thread. Nothing blocks but for a lock.
class Store {
 public:
  struct Options {
    Clock& clock = Clock::Real();
    Duration history = std::chrono::minutes(5);  ///< what is older is forgotten
    std::size_t changes = 10'000;                ///< of one resource, at the most
  };
  struct Snapshot {
    Version version = 0;
    std::vector<std::pair<ObjectKey, StoredPtr>> objects{};  ///< by namespace, then name
  };

  explicit Store(Options options) : options_(options) {}
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  [[nodiscard]] Version version() const { return state_.Lock()->version; }
  /// nullptr where there is none.
  [[nodiscard]] StoredPtr Get(const std::string& resource, const ObjectKey& key) const;

  /// The objects of one namespace, or of all where `ns` is empty: as they are, or as they were at
  /// `at`. Throws Compacted.
  [[nodiscard]] Snapshot List(const std::string& resource, const std::string& ns,
                              std::optional<Version> at = {}) const;
  /// Whether there are any in the namespace.
  [[nodiscard]] bool HasObjects(const std::string& resource, const std::string& ns) const;

  /// Makes or replaces an object, and gives it its version. `seen` is what the writer knew to be
  /// there, nullptr for nothing. Returns nullptr, and does nothing, when that is not so any more.
  StoredPtr Put(const std::string& resource, const ObjectKey& key, const StoredPtr& seen,
                nlohmann::json object, Attributes attributes);
  /// Likewise. `last` is the state that watches are told.
  StoredPtr Remove(const std::string& resource, const ObjectKey& key, const StoredPtr& seen,
                   nlohmann::json last);

  /// The objects of which `uid` is an owner.
  [[nodiscard]] std::vector<Place> DependentsOf(const std::string& uid) const;
  /// Whether one of them holds up the end of their owner.
  [[nodiscard]] bool IsHeldUp(const std::string& uid) const;

  /// What happened to a resource after a version, in order; `limit` changes at the most. Throws
  /// Compacted.
  [[nodiscard]] std::vector<Change> ChangesAfter(const std::string& resource, Version version,
                                                 std::size_t limit) const;

  /// Forgets what happened until now.
  void Compact();

  /// Forgets all of a resource: its history begins now.
  void Begin(const std::string& resource);
  /// Calls who listens to a resource though nothing was written.
  void Wake(const std::string& resource) { Tell(resource); }

  /// Calls `changed` after each write to `resource`, from the constructor to the destructor, which
  /// waits for a call that runs. The call comes from the thread that writes; it is short, and asks
  /// nothing of the store.
  class Listener {
   public:
    Listener(Store& store, std::string resource, std::function<void()> changed);
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

   private:
    friend class Store;
    Store& store_;
    const std::string resource_;
    const std::function<void()> changed_;
  };

 private:
  using Objects = std::map<ObjectKey, StoredPtr, ByPath>;
  struct Resource {
    Objects objects;
    std::deque<Change> history;
    Version forgotten = 0;  // until then
  };
  struct State {
    Version version = 0;
    std::map<std::string, Resource, std::less<>> resources;
    std::map<std::string, std::set<Place>, std::less<>> dependents;  // by the owner's uid
  };
  using Listeners = std::multimap<std::string, const Listener*>;

  StoredPtr Write(const std::string& resource, const ObjectKey& key, const StoredPtr& seen,
                  nlohmann::json object, Attributes attributes, bool gone);
  static void Index(State& state, const Place& place, const Stored* before, const Stored* after);
  void Forget(Resource& resource, TimePoint now) const;
  void Tell(const std::string& resource);

  const Options options_;
  mutable Guarded<State> state_;
  Guarded<Listeners> listeners_;
};

}  // namespace kopp::apiserver
