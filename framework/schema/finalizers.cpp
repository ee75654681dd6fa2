#include "schema/finalizers.hpp"

#include "schema/accessors.hpp"

namespace kopp::schema {

std::vector<std::string> FinalizersOf(const nlohmann::json& object) {
  return StringListField(Field(object, "metadata"), "finalizers");
}

bool IsBeingDeleted(const nlohmann::json& object) {
  return !Field(Field(object, "metadata"), "deletionTimestamp").is_null();
}

bool IsQualifiedFinalizer(std::string_view name) {
  return name.find('/') != std::string_view::npos || name == kOrphanFinalizer ||
         name == kForegroundFinalizer || name == "kubernetes";
}

}  // namespace kopp::schema
