#include "api/event_conversion.hpp"

#include <string_view>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

/// The two names of a field.
struct FieldNames {
  const char* stored;
  const char* served;
  bool always;  // served even if it is empty
};
constexpr FieldNames kNames[] = {
    {"involvedObject", "regarding", true},
    {"message", "note", false},
    {"source", "deprecatedSource", true},
    {"count", "deprecatedCount", false},
    {"firstTimestamp", "deprecatedFirstTimestamp", true},
    {"lastTimestamp", "deprecatedLastTimestamp", true},
    {"reportingComponent", "reportingController", false},
    {"reportingInstance", "reportingInstance", false},
};

void Rename(json& object, const char* from, const char* to) {
  const auto found = object.find(from);
  if (found == object.end() || from == std::string_view(to)) return;
  json value = std::move(*found);
  object.erase(found);
  object[to] = std::move(value);
}

}  // namespace

bool NeedsConversion(const Resource& resource) { return resource.group == "events.k8s.io"; }

json ToStorageVersion(const Resource& resource, json object) {
  if (!NeedsConversion(resource)) return object;
  for (const auto& [stored, served, always] : kNames) Rename(object, served, stored);
  return object;
}

json FromStorageVersion(const Resource& resource, json object) {
  if (!NeedsConversion(resource)) return object;
  for (const auto& [stored, served, always] : kNames) {
    Rename(object, stored, served);
    if (!always && object.contains(served) && object[served] == "") object.erase(served);
  }
  return object;
}

}  // namespace kopp::apiserver
