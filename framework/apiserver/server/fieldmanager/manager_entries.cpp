#include "fieldmanager/manager_entries.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

/// Returns the managedFields list: Apply entries first, then by time, manager and apiVersion.
json SerializeManagedFields(const ManagerEntries& entries) {
  std::vector<const ManagerEntries::value_type*> sorted;
  for (const auto& pair : entries) sorted.push_back(&pair);
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) {
    const auto sort_key = [](const auto* pair) {
      const auto& [manager, entry] = *pair;
      return std::tuple(manager.operation, entry.time, manager.name, entry.api_version,
                        manager.subresource);
    };
    return sort_key(a) < sort_key(b);
  });
  json result = json::array();
  for (const auto* pair : sorted) {
    const auto& [manager, entry] = *pair;
    json& added = result.emplace_back(json{{"manager", manager.name},
                                           {"operation", manager.operation},
                                           {"apiVersion", entry.api_version},
                                           {"fieldsType", "FieldsV1"},
                                           {"fieldsV1", entry.fields.ToJson()}});
    if (!entry.time.empty()) added["time"] = entry.time;
    if (!manager.subresource.empty()) added["subresource"] = manager.subresource;
  }
  return result;
}

}  // namespace

ManagerEntries ParseManagedFields(const json& object) {
  ManagerEntries entries;
  const json::json_pointer pointer("/metadata/managedFields");
  if (!object.contains(pointer) || !object[pointer].is_array()) return entries;
  for (const json& item : object[pointer]) {
    ManagerId manager{item.value("operation", ""), item.value("manager", ""), "",
                      item.value("subresource", "")};
    ManagerEntry entry{FieldSet::FromJson(item.value("fieldsV1", json())),
                       item.value("apiVersion", ""), item.value("time", "")};
    if (manager.operation == kUpdateOperation) manager.api_version = entry.api_version;
    entries.emplace(std::move(manager), std::move(entry));
  }
  return entries;
}

void SetManagedFields(json& object, const ManagerEntries& entries) {
  json& metadata = object["metadata"];
  metadata.erase("managedFields");
  if (!entries.empty()) metadata["managedFields"] = SerializeManagedFields(entries);
}

void CapUpdateManagers(ManagerEntries& entries) {
  constexpr std::size_t kMaxUpdateManagers = 10;
  std::vector<std::pair<std::string, ManagerId>> updaters;  // by time, then name
  for (const auto& [manager, entry] : entries) {
    if (manager.operation == kUpdateOperation) updaters.emplace_back(entry.time, manager);
  }
  std::sort(updaters.begin(), updaters.end());
  std::map<std::string, ManagerId> oldest;
  std::size_t count = updaters.size();
  for (const auto& [time, updater] : updaters) {
    if (count <= kMaxUpdateManagers) return;
    const auto& [first, is_oldest] = oldest.emplace(updater.api_version, updater);
    if (is_oldest) continue;
    const ManagerId merged{std::string(kUpdateOperation), "ancient-changes", updater.api_version,
                           ""};
    if (!entries.contains(merged)) {
      auto node = entries.extract(first->second);
      node.key() = merged;
      entries.insert(std::move(node));
    }
    ManagerEntry& all = entries.at(merged);
    all.fields = Union(all.fields, entries.at(updater).fields);
    all.time = time;
    entries.erase(updater);
    --count;
  }
}

}  // namespace kopp::apiserver
