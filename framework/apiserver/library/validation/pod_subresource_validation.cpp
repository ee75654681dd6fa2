#include "json/schema_names.hpp"
#include "schema/accessors.hpp"
#include "validation/kind_strategies.hpp"

#include <algorithm>
#include <string>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr const char* kEphemeral = "/spec/ephemeralContainers";

json WithEphemeralContainers(const json& live, const json& object) {
  json merged = live;
  const json& containers = ValueAt(object, kEphemeral);
  merged["spec"].erase("ephemeralContainers");
  if (!containers.empty()) merged["spec"]["ephemeralContainers"] = containers;
  return merged;
}

/// Allows a client to add ephemeral containers, but not to change or to remove them.
void ValidateEphemeralContainersUpdate(const json& before, const json& after, FieldErrors& errors) {
  ValidateEphemeralContainers(FieldRef(after)["spec"], errors);
  const json& containers = ValueAt(after, kEphemeral);
  for (const json& old_container : ValueAt(before, kEphemeral)) {
    const std::string name = StringField(old_container, "name");
    const auto container =
        std::find_if(containers.begin(), containers.end(),
                     [&](const json& each) { return StringField(each, "name") == name; });
    const bool is_removed = container == containers.end();
    if (!is_removed && *container == old_container) continue;
    errors.push_back(ForbiddenField("spec.ephemeralContainers",
                                    "existing ephemeral containers \"" + name + "\" may not be " +
                                        (is_removed ? "removed\n" : "changed\n")));
  }
}

}  // namespace

void AddPodSubresourceStrategies(StrategiesByKind& strategies) {
  strategies["pods"].subresources["ephemeralcontainers"] = {
      .merge = &WithEphemeralContainers, .validate_update = &ValidateEphemeralContainersUpdate};
}

}  // namespace kopp::apiserver
