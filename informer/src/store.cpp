#include "hash_trie.hpp"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <tuple>

#include <kopp/informer/detail/exception_text.hpp>
#include <kopp/informer/store.hpp>
#include <kopp/workqueue/item_hash.hpp>

namespace kopp::informer {
namespace {

struct KeyView {
  std::string_view ns;
  std::string_view name;
  friend bool operator==(const KeyView&, const KeyView&) = default;
};

KeyView ViewOf(const ObjectKey& key) { return {key.ns, key.name}; }
KeyView ViewOf(const AnyObject& object) { return {object.ns(), object.name()}; }

struct ObjectPolicy {
  using Entry = AnyObject;
  using Key = KeyView;
  static Key KeyOf(const AnyObject& object) { return ViewOf(object); }
  static std::uint64_t Hash(const Key& key, std::uint64_t seed) {
    return workqueue::HashBytes(key.name, workqueue::HashBytes(key.ns, seed));
  }
};
using ObjectSet = HashTrie<ObjectPolicy>;

/// Returns the value of a field that each object has, or null for another field.
const std::string* FieldOf(const ObjectMeta& metadata, const std::string& field) {
  if (field == "metadata.name") return &metadata.name;
  return field == "metadata.namespace" ? &metadata.ns : nullptr;
}

void RequireKnownFields(const FieldSelector& fields) {
  for (const auto& requirement : fields.requirements()) {
    if (FieldOf({}, requirement.field) != nullptr) continue;
    throw std::invalid_argument("a cache cannot select by the field " + requirement.field +
                                ": add an index and call ByIndex");
  }
}

/// Ignores Selector::ns.
bool Selects(const Selector& selector, const ObjectMeta& metadata) {
  if (!selector.labels.Matches(metadata.labels)) return false;
  return selector.fields.empty() || selector.fields.Matches([&](const std::string& field) {
    return FieldOf(metadata, field);
  });
}

/// The objects for which an index has the same value.
struct IndexEntry {
  std::string value;
  ObjectSet objects;
};

struct IndexPolicy {
  using Entry = IndexEntry;
  using Key = std::string_view;
  static Key KeyOf(const IndexEntry& entry) { return entry.value; }
  static std::uint64_t Hash(const Key& key, std::uint64_t seed) {
    return workqueue::HashBytes(key, seed);
  }
};

struct IndexDefinition {
  std::string name;
  AnyIndexFunc values_of;
};

struct Index {
  std::shared_ptr<const IndexDefinition> definition;
  HashTrie<IndexPolicy> entries;
};

void InsertObject(HashTrie<IndexPolicy>& entries, const std::string& value, const AnyObject& object,
                  std::uint64_t transaction) {
  IndexEntry& entry = entries.FindOrCreate(value, transaction);
  entry.value = value;
  entry.objects.FindOrCreate(ViewOf(object), transaction) = object;
}

void RemoveObject(HashTrie<IndexPolicy>& entries, const std::string& value, const AnyObject& object,
                  std::uint64_t transaction) {
  const IndexEntry* found = entries.Find(value);
  if (found == nullptr || found->objects.Find(ViewOf(object)) == nullptr) return;
  IndexEntry& entry = entries.FindOrCreate(value, transaction);
  entry.objects.Erase(ViewOf(object), transaction);
  if (entry.objects.empty()) entries.Erase(value, transaction);
}

/// Returns null if the index does not have the value.
const ObjectSet* FindObjects(const Index& index, std::string_view value) {
  const IndexEntry* entry = index.entries.Find(value);
  return entry == nullptr ? nullptr : &entry->objects;
}

bool NameIsLess(const AnyObject& a, const AnyObject& b) {
  return std::tie(a.ns(), a.name()) < std::tie(b.ns(), b.name());
}

std::vector<std::string> OwnerUids(const AnyObject& object) {
  std::vector<std::string> uids;
  for (const OwnerReference& owner : object.metadata().ownerReferences) uids.push_back(owner.uid);
  return uids;
}

}  // namespace

/// The first index is kNamespaceIndex: it has each object exactly once and so holds the objects
/// themselves. The other indexes refer to the same objects.
struct AnyStoreSnapshot::State {
  std::vector<Index> indexes;
  std::size_t size = 0;
  std::uint64_t transaction = 0;  // of the changes that led to this state

  [[nodiscard]] const Index* FindIndex(std::string_view name) const {
    const auto found = std::find_if(indexes.begin(), indexes.end(), [&](const Index& index) {
      return index.definition->name == name;
    });
    return found == indexes.end() ? nullptr : &*found;
  }
  [[nodiscard]] const Index& GetIndex(std::string_view name) const {
    if (const Index* index = FindIndex(name)) return *index;
    throw std::logic_error("there is no index \"" + std::string(name) +
                           "\": add it with AddIndex before you use it");
  }
  /// Returns null if there is no such object.
  [[nodiscard]] const AnyObject* Find(const KeyView& key) const {
    const ObjectSet* objects = FindObjects(indexes.front(), key.ns);
    if (objects == nullptr) return nullptr;
    const auto has_name = [&](const AnyObject& object) { return object.name() == key.name; };
    return objects->Find(key, has_name);  // all have the same namespace
  }
  /// Calls `visit` for each object of the namespace, or for all if `ns` is empty, until it returns
  /// false.
  template <typename Visit>
  void ForEach(std::string_view ns, Visit visit) const {
    if (ns.empty()) {
      indexes.front().entries.ForEach(
          [&](const IndexEntry& entry) { return entry.objects.ForEach(visit); });
    } else if (const ObjectSet* objects = FindObjects(indexes.front(), ns)) {
      objects->ForEach(visit);
    }
  }
};

AnyObject AnyStoreSnapshot::Get(const ObjectKey& key) const {
  const AnyObject* found = state_->Find(ViewOf(key));
  return found == nullptr ? AnyObject{} : *found;
}

std::vector<AnyObject> AnyStoreSnapshot::List(std::string_view ns) const {
  std::vector<AnyObject> list;
  if (ns.empty()) list.reserve(state_->size);
  state_->ForEach(ns, [&](const AnyObject& object) {
    list.push_back(object);
    return true;
  });
  return list;
}

std::vector<AnyObject> AnyStoreSnapshot::List(const Selector& selector,
                                              const ListOrder& order) const {
  const bool all = selector.labels.empty() && selector.fields.empty();
  if (all && order.limit == 0 && !order.sort_by_name) return List(selector.ns);
  RequireKnownFields(selector.fields);
  const bool stop_at_limit = order.limit > 0 && !order.sort_by_name;
  std::vector<AnyObject> list;
  state_->ForEach(selector.ns, [&](const AnyObject& object) {
    if (Selects(selector, object.metadata())) list.push_back(object);
    return !stop_at_limit || list.size() < order.limit;
  });
  if (!order.sort_by_name) return list;
  const std::size_t count = order.limit == 0 ? list.size() : std::min(order.limit, list.size());
  const auto end = list.begin() + static_cast<std::ptrdiff_t>(count);
  std::partial_sort(list.begin(), end, list.end(), NameIsLess);
  list.erase(end, list.end());
  return list;
}

std::size_t AnyStoreSnapshot::Size() const { return state_->size; }

bool AnyStoreSnapshot::HasIndex(std::string_view index) const {
  return state_->FindIndex(index) != nullptr;
}

std::vector<AnyObject> AnyStoreSnapshot::ByIndex(std::string_view index,
                                                 std::string_view value) const {
  std::vector<AnyObject> list;
  if (const ObjectSet* objects = FindObjects(state_->GetIndex(index), value)) {
    list.reserve(objects->size());
    objects->ForEach([&](const AnyObject& object) {
      list.push_back(object);
      return true;
    });
  }
  return list;
}

std::vector<ObjectKey> AnyStoreSnapshot::IndexKeys(std::string_view index,
                                                   std::string_view value) const {
  std::vector<ObjectKey> keys;
  for (const AnyObject& object : ByIndex(index, value)) keys.push_back(object.key());
  return keys;
}

std::vector<std::string> AnyStoreSnapshot::ListIndexValues(std::string_view index) const {
  std::vector<std::string> values;
  state_->GetIndex(index).entries.ForEach([&](const IndexEntry& entry) {
    values.push_back(entry.value);
    return true;
  });
  return values;
}

/// Prepares one change of a store. Holds the lock of the writers until Commit or the destructor.
class AnyStore::Transaction {
 public:
  explicit Transaction(AnyStore& store)
      : store_(store), lock_(store.write_), state_(*store.Snapshot().state_) {
    ++state_.transaction;
  }
  ~Transaction() {
    if (lock_.owns_lock()) lock_.unlock();
    for (const std::string& problem : problems_) store_.on_problem_(problem, /*minor=*/false);
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  [[nodiscard]] bool HasIndex(std::string_view name) const {
    return state_.FindIndex(name) != nullptr;
  }

  /// Returns the replaced object, or an empty AnyObject.
  AnyObject Set(const AnyObject& object) {
    AnyObject before = Find(ViewOf(object));
    Replace(before, object);
    return before;
  }

  /// Returns the removed object, or an empty AnyObject.
  AnyObject Erase(const ObjectKey& key) {
    AnyObject before = Find(ViewOf(key));
    if (before) Replace(before, {});
    return before;
  }

  void ReplaceAll(const std::vector<AnyObject>& list) {
    replaces_all_ = true;
    for (Index& index : state_.indexes) index.entries = {};
    state_.size = 0;
    for (const AnyObject& object : list) Set(object);
  }

  /// Requires that there is no index with this name.
  void AddIndex(std::string name, AnyIndexFunc values_of) {
    Index index{std::make_shared<const IndexDefinition>(
                    IndexDefinition{std::move(name), std::move(values_of)}),
                {}};
    state_.ForEach("", [&](const AnyObject& object) {
      ReplaceIn(index, {}, object);
      return true;
    });
    state_.indexes.push_back(std::move(index));
  }

  /// Publishes the new state and returns the previous one. Call it last.
  AnyStoreSnapshot Commit() {
    previous_ = std::make_shared<const State>(std::move(state_));
    store_.state_.Lock()->swap(previous_);
    const bool is_read = previous_.use_count() > 1;  // new readers get the new state
    released_ = std::exchange(store_.retired_, is_read && !replaces_all_ ? previous_ : nullptr);
    lock_.unlock();
    return AnyStoreSnapshot(previous_);
  }

 private:
  [[nodiscard]] AnyObject Find(const KeyView& key) const {
    const AnyObject* found = state_.Find(key);
    return found == nullptr ? AnyObject{} : *found;
  }

  /// Replaces `before`, which the store has, by `after` with the same key. One of them may be
  /// empty.
  void Replace(const AnyObject& before, const AnyObject& after) {
    for (Index& index : state_.indexes) ReplaceIn(index, before, after);
    if (!before) ++state_.size;
    if (!after) --state_.size;
  }

  void ReplaceIn(Index& index, const AnyObject& before, const AnyObject& after) {
    const auto values = ValuesOf(*index.definition, after);
    for (const std::string& value : ValuesOf(*index.definition, before)) {
      if (std::find(values.begin(), values.end(), value) != values.end()) continue;
      RemoveObject(index.entries, value, before, state_.transaction);
    }
    for (const std::string& value : values) {
      InsertObject(index.entries, value, after, state_.transaction);
    }
  }

  std::vector<std::string> ValuesOf(const IndexDefinition& index, const AnyObject& object) {
    if (!object) return {};
    std::string problem;
    try {
      return index.values_of(object);
    } catch (...) {
      problem = kopp::detail::ExceptionText(std::current_exception());
    }
    if (store_.on_problem_) {
      problems_.push_back("the function of the index \"" + index.name + "\" threw for " +
                          object.key().ToString() + ": " + problem +
                          "; the index does not have the object");
    }
    return {};
  }

  AnyStore& store_;
  std::unique_lock<std::mutex> lock_;
  State state_;
  bool replaces_all_ = false;
  // After Commit; destroyed with the transaction, without a lock.
  std::shared_ptr<const State> previous_;
  std::shared_ptr<const State> released_;
  std::vector<std::string> problems_;  // reported without the lock
};

AnyStore::AnyStore(ProblemHandler on_problem) : on_problem_(std::move(on_problem)) {
  auto state = std::make_shared<State>();
  const auto namespace_of = [](const AnyObject& object) {
    return std::vector<std::string>{object.ns()};
  };
  state->indexes.push_back({std::make_shared<const IndexDefinition>(
                                IndexDefinition{std::string(kNamespaceIndex), namespace_of}),
                            {}});
  *state_.Lock() = std::move(state);
}

AnyStore::~AnyStore() = default;

AnyStoreSnapshot AnyStore::Snapshot() const { return AnyStoreSnapshot(*state_.Lock()); }

void AnyStore::AddIndex(std::string name, AnyIndexFunc values_of) {
  Transaction transaction(*this);
  if (transaction.HasIndex(name)) {
    throw std::logic_error("there is already an index \"" + name +
                           "\": give the new index another name");
  }
  transaction.AddIndex(std::move(name), std::move(values_of));
  transaction.Commit();
}

void AnyStore::AddOwnerIndex() {
  Transaction transaction(*this);
  if (transaction.HasIndex(kOwnerIndex)) return;
  transaction.AddIndex(std::string(kOwnerIndex), OwnerUids);
  transaction.Commit();
}

AnyObject AnyStore::Set(const AnyObject& object) {
  Transaction transaction(*this);
  AnyObject before = transaction.Set(object);
  transaction.Commit();
  return before;
}

AnyObject AnyStore::Erase(const ObjectKey& key) {
  Transaction transaction(*this);
  AnyObject before = transaction.Erase(key);
  if (before) transaction.Commit();
  return before;
}

AnyStoreSnapshot AnyStore::Replace(const std::vector<AnyObject>& list) {
  Transaction transaction(*this);
  transaction.ReplaceAll(list);
  return transaction.Commit();
}

AnyStore::Change::Change(AnyStore& store) : transaction_(std::make_unique<Transaction>(store)) {}

AnyStore::Change::Change(Change&& other) noexcept = default;

AnyStore::Change::~Change() = default;

void AnyStore::Change::Commit() { transaction_->Commit(); }

AnyStore::Change AnyStore::PrepareSet(const AnyObject& object) {
  Change change(*this);
  change.transaction_->Set(object);
  return change;
}

AnyStore::Change AnyStore::PrepareErase(const ObjectKey& key) {
  Change change(*this);
  change.transaction_->Erase(key);
  return change;
}

AnyStore::Change AnyStore::PrepareReplace(const std::vector<AnyObject>& list) {
  Change change(*this);
  change.transaction_->ReplaceAll(list);
  return change;
}

}  // namespace kopp::informer
