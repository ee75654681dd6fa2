#pragma once

#include "api/request.hpp"
#include "api/resource.hpp"

#include <string_view>

// The content types of request bodies. Each function throws StatusError (415), with the same
// message as kube-apiserver, if a type is not supported.

namespace kopp::apiserver {

/// The media type of server-side apply.
constexpr std::string_view kApplyPatch = "application/apply-patch+yaml";
/// The media type of strategic merge patches, which only built-in kinds support.
constexpr std::string_view kStrategicMergePatch = "application/strategic-merge-patch+json";

/// Requires JSON or YAML. A body of a built-in kind with a body_error is accepted: its type is
/// supported.
void CheckMediaType(const ServerRequest& request, const Resource& resource);

/// Requires the type of a patch that the resource supports.
void CheckPatchType(const ServerRequest& request, const Resource& resource);

}  // namespace kopp::apiserver
