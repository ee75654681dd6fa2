#include "store.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

bool IsIn(const ObjectKey& key, const std::string& ns) { return ns.empty() || key.ns == ns; }

/// The first change after `version`.
auto FirstAfter(const std::deque<Change>& history, Version version) {
  return std::partition_point(history.begin(), history.end(),
                              [&](const Change& change) { return change.version() <= version; });
}

}  // namespace

bool ByPath::operator()(const ObjectKey& a, const ObjectKey& b) const {
  if (a.ns == b.ns) return a.name < b.name;
  const auto [of_a, of_b] = std::mismatch(a.ns.begin(), a.ns.end(), b.ns.begin(), b.ns.end());
  return (of_a == a.ns.end() ? '/' : *of_a) < (of_b == b.ns.end() ? '/' : *of_b);
}

StoredPtr Store::Get(const std::string& resource, const ObjectKey& key) const {
  auto state = state_.Lock();
  const auto of = state->resources.find(resource);
  if (of == state->resources.end()) return nullptr;
  const auto found = of->second.objects.find(key);
  return found == of->second.objects.end() ? nullptr : found->second;
}

Store::Snapshot Store::List(const std::string& resource, const std::string& ns,
                            std::optional<Version> at) const {
  auto state = state_.Lock();
  Snapshot snapshot{.version = at.value_or(state->version)};
  const auto of = state->resources.find(resource);
  if (of == state->resources.end()) return snapshot;
  Forget(of->second, options_.clock.Now());
  const auto& [objects, history, forgotten] = of->second;
  if (snapshot.version < forgotten) throw Compacted();

  // What was changed since then is as it was before the first change since then.
  Objects then;
  for (auto change = FirstAfter(history, snapshot.version); change != history.end(); ++change) {
    if (IsIn(change->key, ns)) then.emplace(change->key, change->before);
  }
  const auto first = ns.empty() ? objects.begin() : objects.lower_bound({ns, ""});
  const auto last = std::find_if_not(first, objects.end(),
                                     [&](const auto& entry) { return IsIn(entry.first, ns); });
  std::set_union(then.begin(), then.end(), first, last, std::back_inserter(snapshot.objects),
                 [](const auto& a, const auto& b) { return ByPath()(a.first, b.first); });
  std::erase_if(snapshot.objects, [](const auto& entry) { return entry.second == nullptr; });
  return snapshot;
}

bool Store::HasObjects(const std::string& resource, const std::string& ns) const {
  auto state = state_.Lock();
  const auto of = state->resources.find(resource);
  if (of == state->resources.end()) return false;
  const auto first = of->second.objects.lower_bound({ns, ""});
  return first != of->second.objects.end() && first->first.ns == ns;
}

StoredPtr Store::Put(const std::string& resource, const ObjectKey& key, const StoredPtr& seen,
                     json object, Attributes attributes) {
  return Write(resource, key, seen, std::move(object), std::move(attributes), false);
}

StoredPtr Store::Remove(const std::string& resource, const ObjectKey& key, const StoredPtr& seen,
                        json last) {
  return Write(resource, key, seen, std::move(last), seen->attributes, true);
}

StoredPtr Store::Write(const std::string& resource, const ObjectKey& key, const StoredPtr& seen,
                       json object, Attributes attributes, bool gone) {
  StoredPtr after;
  {
    auto state = state_.Lock();
    Resource& of = state->resources[resource];
    const auto there = of.objects.find(key);
    StoredPtr before = there == of.objects.end() ? nullptr : there->second;
    if (before != seen) return nullptr;
    const Version version = state->version + 1;
    object["metadata"]["resourceVersion"] = std::to_string(version);
    after = std::make_shared<const Stored>(Stored{version, object.dump(), std::move(attributes)});
    state->version = version;
    if (gone) {
      of.objects.erase(there);
    } else {
      of.objects.insert_or_assign(key, after);
    }
    Index(*state, {resource, key}, before.get(), gone ? nullptr : after.get());
    const TimePoint now = options_.clock.Now();
    of.history.push_back({key, std::move(before), after, gone, now});
    Forget(of, now);
  }
  Tell(resource);
  return after;
}

void Store::Index(State& state, const Place& place, const Stored* before, const Stored* after) {
  if (before != nullptr) {
    for (const std::string& owner : before->attributes.owners) {
      const auto of = state.dependents.find(owner);
      of->second.erase(place);
      if (of->second.empty()) state.dependents.erase(of);
    }
  }
  if (after != nullptr) {
    for (const std::string& owner : after->attributes.owners) {
      state.dependents[owner].insert(place);
    }
  }
}

std::vector<Place> Store::DependentsOf(const std::string& uid) const {
  auto state = state_.Lock();
  const auto found = state->dependents.find(uid);
  if (found == state->dependents.end()) return {};
  return {found->second.begin(), found->second.end()};
}

bool Store::IsHeldUp(const std::string& uid) const {
  auto state = state_.Lock();
  const auto found = state->dependents.find(uid);
  if (found == state->dependents.end()) return false;
  return std::any_of(found->second.begin(), found->second.end(), [&](const Place& place) {
    const auto& held_up =
        state->resources[place.resource].objects.at(place.key)->attributes.held_up;
    return std::find(held_up.begin(), held_up.end(), uid) != held_up.end();
  });
}

void Store::Forget(Resource& resource, TimePoint now) const {
  auto& history = resource.history;
  const auto is_too_old = [&] { return now - history.front().at > options_.history; };
  while (!history.empty() && (history.size() > options_.changes || is_too_old())) {
    resource.forgotten = history.front().version();
    history.pop_front();
  }
}

std::vector<Change> Store::ChangesAfter(const std::string& resource, Version version,
                                        std::size_t limit) const {
  auto state = state_.Lock();
  const auto of = state->resources.find(resource);
  if (of == state->resources.end()) return {};
  Forget(of->second, options_.clock.Now());
  const auto& history = of->second.history;
  if (version < of->second.forgotten) throw Compacted();
  const auto first = FirstAfter(history, version);
  const auto count = std::min<std::size_t>(limit, static_cast<std::size_t>(history.end() - first));
  return {first, first + static_cast<std::ptrdiff_t>(count)};
}

void Store::Compact() {
  auto state = state_.Lock();
  for (auto& [name, resource] : state->resources) {
    resource.forgotten = state->version;
    resource.history.clear();
  }
}

void Store::Begin(const std::string& resource) {
  auto state = state_.Lock();
  for (const auto& [key, stored] : state->resources[resource].objects) {
    Index(*state, {resource, key}, stored.get(), nullptr);
  }
  state->resources[resource] = {.objects = {}, .history = {}, .forgotten = state->version};
}

Store::Listener::Listener(Store& store, std::string resource, std::function<void()> changed)
    : store_(store), resource_(std::move(resource)), changed_(std::move(changed)) {
  store_.listeners_.Lock()->emplace(resource_, this);
}

Store::Listener::~Listener() {
  auto listeners = store_.listeners_.Lock();
  std::erase_if(*listeners, [&](const auto& entry) { return entry.second == this; });
}

void Store::Tell(const std::string& resource) {
  auto listeners = listeners_.Lock();
  const auto [first, last] = listeners->equal_range(resource);
  for (auto each = first; each != last; ++each) each->second->changed_();
}

}  // namespace kopp::apiserver
