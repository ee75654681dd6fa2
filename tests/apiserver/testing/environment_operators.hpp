#pragma once

#include <chrono>
#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

#include <kopp/kinds.hpp>
#include <kopp/testing/environment.hpp>

namespace kopp {

inline const ObjectKey settings{"default", "settings"};

inline nlohmann::json ConfigMapNamed(const std::string& name) {
  return {{"metadata", {{"name", name}, {"namespace", "default"}}}};
}

/// A reconciler that sets the key "seen" of a ConfigMap and records an Event.
inline Result MarkAsSeen(const ConfigMap& map, Context& context) {
  if (map.data.contains("seen")) return {};
  context.client.Patch<ConfigMap>(KeyOf(map), Patch::Merge({{"data", {{"seen", "yes"}}}}));
  context.events.Normal(map, "Seen", "the map was seen");
  return {.requeue_after = std::chrono::minutes(5)};
}

inline bool IsSeen(const ConfigMap& map) { return map.data.contains("seen"); }

inline Result Fail(const ConfigMap& /*map*/, Context& /*context*/) {
  throw std::runtime_error("the reconciler failed");
}

struct Gadget {  // a kind that the server does not have
  static constexpr Kind kKind{"example.com/v1", "Gadget", "gadgets"};
  ObjectMeta metadata = {};
};
KOPP_FIELDS(Gadget, metadata)

}  // namespace kopp
