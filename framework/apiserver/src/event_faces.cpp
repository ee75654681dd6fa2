#include "event_faces.hpp"

#include <string_view>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

struct Names {
  const char* kept;
  const char* shown;
  bool always;  // shown even where it says nothing
};
constexpr Names kNames[] = {
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

bool HasOwnFace(const Resource& resource) { return resource.group == "events.k8s.io"; }

json ToKept(const Resource& resource, json object) {
  if (!HasOwnFace(resource)) return object;
  for (const auto& [kept, shown, always] : kNames) Rename(object, shown, kept);
  return object;
}

json FromKept(const Resource& resource, json object) {
  if (!HasOwnFace(resource)) return object;
  for (const auto& [kept, shown, always] : kNames) {
    Rename(object, kept, shown);
    if (!always && object.contains(shown) && object[shown] == "") object.erase(shown);
  }
  return object;
}

}  // namespace kopp::apiserver
