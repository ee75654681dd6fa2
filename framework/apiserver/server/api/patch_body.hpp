#pragma once

#include "api/request.hpp"
#include "api/resource.hpp"
#include "api/response.hpp"
#include "api/write_options.hpp"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

// Bodies of patches. Each function throws StatusError, with the same message as
// kube-apiserver.

namespace kopp::apiserver {

/// Decodes the body of a merge patch or a JSON patch.
[[nodiscard]] nlohmann::json DecodePatch(const ServerRequest& request);

/// Finds the parts of a patch that have no effect: duplicate fields, and unknown members of
/// operations. Returns warnings, or throws, according to `options`.
[[nodiscard]] std::vector<std::string> FindStrictPatchErrors(const ServerRequest& request,
                                                             const Resource& resource,
                                                             const WriteOptions& options);

/// Applies a patch that DecodePatch() returned to `object`.
[[nodiscard]] nlohmann::json ApplyPatch(const nlohmann::json& patch, nlohmann::json object);

/// Applies the strategic merge patch in the body to `object`, and decodes the result. Adds warnings
/// about ignored fields to `warnings`.
[[nodiscard]] nlohmann::json ApplyStrategicMergePatchBody(const ServerRequest& request,
                                                          const Resource& resource,
                                                          const WriteOptions& options,
                                                          nlohmann::json object,
                                                          Warnings& warnings);

}  // namespace kopp::apiserver
