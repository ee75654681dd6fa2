#pragma once

#include "api/resource.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// A resourceVersion. All resources share one sequence: each write gets the next number.
using ResourceVersion = std::uint64_t;

/// The parts of an object that selectors and garbage collection need. They are stored beside the
/// object's text, so that reading them requires no parsing.
struct ObjectAttributes {
  std::string uid{};
  std::map<std::string, std::string> labels{};
  std::map<std::string, std::string> fields{};  ///< values of the fields that selectors may name
  std::vector<std::string> owner_uids{};
  std::vector<std::string> blocked_owners{};  ///< uids of owners with blockOwnerDeletion
  bool foreground_deletion = false;  ///< is being deleted with propagationPolicy Foreground
};

/// Returns the names of the fields that field selectors of a resource may use.
[[nodiscard]] std::vector<std::string> SelectableFields(const Resource& resource);

/// Returns the values of the selectable fields of a stored object, by name. The value of a field
/// that is not set is "". metadata.name and metadata.namespace are left out: they are in the
/// object's key.
[[nodiscard]] std::map<std::string, std::string> SelectableFieldValues(
    const Resource& resource, const nlohmann::json& object);

}  // namespace kopp::apiserver
