#include "schema/field_set.hpp"

#include <algorithm>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include <kopp/dynamic_client.hpp>
#include <kopp/field_manager_migration.hpp>

namespace kopp {
namespace {

using nlohmann::json;
using schema::FieldSet;

constexpr const char* kApply = "Apply";

bool IsEntryOf(const json& entry, const std::string& manager, const std::string& subresource) {
  return entry.value("manager", "") == manager && entry.value("subresource", "") == subresource;
}

/// Moves the fields of one former manager in the list `entries`.
void MoveFields(json& entries, const std::string& from, const FieldManagerMigration& migration) {
  const auto is_applied = [](const json& entry) { return entry.value("operation", "") == kApply; };
  const auto is_target = [&](const json& entry) {
    return is_applied(entry) && IsEntryOf(entry, migration.to, migration.subresource);
  };
  const auto is_former = [&](const json& entry) {
    return IsEntryOf(entry, from, migration.subresource) && !is_target(entry);
  };
  auto target = std::ranges::find_if(entries, is_target);
  if (target == entries.end()) {
    target = std::ranges::find_if(entries, is_former);
    if (target == entries.end()) return;
    (*target)["manager"] = migration.to;
    (*target)["operation"] = kApply;
  }
  json& fields = (*target)["fieldsV1"];
  const std::string version = target->value("apiVersion", "");
  for (const json& entry : entries) {
    if (!is_former(entry) || entry.value("apiVersion", "") != version) continue;
    fields = Union(FieldSet::FromJson(fields), FieldSet::FromJson(entry.value("fieldsV1", json())))
                 .ToJson();
  }
  entries.erase(std::remove_if(entries.begin(), entries.end(), is_former), entries.end());
}

/// Returns the managedFields of an object, or null.
json ManagedFieldsOf(const json& object) {
  return object.value(json::json_pointer("/metadata/managedFields"), json());
}

}  // namespace

bool MigrateFieldManager(json& object, const FieldManagerMigration& migration) {
  if (migration.to.empty()) {
    throw std::invalid_argument(
        "FieldManagerMigration::to is empty: set the field manager that "
        "applies from now on");
  }
  const json before = ManagedFieldsOf(object);
  if (!before.is_array()) return false;
  json& entries = object["metadata"]["managedFields"];
  for (const std::string& from : migration.from) MoveFields(entries, from, migration);
  return entries != before;
}

std::optional<Patch> FieldManagerMigrationPatch(const json& object,
                                                const FieldManagerMigration& migration) {
  json migrated = object;
  if (!MigrateFieldManager(migrated, migration)) return std::nullopt;
  const json version = object.value(json::json_pointer("/metadata/resourceVersion"), json());
  if (!version.is_string()) {
    throw std::invalid_argument("the object has no metadata.resourceVersion: read it first");
  }
  // Not "test": if the version is another one, that would be 422 Invalid, not 409 Conflict.
  const auto replace = [](const char* path, const json& value) {
    return json{{"op", "replace"}, {"path", path}, {"value", value}};
  };
  return Patch::Json({replace("/metadata/managedFields", ManagedFieldsOf(migrated)),
                      replace("/metadata/resourceVersion", version)});
}

bool MigrateFieldManager(const Client& client, const Kind& kind, const ObjectKey& key,
                         FieldManagerMigration migration) {
  if (migration.to.empty()) migration.to = client.field_manager();
  const DynamicClient dynamic = client.Dynamic(kind);
  const std::optional<Unstructured> object = dynamic.Get(key);
  if (!object) return false;
  const std::optional<Patch> patch = FieldManagerMigrationPatch(object->Json(), migration);
  if (!patch) return false;
  dynamic.Patch(key, *patch);
  return true;
}

}  // namespace kopp
