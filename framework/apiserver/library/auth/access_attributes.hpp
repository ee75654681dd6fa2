#pragma once

#include "api/request.hpp"
#include "api/status.hpp"

#include <string>

namespace kopp::apiserver {

/// What a user wants to do: the attributes that authorization decides on.
struct AccessAttributes {
  std::string verb{};
  bool is_resource = true;  ///< whether it is a resource, or else a path such as /healthz
  std::string group{};
  std::string version{};
  std::string resource{};
  std::string subresource{};
  std::string ns{};    ///< empty: all namespaces, or a cluster-scoped resource
  std::string name{};  ///< empty: all names, or unknown
  std::string path{};
};

/// Returns the attributes of a request. The name of a list or a watch is the one that the field
/// selector metadata.name selects.
[[nodiscard]] AccessAttributes AttributesOf(const ServerRequest& request);

/// Returns the error (403) for a user without the permission. `reason` may be empty.
[[nodiscard]] StatusError AccessDenied(const User& user, const AccessAttributes& attributes,
                                       const std::string& reason);

}  // namespace kopp::apiserver
