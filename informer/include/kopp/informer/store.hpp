#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kopp/informer/any_object.hpp>
#include <kopp/informer/selector.hpp>
#include <kopp/workqueue/guarded.hpp>
#include <kopp/workqueue/owned_ptr.hpp>

namespace kopp::informer {

/// The name of an index that every store has: the namespaces of the objects.
/// client-go: cache.NamespaceIndex.
inline constexpr std::string_view kNamespaceIndex = "namespace";

/// The name of the index that AddOwnerIndex adds: the uids of the owners of an object.
inline constexpr std::string_view kOwnerIndex = "owner";

/// Returns the values under which an index has an object; an object without values is not in the
/// index. Must return the same values whenever it is called for an object, must not throw and must
/// not change the store or add an index: it is called while other writers wait. An exception is
/// reported, and the object is then not in the index.
/// client-go: cache.IndexFunc.
using AnyIndexFunc = std::function<std::vector<std::string>(const AnyObject& object)>;

/// All objects of a store at one moment, with its indexes. It does not change, and it does not
/// delay the store. It keeps its objects in memory.
///
/// A value type that is cheap to copy. Several threads may use a const snapshot at the same time.
class AnyStoreSnapshot {
 public:
  /// Returns the object, or an empty AnyObject if there is none.
  [[nodiscard]] AnyObject Get(const ObjectKey& key) const;
  /// Returns the objects of namespace `ns`, or all objects if `ns` is empty, in no particular
  /// order. Takes time proportional to the number of returned objects.
  [[nodiscard]] std::vector<AnyObject> List(std::string_view ns = {}) const;
  /// Returns the selected objects, in no particular order unless `order` says so. Throws
  /// std::invalid_argument if it selects by fields other than metadata.name and
  /// metadata.namespace: use an index for those.
  [[nodiscard]] std::vector<AnyObject> List(const Selector& selector,
                                            const ListOrder& order = {}) const;
  [[nodiscard]] std::size_t Size() const;

  [[nodiscard]] bool HasIndex(std::string_view index) const;
  // The following throw std::logic_error if there is no index with this name.

  /// Returns the objects for which the index has `value`, in no particular order. Takes time
  /// proportional to the number of returned objects. client-go: Indexer.ByIndex.
  [[nodiscard]] std::vector<AnyObject> ByIndex(std::string_view index,
                                               std::string_view value) const;
  /// Returns the keys of the objects of ByIndex. client-go: Indexer.IndexKeys.
  [[nodiscard]] std::vector<ObjectKey> IndexKeys(std::string_view index,
                                                 std::string_view value) const;
  /// Returns all values of the index, in no particular order. client-go: ListIndexFuncValues.
  [[nodiscard]] std::vector<std::string> ListIndexValues(std::string_view index) const;

 private:
  friend class AnyStore;
  struct State;
  explicit AnyStoreSnapshot(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  std::shared_ptr<const State> state_;
};

/// Holds the latest known state of each object of a kind: the cache of an informer. Stored objects
/// are immutable and shared with readers; an update stores a new object.
///
/// Thread-safe. Each read uses the snapshot of that moment; take a snapshot yourself if several
/// reads must be consistent. Readers do not wait for writers: a writer prepares the next state
/// beside the current one and then replaces a pointer. client-go: Indexer.
class AnyStore {
 public:
  /// As ReflectorOptions::on_problem.
  using ProblemHandler = std::function<void(const std::string& problem, bool minor)>;

  /// `on_problem` is called if an index function throws, on the thread of the writer. It must not
  /// throw.
  explicit AnyStore(ProblemHandler on_problem = {});
  ~AnyStore();
  AnyStore(const AnyStore&) = delete;
  AnyStore& operator=(const AnyStore&) = delete;

  /// Returns the current state. Takes constant time.
  [[nodiscard]] AnyStoreSnapshot Snapshot() const;

  // As the functions of AnyStoreSnapshot.
  [[nodiscard]] AnyObject Get(const ObjectKey& key) const { return Snapshot().Get(key); }
  [[nodiscard]] std::vector<AnyObject> List(std::string_view ns = {}) const {
    return Snapshot().List(ns);
  }
  [[nodiscard]] std::size_t Size() const { return Snapshot().Size(); }

  /// Adds an index; indexes the objects that the store has. Blocks other writers meanwhile, but no
  /// readers. Throws std::logic_error if there is an index with this name.
  void AddIndex(std::string name, AnyIndexFunc values_of);
  /// Adds the index kOwnerIndex, unless there is one.
  void AddOwnerIndex();

  /// Adds or replaces an object. Returns the replaced object, or an empty AnyObject.
  AnyObject Set(const AnyObject& object);
  /// Removes an object. Returns it, or an empty AnyObject.
  AnyObject Erase(const ObjectKey& key);
  /// Replaces the whole content atomically. Returns the previous content.
  AnyStoreSnapshot Replace(const std::vector<AnyObject>& list);

  /// A change of a store that was prepared beside the current state. Other writers wait until it is
  /// committed or destroyed; readers do not. For writers that must publish a change under a lock of
  /// their own, but prepare it without. Must not outlive the store. Not thread-safe.
  class Change;
  // As Set, Erase and Replace, without the last step: Change::Commit.
  [[nodiscard]] Change PrepareSet(const AnyObject& object);
  [[nodiscard]] Change PrepareErase(const ObjectKey& key);
  [[nodiscard]] Change PrepareReplace(const std::vector<AnyObject>& list);

 private:
  class Transaction;
  using State = AnyStoreSnapshot::State;

  const ProblemHandler on_problem_;
  std::mutex write_;  // held by a writer from reading the state to publishing the next one
  // The state before the last change of an object, if it was being read, until the next change: so
  // a short read during a change does not have to destroy it. Guarded by write_.
  std::shared_ptr<const State> retired_;
  mutable kopp::detail::Guarded<std::shared_ptr<const State>>
      state_;  // locked only to copy or swap the pointer
};

class AnyStore::Change {
 public:
  Change(Change&& other) noexcept;
  /// Reports the problems of index functions.
  ~Change();

  /// Publishes the change. Takes constant time and calls no user code. Call it at most once.
  void Commit();

 private:
  friend class AnyStore;
  explicit Change(AnyStore& store);

  kopp::detail::OwnedPtr<Transaction> transaction_;
};

/// An AnyStoreSnapshot of objects of the view `T`.
template <ApiObject T>
class StoreSnapshot {
 public:
  using Ptr = std::shared_ptr<const T>;

  explicit StoreSnapshot(AnyStoreSnapshot objects) : objects_(std::move(objects)) {}

  /// Returns the object, or null if there is none.
  [[nodiscard]] Ptr Get(const ObjectKey& key) const { return objects_.Get(key).template As<T>(); }
  /// As AnyStoreSnapshot::List.
  [[nodiscard]] std::vector<Ptr> List(std::string_view ns = {}) const {
    return Typed(objects_.List(ns));
  }
  /// As AnyStoreSnapshot::List.
  [[nodiscard]] std::vector<Ptr> List(const Selector& selector, const ListOrder& order = {}) const {
    return Typed(objects_.List(selector, order));
  }
  [[nodiscard]] std::size_t Size() const { return objects_.Size(); }

  // As the functions of AnyStoreSnapshot.
  [[nodiscard]] std::vector<Ptr> ByIndex(std::string_view index, std::string_view value) const {
    return Typed(objects_.ByIndex(index, value));
  }
  [[nodiscard]] std::vector<ObjectKey> IndexKeys(std::string_view index,
                                                 std::string_view value) const {
    return objects_.IndexKeys(index, value);
  }
  [[nodiscard]] std::vector<std::string> ListIndexValues(std::string_view index) const {
    return objects_.ListIndexValues(index);
  }

  /// Returns the objects that have an owner reference to `owner`, in time proportional to their
  /// number. Throws std::logic_error if the store does not have the index kOwnerIndex.
  template <ApiObject Owner>
  [[nodiscard]] std::vector<Ptr> OwnedBy(const Owner& owner) const {
    return ByIndex(kOwnerIndex, owner.metadata.uid);
  }

 private:
  static std::vector<Ptr> Typed(const std::vector<AnyObject>& objects) {
    std::vector<Ptr> list;
    list.reserve(objects.size());
    for (const AnyObject& object : objects) list.push_back(object.template As<T>());
    return list;
  }

  AnyStoreSnapshot objects_;
};

/// Read access to an AnyStore of objects of the view `T`. Thread-safe. Does not own the store,
/// which must outlive it. Each function reads the snapshot of that moment.
template <ApiObject T>
class Store {
 public:
  using Ptr = std::shared_ptr<const T>;

  explicit Store(const AnyStore& objects) : objects_(objects) {}

  /// Returns the current state. Takes constant time.
  [[nodiscard]] StoreSnapshot<T> Snapshot() const { return StoreSnapshot<T>(objects_.Snapshot()); }

  // As the functions of StoreSnapshot.
  [[nodiscard]] Ptr Get(const ObjectKey& key) const { return Snapshot().Get(key); }
  [[nodiscard]] std::vector<Ptr> List(std::string_view ns = {}) const {
    return Snapshot().List(ns);
  }
  [[nodiscard]] std::vector<Ptr> List(const Selector& selector, const ListOrder& order = {}) const {
    return Snapshot().List(selector, order);
  }
  [[nodiscard]] std::size_t Size() const { return objects_.Size(); }
  [[nodiscard]] std::vector<Ptr> ByIndex(std::string_view index, std::string_view value) const {
    return Snapshot().ByIndex(index, value);
  }
  [[nodiscard]] std::vector<ObjectKey> IndexKeys(std::string_view index,
                                                 std::string_view value) const {
    return Snapshot().IndexKeys(index, value);
  }
  [[nodiscard]] std::vector<std::string> ListIndexValues(std::string_view index) const {
    return Snapshot().ListIndexValues(index);
  }
  template <ApiObject Owner>
  [[nodiscard]] std::vector<Ptr> OwnedBy(const Owner& owner) const {
    return Snapshot().OwnedBy(owner);
  }

 private:
  const AnyStore& objects_;
};

/// Converts a function that returns the index values of a `T` to an AnyIndexFunc.
template <ApiObject T>
[[nodiscard]] AnyIndexFunc IndexFuncOf(
    std::function<std::vector<std::string>(const T&)> values_of) {
  return [values_of = std::move(values_of)](const AnyObject& object) {
    return values_of(*object.As<T>());
  };
}

}  // namespace kopp::informer
