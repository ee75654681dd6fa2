#include "managed_fields.hpp"

#include "defaults.hpp"
#include "typed_value.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr std::string_view kApply = "Apply";
constexpr std::string_view kUpdate = "Update";

/// Entries of one owner are one: an applier's whatever the version that it applied, an updater's
/// for each version.
struct Owner {
  std::string operation{};
  std::string manager{};
  std::string api_version{};  // of an updater
  std::string subresource{};
  auto operator<=>(const Owner&) const = default;
};

struct Owned {
  FieldSet fields{};
  std::string api_version{};
  std::string time{};
};

using Owners = std::map<Owner, Owned>;

Owner ApplierOf(const Writer& writer) {
  return {std::string(kApply), writer.manager, "", writer.subresource};
}

Owner UpdaterOf(const Writer& writer) {
  return {std::string(kUpdate), writer.manager, writer.api_version, writer.subresource};
}

Owners OwnersOf(const json& object) {
  Owners owners;
  const json::json_pointer at("/metadata/managedFields");
  if (!object.contains(at) || !object[at].is_array()) return owners;
  for (const json& entry : object[at]) {
    Owner owner{entry.value("operation", ""), entry.value("manager", ""), "",
                entry.value("subresource", "")};
    Owned owned{FieldSet::FromJson(entry.value("fieldsV1", json())), entry.value("apiVersion", ""),
                entry.value("time", "")};
    if (owner.operation == kUpdate) owner.api_version = owned.api_version;
    owners.emplace(std::move(owner), std::move(owned));
  }
  return owners;
}

/// Those who applied first; among the others the earliest first.
json EntriesOf(const Owners& owners) {
  std::vector<const Owners::value_type*> order;
  for (const auto& entry : owners) order.push_back(&entry);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    const auto rank = [](const auto* entry) {
      const auto& [owner, owned] = *entry;
      return std::tuple(owner.operation, owned.time, owner.manager, owned.api_version,
                        owner.subresource);
    };
    return rank(a) < rank(b);
  });
  json entries = json::array();
  for (const auto* entry : order) {
    const auto& [owner, owned] = *entry;
    json& added = entries.emplace_back(json{{"manager", owner.manager},
                                            {"operation", owner.operation},
                                            {"apiVersion", owned.api_version},
                                            {"fieldsType", "FieldsV1"},
                                            {"fieldsV1", owned.fields.ToJson()}});
    if (!owned.time.empty()) added["time"] = owned.time;
    if (!owner.subresource.empty()) added["subresource"] = owner.subresource;
  }
  return entries;
}

void SetEntries(json& object, const Owners& owners) {
  json& metadata = object["metadata"];
  metadata.erase("managedFields");
  if (!owners.empty()) metadata["managedFields"] = EntriesOf(owners);
}

/// What nobody owns: the object's identity and what the server keeps of it.
json WithoutIdentity(json object) {
  object.erase("apiVersion");
  object.erase("kind");
  if (const auto metadata = object.find("metadata"); metadata != object.end()) {
    for (const char* name : {"name", "namespace", "creationTimestamp", "selfLink", "uid",
                             "generation", "managedFields", "resourceVersion"}) {
      metadata->erase(name);
    }
  }
  return object;
}

json AppliedPart(json config) {
  config = WithoutIdentity(std::move(config));
  const auto metadata = config.find("metadata");
  if (metadata != config.end() && metadata->empty()) config.erase(metadata);
  return config;
}

/// An object that is there, and not the beginning of a new one.
bool IsKept(const json& object) {
  const auto metadata = object.find("metadata");
  return metadata != object.end() && metadata->contains("uid");
}

/// What nobody manages belongs to one who came before all others.
Owners OwnersBeforeApply(const json& live, const Schema& schema, const Writer& writer) {
  Owners owners = OwnersOf(live);
  if (!owners.empty() || !IsKept(live)) return owners;
  json blank = Blank(schema);
  if (writer.has_status && live.contains("status")) blank["status"] = live["status"];
  const Comparison change = Compare(blank, WithoutIdentity(live), schema);
  const FieldSet all = Union(change.added, change.modified);
  if (all.empty()) return owners;
  Owner first{std::string(kUpdate), "before-first-apply", writer.api_version, ""};
  owners.emplace(first, Owned{all, first.api_version, writer.time});
  return owners;
}

/// Takes what changed from all owners but `writer`. Returns what it took, by owner.
std::map<Owner, FieldSet> Disown(Owners& owners, const Owner& writer, const Comparison& change) {
  const FieldSet touched = Union(change.modified, change.added);
  std::map<Owner, FieldSet> taken;
  for (auto& [owner, owned] : owners) {
    if (owner == writer) continue;
    const FieldSet conflict = Intersection(owned.fields, touched);
    if (!conflict.empty()) taken.emplace(owner, conflict);
    owned.fields = Difference(Difference(owned.fields, conflict), change.removed);
  }
  std::erase_if(owners, [](const auto& entry) { return entry.second.fields.empty(); });
  return taken;
}

std::string InMessages(const Owner& owner, const Owned& owned) {
  std::string name = '"' + owner.manager + '"';
  if (!owner.subresource.empty()) name += " with subresource \"" + owner.subresource + '"';
  return owner.operation == kUpdate ? name + " using " + owned.api_version : name;
}

void RefuseConflicts(const std::map<Owner, FieldSet>& conflicts, const Owners& owners) {
  std::vector<ApplyConflict::Cause> causes;
  for (const auto& [owner, fields] : conflicts) {
    const std::string name = InMessages(owner, owners.at(owner));
    ForEachPath(fields, [&](const std::string& path) { causes.push_back({path, name}); });
  }
  if (causes.empty()) return;
  std::sort(causes.begin(), causes.end(), [](const auto& a, const auto& b) {
    return std::tie(a.owner, a.field) < std::tie(b.owner, b.field);
  });
  throw ApplyConflict(std::move(causes));
}

/// Updaters are many where each has a name of its own: then the oldest of each version become one.
void MergeOldest(Owners& owners) {
  constexpr std::size_t kMost = 10;
  std::vector<std::pair<std::string, Owner>> updaters;  // by time, then name
  for (const auto& [owner, owned] : owners) {
    if (owner.operation == kUpdate) updaters.emplace_back(owned.time, owner);
  }
  std::sort(updaters.begin(), updaters.end());
  std::map<std::string, Owner> firsts;
  std::size_t left = updaters.size();
  for (const auto& [time, updater] : updaters) {
    if (left <= kMost) return;
    const auto& [first, is_first] = firsts.emplace(updater.api_version, updater);
    if (is_first) continue;
    const Owner merged{std::string(kUpdate), "ancient-changes", updater.api_version, ""};
    if (!owners.contains(merged)) {
      auto node = owners.extract(first->second);
      node.key() = merged;
      owners.insert(std::move(node));
    }
    Owned& all = owners.at(merged);
    all.fields = Union(all.fields, owners.at(updater).fields);
    all.time = time;
    owners.erase(updater);
    --left;
  }
}

/// `merged` without what the writer applied last time and nobody names any more.
json Pruned(const json& merged, const Owners& owners, const FieldSet& last, const Schema& schema) {
  if (last.empty()) return merged;
  FieldSet owned;
  for (const auto& [owner, entry] : owners) owned = Union(owned, entry.fields);
  const FieldSet all = WithNamedFields(FieldsOf(merged, schema), schema);
  const auto lost_in = [&](const json& pruned) {
    return Difference(all, WithNamedFields(FieldsOf(pruned, schema), schema));
  };
  const json pruned = Without(merged, WithNamedFields(last, schema), schema);
  const json kept =
      Without(merged, Difference(lost_in(pruned), WithNamedFields(owned, schema)), schema);
  return Without(merged, Intersection(lost_in(kept), WithNamedFields(last, schema)), schema);
}

}  // namespace

json Updated(const json& before, json after, const Schema& schema, const Writer& writer) try {
  const json sent = after["metadata"].value("managedFields", json());
  if (sent == json::array({json::object()})) {
    SetEntries(after, {});
    return after;
  }
  // Who sends entries may have changed them; a subresource is no place for that.
  Owners owners = OwnersOf(writer.subresource.empty() ? after : before);
  if (owners.empty()) owners = OwnersOf(before);
  if (owners.empty() && IsKept(before)) {  // it began without, and stays so until it is applied
    SetEntries(after, {});
    return after;
  }
  const Comparison change = Compare(WithoutIdentity(before), WithoutIdentity(after), schema);
  const Owner updater = UpdaterOf(writer);
  Disown(owners, updater, change);
  Owned& own = owners[updater];
  const FieldSet fields =
      Union(Difference(own.fields, change.removed), Union(change.modified, change.added));
  if (fields != own.fields) own = {fields, writer.api_version, writer.time};
  if (own.fields.empty()) owners.erase(updater);
  MergeOldest(owners);
  SetEntries(after, owners);
  return after;
} catch (
    const std::invalid_argument&) {  // a list's item without its key: who owns it nobody can say
  SetEntries(after, {});
  return after;
}

json Applied(const json& live, const json& config, const Schema& schema, const Fit& fit,
             const Writer& writer, bool force) {
  const Owners before = OwnersBeforeApply(live, schema, writer);
  Owners owners = before;
  const Owner applier = ApplierOf(writer);
  Owned& own = owners[applier];
  const FieldSet last = own.fields;
  own.fields = FieldsOf(AppliedPart(config), schema);
  own.api_version = writer.api_version;

  const json merged = Pruned(Merged(live, config, schema), owners, last, schema);
  const Comparison change = Compare(WithoutIdentity(live), WithoutIdentity(merged), schema);
  const auto conflicts = Disown(owners, applier, change);
  if (!force) RefuseConflicts(conflicts, before);

  json after = fit(merged);
  if (const auto mine = owners.find(applier); mine != owners.end()) {
    if (!change.IsSame()) mine->second.time = writer.time;
    if (mine->second.fields.empty()) owners.erase(mine);
  }
  SetEntries(after, owners);
  return after;
}

}  // namespace kopp::apiserver
