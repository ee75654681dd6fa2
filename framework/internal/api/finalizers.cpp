#include "api/finalizers.hpp"

#include "json/accessors.hpp"

namespace kopp::apiserver {

std::vector<std::string> FinalizersOf(const nlohmann::json& object) {
  return StringListField(Field(object, "metadata"), "finalizers");
}

bool IsBeingDeleted(const nlohmann::json& object) {
  return !Field(Field(object, "metadata"), "deletionTimestamp").is_null();
}

}  // namespace kopp::apiserver
