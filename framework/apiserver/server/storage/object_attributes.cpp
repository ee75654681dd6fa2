#include "storage/object_attributes.hpp"

#include "api/selectable_fields.hpp"
#include "schema/finalizers.hpp"

#include <algorithm>
#include <set>
#include <string>

namespace kopp::apiserver {

using nlohmann::json;

ObjectAttributes ObjectAttributesOf(const Resource& resource, const json& object) {
  ObjectAttributes attributes;
  const json& metadata = object.at("metadata");
  attributes.uid = metadata.value("uid", "");
  if (const auto labels = metadata.find("labels"); labels != metadata.end()) {
    for (const auto& [name, value] : labels->items()) {
      attributes.labels.emplace(name, value.is_string() ? value.get<std::string>() : "");
    }
  }
  if (const auto owners = metadata.find("ownerReferences"); owners != metadata.end()) {
    std::set<std::string> uids;
    for (const json& owner : *owners) {
      const std::string uid = owner.value("uid", "");
      uids.insert(uid);
      if (owner.value("blockOwnerDeletion", false)) attributes.blocked_owners.push_back(uid);
    }
    attributes.owner_uids.assign(uids.begin(), uids.end());
  }
  const json finalizers = metadata.value("finalizers", json::array());
  attributes.foreground_deletion =
      metadata.contains("deletionTimestamp") &&
      std::find(finalizers.begin(), finalizers.end(), kForegroundFinalizer) != finalizers.end();
  attributes.fields = SelectableFieldValues(resource, object);
  return attributes;
}

}  // namespace kopp::apiserver
