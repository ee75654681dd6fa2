#include "kubectl/virtual/pod_updates.hpp"

#include "api/status.hpp"
#include "json/schema_names.hpp"
#include "schema/accessors.hpp"
#include "storage/stored_objects.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

using nlohmann::json;

void SetObjectCondition(json& conditions, json condition, const std::string& now) {
  condition["lastTransitionTime"] = now;
  const auto found = std::find_if(conditions.begin(), conditions.end(), [&](const json& each) {
    return each.at("type") == condition.at("type");
  });
  if (found == conditions.end()) return conditions.push_back(std::move(condition));
  if (Field(*found, "status") == condition.at("status")) {
    condition["lastTransitionTime"] = Field(*found, "lastTransitionTime");
  }
  *found = std::move(condition);
}

json UpdateStoredPod(ServerContext& context, const Resource& pods, const ObjectKey& key,
                     const std::function<void(json& pod)>& update) {
  for (;;) {
    const StoredObjectPtr seen = context.store().Get(pods.storage_resource, key);
    if (seen == nullptr) throw NotFound(pods, key.name);
    const json before = json::parse(seen->text);
    json pod = before;
    update(pod);
    if (pod == before) return pod;
    if (context.store().Put(pods.storage_resource, key, seen, pod, ObjectAttributesOf(pods, pod)) !=
        nullptr) {
      return pod;
    }
  }
}

}  // namespace kopp::apiserver
