#pragma once

#include "json/schema_names.hpp"
#include "schema/field_set.hpp"

#include <map>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

// The entries of metadata.managedFields.

namespace kopp::apiserver {

// The values of ManagerId::operation.
constexpr std::string_view kApplyOperation = "Apply";
constexpr std::string_view kUpdateOperation = "Update";

/// Identifies an entry of metadata.managedFields. Apply entries of a manager are merged whatever
/// their apiVersion; Update entries are separate for each apiVersion.
struct ManagerId {
  std::string operation{};
  std::string name{};
  std::string api_version{};  ///< empty for operation Apply
  std::string subresource{};
  auto operator<=>(const ManagerId&) const = default;
};

/// The fields that a manager owns.
struct ManagerEntry {
  FieldSet fields{};
  std::string api_version{};
  std::string time{};
};

using ManagerEntries = std::map<ManagerId, ManagerEntry>;

/// Returns the entries of an object, or none if it has none.
[[nodiscard]] ManagerEntries ParseManagedFields(const nlohmann::json& object);

/// Sets metadata.managedFields: Apply entries first, then by time, manager and apiVersion. Removes
/// it if there are no entries.
void SetManagedFields(nlohmann::json& object, const ManagerEntries& entries);

/// Limits the number of Update entries: merges the oldest ones of each apiVersion into one entry of
/// the manager "ancient-changes".
void CapUpdateManagers(ManagerEntries& entries);

}  // namespace kopp::apiserver
