#include "fieldmanager/managed_fields.hpp"

#include "decoding/defaults.hpp"
#include "fieldmanager/manager_entries.hpp"
#include "schema/typed_value.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

ManagerId ApplyManagerId(const FieldManager& manager) {
  return {std::string(kApplyOperation), manager.name, "", manager.subresource};
}

ManagerId UpdateManagerId(const FieldManager& manager) {
  return {std::string(kUpdateOperation), manager.name, manager.api_version, manager.subresource};
}

/// Returns `object` without the fields that have no manager: its type, its identity and the
/// metadata that the server sets.
json WithoutUnmanagedFields(json object) {
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

/// Returns the part of an applied configuration that its manager will own.
json ManagedPartOf(json config) {
  config = WithoutUnmanagedFields(std::move(config));
  const auto metadata = config.find("metadata");
  if (metadata != config.end() && metadata->empty()) config.erase(metadata);
  return config;
}

/// Returns whether `object` has been created. A new object has no uid yet.
bool HasUid(const json& object) {
  const auto metadata = object.find("metadata");
  return metadata != object.end() && metadata->contains("uid");
}

/// Returns the fields that belong to the only manager of an object.
FieldSet AllFields(const json& object, const Schema& schema, const FieldManager& manager) {
  json zero = ZeroObject(schema);
  if (manager.has_status && object.contains("status")) zero["status"] = object["status"];
  const json managed = WithoutUnmanagedFields(object);
  const Comparison change = Compare(zero, managed, schema);
  return Union(change.added, change.modified);
}

/// Returns the entries of `live`. If an existing object has none, all its fields belong to the
/// manager "before-first-apply".
ManagerEntries EntriesBeforeApply(const json& live, const Schema& schema,
                                  const FieldManager& manager) {
  ManagerEntries entries = ParseManagedFields(live);
  if (!entries.empty() || !HasUid(live)) return entries;
  const FieldSet all = AllFields(live, schema, manager);
  if (all.empty()) return entries;
  ManagerId before_first_apply{std::string(kUpdateOperation), "before-first-apply",
                               manager.api_version, ""};
  entries.emplace(before_first_apply,
                  ManagerEntry{all, before_first_apply.api_version, manager.time});
  return entries;
}

/// Removes the changed fields from the entries of all managers except `manager`. Returns the added
/// and modified fields that others owned, by manager: these are the conflicts of an apply.
std::map<ManagerId, FieldSet> RemoveFromOtherManagers(ManagerEntries& entries,
                                                      const ManagerId& manager,
                                                      const Comparison& change) {
  const FieldSet changed = Union(change.modified, change.added);
  std::map<ManagerId, FieldSet> conflicts;
  for (auto& [other, entry] : entries) {
    if (other == manager) continue;
    const FieldSet conflict = Intersection(entry.fields, changed);
    if (!conflict.empty()) conflicts.emplace(other, conflict);
    entry.fields = Difference(Difference(entry.fields, conflict), change.removed);
  }
  std::erase_if(entries, [](const auto& entry) { return entry.second.fields.empty(); });
  return conflicts;
}

/// Formats a manager for a conflict message: "kubectl" using apps/v1.
std::string FormatManager(const ManagerId& manager, const ManagerEntry& entry) {
  std::string name = '"' + manager.name + '"';
  if (!manager.subresource.empty()) name += " with subresource \"" + manager.subresource + '"';
  return manager.operation == kUpdateOperation ? name + " using " + entry.api_version : name;
}

void ThrowIfConflicts(const std::map<ManagerId, FieldSet>& conflicts,
                      const ManagerEntries& entries) {
  std::vector<ApplyConflict::Conflict> all;
  for (const auto& [manager, fields] : conflicts) {
    const std::string name = FormatManager(manager, entries.at(manager));
    ForEachPath(fields, [&](const std::string& path) { all.push_back({path, name}); });
  }
  if (all.empty()) return;
  std::ranges::stable_sort(all, {}, &ApplyConflict::Conflict::manager);
  throw ApplyConflict(std::move(all));
}

/// Returns `merged` without the fields in `last`, which the manager applied last time, that no
/// entry owns any more.
json PruneUnappliedFields(const json& merged, const ManagerEntries& entries, const FieldSet& last,
                          const Schema& schema) {
  if (last.empty()) return merged;
  FieldSet all_owned;
  for (const auto& [manager, entry] : entries) all_owned = Union(all_owned, entry.fields);
  const FieldSet all = EnsureNamedFieldsAreMembers(ToFieldSet(merged, schema), schema);
  const auto lost_fields = [&](const json& pruned) {
    return Difference(all, EnsureNamedFieldsAreMembers(ToFieldSet(pruned, schema), schema));
  };
  const json pruned = RemoveFields(merged, EnsureNamedFieldsAreMembers(last, schema), schema);
  const json kept = RemoveFields(
      merged, Difference(lost_fields(pruned), EnsureNamedFieldsAreMembers(all_owned, schema)),
      schema);
  return RemoveFields(
      merged, Intersection(lost_fields(kept), EnsureNamedFieldsAreMembers(last, schema)), schema);
}

/// Returns the entries of `after`: `manager` owns the fields that changed since `before`. There are
/// none if `after` has one empty entry, or if fields of the object have not been tracked yet.
ManagerEntries EntriesAfterUpdate(const json& before, const json& after, const Schema& schema,
                                  const FieldManager& manager) {
  const json::json_pointer pointer("/metadata/managedFields");
  if (after.value(pointer, json()) == json::array({json::object()})) return {};
  // A client may change the entries of the object itself, but not through a subresource.
  ManagerEntries entries = ParseManagedFields(manager.subresource.empty() ? after : before);
  if (entries.empty()) entries = ParseManagedFields(before);
  if (entries.empty() && HasUid(before)) return {};  // not tracked until the first apply
  const Comparison change =
      Compare(WithoutUnmanagedFields(before), WithoutUnmanagedFields(after), schema);
  const ManagerId id = UpdateManagerId(manager);
  RemoveFromOtherManagers(entries, id, change);
  ManagerEntry& own = entries[id];
  const FieldSet taken = Union(change.modified, change.added);
  own.fields = Union(Difference(own.fields, change.removed), taken);
  if (!taken.empty()) {  // also if it owned them before
    own.api_version = manager.api_version;
    own.time = manager.time;
  }
  if (own.fields.empty()) entries.erase(id);
  CapUpdateManagers(entries);
  return entries;
}

}  // namespace

FieldManager FieldManagerOf(const WriteRequest& write, const std::string& now) {
  const std::string& subresource = write.target.subresource;
  return {.name = write.options.field_manager,
          .api_version = write.resource.api_version(),
          .subresource = subresource,
          .time = subresource == "scale" ? "" : now,  // entries of a scale have no time
          .has_status = write.resource.HasSubresource("status")};
}

void SetFirstManager(json& object, const Schema& schema, const FieldManager& manager) {
  ManagerEntries entries;
  try {
    const FieldSet fields = AllFields(object, schema, manager);
    if (!fields.empty())
      entries[UpdateManagerId(manager)] = {fields, manager.api_version, manager.time};
  } catch (const std::invalid_argument&) {
    // The fields of an object with values of wrong types cannot be tracked.
  }
  SetManagedFields(object, entries);
}

json UpdateManagedFields(const json& before, json after, const Schema& schema,
                         const FieldManager& manager) {
  ManagerEntries entries;
  try {
    entries = EntriesAfterUpdate(before, after, schema, manager);
  } catch (const std::invalid_argument&) {
    // The fields of an object with values of wrong types cannot be tracked.
  }
  SetManagedFields(after, entries);
  return after;
}

json ServerSideApply(const json& live, const json& config, const Schema& schema,
                     const FitToKind& fit_to_kind, const FieldManager& manager, bool force) {
  const ManagerEntries before = EntriesBeforeApply(live, schema, manager);
  ManagerEntries entries = before;
  const ManagerId id = ApplyManagerId(manager);
  ManagerEntry& own = entries[id];
  const FieldSet last = own.fields;
  own.fields = ToFieldSet(ManagedPartOf(config), schema);
  own.api_version = manager.api_version;

  const json merged =
      PruneUnappliedFields(MergeValues(live, config, schema), entries, last, schema);
  const Comparison change =
      Compare(WithoutUnmanagedFields(live), WithoutUnmanagedFields(merged), schema);
  const auto conflicts = RemoveFromOtherManagers(entries, id, change);
  if (!force) ThrowIfConflicts(conflicts, before);

  json after = fit_to_kind(merged);
  if (const auto applied = entries.find(id); applied != entries.end()) {
    if (!change.IsSame()) applied->second.time = manager.time;
    if (applied->second.fields.empty()) entries.erase(applied);
  }
  SetManagedFields(after, entries);
  return after;
}

}  // namespace kopp::apiserver
