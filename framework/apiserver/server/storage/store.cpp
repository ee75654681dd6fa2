#include "storage/store.hpp"

#include "api/status.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxRequestSizeOfEtcd = 3 << 19;

bool IsInNamespace(const ObjectKey& key, const std::string& ns) {
  return ns.empty() || key.ns == ns;
}

/// Returns the first change after `version`.
auto FirstChangeAfter(const std::deque<ObjectChange>& history, ResourceVersion version) {
  return std::partition_point(history.begin(), history.end(), [&](const ObjectChange& change) {
    return change.version() <= version;
  });
}

}  // namespace

bool EtcdKeyOrder::operator()(const ObjectKey& a, const ObjectKey& b) const {
  if (a.ns == b.ns) return a.name < b.name;
  const auto [in_a, in_b] = std::mismatch(a.ns.begin(), a.ns.end(), b.ns.begin(), b.ns.end());
  return (in_a == a.ns.end() ? '/' : *in_a) < (in_b == b.ns.end() ? '/' : *in_b);
}

StoredObjectPtr Store::Get(const std::string& resource, const ObjectKey& key) const {
  auto state = state_.Lock();
  const auto found = state->resources.find(resource);
  if (found == state->resources.end()) return nullptr;
  const Objects& objects = found->second.objects;
  const auto object = objects.find(key);
  return object == objects.end() ? nullptr : object->second;
}

Store::Snapshot Store::List(const std::string& resource, const std::string& ns,
                            std::optional<ResourceVersion> at) const {
  auto state = state_.Lock();
  Snapshot snapshot{.version = at.value_or(state->version)};
  const auto found = state->resources.find(resource);
  if (found == state->resources.end()) return snapshot;
  CompactOldChanges(found->second, options_.clock.Now());
  const auto& [objects, history, compacted] = found->second;
  if (snapshot.version < compacted) throw CompactedError();

  // The old state of an object that changed since then is the state before its first change.
  Objects old_states;
  for (auto change = FirstChangeAfter(history, snapshot.version); change != history.end();
       ++change) {
    if (IsInNamespace(change->key, ns)) old_states.emplace(change->key, change->before);
  }
  const auto first = ns.empty() ? objects.begin() : objects.lower_bound({ns, ""});
  const auto last = std::find_if_not(
      first, objects.end(), [&](const auto& entry) { return IsInNamespace(entry.first, ns); });
  std::set_union(old_states.begin(), old_states.end(), first, last,
                 std::back_inserter(snapshot.objects),
                 [](const auto& a, const auto& b) { return EtcdKeyOrder()(a.first, b.first); });
  std::erase_if(snapshot.objects, [](const auto& entry) { return entry.second == nullptr; });
  return snapshot;
}

bool Store::HasObjects(const std::string& resource, const std::string& ns) const {
  auto state = state_.Lock();
  const auto found = state->resources.find(resource);
  if (found == state->resources.end()) return false;
  const auto first = found->second.objects.lower_bound({ns, ""});
  return first != found->second.objects.end() && first->first.ns == ns;
}

StoredObjectPtr Store::Put(const std::string& resource, const ObjectKey& key,
                           const StoredObjectPtr& expected, json& object,
                           ObjectAttributes attributes) {
  return Write(resource, key, expected, object, std::move(attributes), false);
}

StoredObjectPtr Store::Remove(const std::string& resource, const ObjectKey& key,
                              const StoredObjectPtr& expected, json last) {
  return Write(resource, key, expected, last, expected->attributes, true);
}

StoredObjectPtr Store::Write(const std::string& resource, const ObjectKey& key,
                             const StoredObjectPtr& expected, json& object,
                             ObjectAttributes attributes, bool deleted) {
  StoredObjectPtr after;
  {
    auto state = state_.Lock();
    ResourceState& resource_state = state->resources[resource];
    const auto current = resource_state.objects.find(key);
    StoredObjectPtr before = current == resource_state.objects.end() ? nullptr : current->second;
    if (before != expected) return nullptr;
    const ResourceVersion version = state->version + 1;
    object["metadata"]["resourceVersion"] = std::to_string(version);
    after = std::make_shared<const StoredObject>(
        StoredObject{version, object.dump(), std::move(attributes)});
    if (!deleted && after->text.size() > kMaxRequestSizeOfEtcd)
      throw StatusError(500, "", "etcdserver: request is too large");
    state->version = version;
    if (deleted) {
      resource_state.objects.erase(current);
    } else {
      resource_state.objects.insert_or_assign(key, after);
    }
    UpdateDependents(*state, {resource, key}, before.get(), deleted ? nullptr : after.get());
    const TimePoint now = options_.clock.Now();
    resource_state.history.push_back({key, std::move(before), after, deleted, now});
    CompactOldChanges(resource_state, now);
  }
  NotifyListeners(resource);
  return after;
}

void Store::UpdateDependents(State& state, const ObjectLocation& location,
                             const StoredObject* before, const StoredObject* after) {
  if (before != nullptr) {
    for (const std::string& owner : before->attributes.owner_uids) {
      const auto dependents = state.dependents.find(owner);
      dependents->second.erase(location);
      if (dependents->second.empty()) state.dependents.erase(dependents);
    }
  }
  if (after != nullptr) {
    for (const std::string& owner : after->attributes.owner_uids) {
      state.dependents[owner].insert(location);
    }
  }
}

std::vector<ObjectLocation> Store::DependentsOf(const std::string& uid) const {
  auto state = state_.Lock();
  const auto found = state->dependents.find(uid);
  if (found == state->dependents.end()) return {};
  return {found->second.begin(), found->second.end()};
}

bool Store::HasBlockingDependents(const std::string& uid) const {
  auto state = state_.Lock();
  const auto found = state->dependents.find(uid);
  if (found == state->dependents.end()) return false;
  return std::any_of(
      found->second.begin(), found->second.end(), [&](const ObjectLocation& location) {
        const auto& blocked_owners =
            state->resources[location.resource].objects.at(location.key)->attributes.blocked_owners;
        return std::find(blocked_owners.begin(), blocked_owners.end(), uid) != blocked_owners.end();
      });
}

void Store::CompactOldChanges(ResourceState& resource, TimePoint now) const {
  auto& history = resource.history;
  const auto is_too_old = [&] { return now - history.front().time > options_.history; };
  while (!history.empty() && (history.size() > options_.max_changes || is_too_old())) {
    resource.compacted = history.front().version();
    history.pop_front();
  }
}

std::vector<ObjectChange> Store::ChangesAfter(const std::string& resource, ResourceVersion version,
                                              std::size_t limit) const {
  auto state = state_.Lock();
  const auto found = state->resources.find(resource);
  if (found == state->resources.end()) return {};
  CompactOldChanges(found->second, options_.clock.Now());
  const auto& history = found->second.history;
  if (version < found->second.compacted) throw CompactedError();
  const auto first = FirstChangeAfter(history, version);
  const auto count = std::min<std::size_t>(limit, static_cast<std::size_t>(history.end() - first));
  return {first, first + static_cast<std::ptrdiff_t>(count)};
}

void Store::Compact() {
  auto state = state_.Lock();
  for (auto& [name, resource] : state->resources) {
    resource.compacted = state->version;
    resource.history.clear();
  }
}

void Store::Reset(const std::string& resource) {
  auto state = state_.Lock();
  for (const auto& [key, stored] : state->resources[resource].objects) {
    UpdateDependents(*state, {resource, key}, stored.get(), nullptr);
  }
  state->resources[resource] = {.objects = {}, .history = {}, .compacted = state->version};
}

Store::Listener::Listener(Store& store, std::string resource, std::function<void()> on_change)
    : store_(store), resource_(std::move(resource)), on_change_(std::move(on_change)) {
  store_.listeners_.Lock()->emplace(resource_, this);
}

Store::Listener::~Listener() {
  auto listeners = store_.listeners_.Lock();
  std::erase_if(*listeners, [&](const auto& entry) { return entry.second == this; });
}

void Store::NotifyListeners(const std::string& resource) {
  auto listeners = listeners_.Lock();
  const auto [first, last] = listeners->equal_range(resource);
  for (auto entry = first; entry != last; ++entry) entry->second->on_change_();
}

}  // namespace kopp::apiserver
