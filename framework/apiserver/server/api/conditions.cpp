#include "api/conditions.hpp"

#include "schema/accessors.hpp"

#include <algorithm>
#include <utility>

namespace kopp::apiserver {

using nlohmann::json;

bool HasConditionOfType(const json& object, std::string_view type) {
  const json& conditions = schema::ValueAt(object, "/status/conditions");
  return std::any_of(conditions.begin(), conditions.end(), [&](const json& condition) {
    return schema::StringAt(condition, "/type") == type;
  });
}

void SetObjectCondition(json& conditions, json condition, const std::string& now) {
  condition["lastTransitionTime"] = now;
  const auto found = std::find_if(conditions.begin(), conditions.end(), [&](const json& each) {
    return each.at("type") == condition.at("type");
  });
  if (found == conditions.end()) return conditions.push_back(std::move(condition));
  if (schema::Field(*found, "status") == condition.at("status")) {
    condition["lastTransitionTime"] = schema::Field(*found, "lastTransitionTime");
  }
  *found = std::move(condition);
}

}  // namespace kopp::apiserver
