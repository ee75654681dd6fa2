#pragma once

#include "json/schema_names.hpp"
#include "schema/field_ref.hpp"

namespace kopp::apiserver {

/// Returns whether a Service with this spec has an externalTrafficPolicy.
[[nodiscard]] inline bool NeedsTrafficPolicy(const FieldRef& spec) {
  return spec["type"].is("NodePort") || spec["type"].is("LoadBalancer") ||
         (spec["type"].is("ClusterIP") && spec["externalIPs"].size() > 0);
}

/// Returns whether a Service with this spec has a healthCheckNodePort.
[[nodiscard]] inline bool NeedsHealthCheckPort(const FieldRef& spec) {
  return spec["type"].is("LoadBalancer") && spec["externalTrafficPolicy"].is("Local");
}

}  // namespace kopp::apiserver
