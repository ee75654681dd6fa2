#pragma once

#include "api/request.hpp"
#include "api/resource.hpp"
#include "api/response.hpp"
#include "api/write_options.hpp"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

// Decoding of objects in request bodies. Each function throws StatusError, with the same message as
// kube-apiserver, unless its comment says otherwise.

namespace kopp::apiserver {

/// Decodes the object in the body. The result has metadata, but no apiVersion and no kind. Adds
/// warnings about ignored fields to `warnings`.
[[nodiscard]] nlohmann::json DecodeObject(const ServerRequest& request, const Resource& resource,
                                          const WriteOptions& options, Warnings& warnings);

/// Decodes the result of applying a patch, like DecodeObject(). Its errors refer to the patch.
[[nodiscard]] nlohmann::json DecodePatchedObject(nlohmann::json object, const Resource& resource,
                                                 const WriteOptions& options, Warnings& warnings);

/// Decodes the result of a strategic merge patch, like DecodeObject(). `patch` is the patch as
/// errors quote it; `patch_errors` are the errors of its strict decoding.
[[nodiscard]] nlohmann::json DecodeMergedObject(nlohmann::json object, const Resource& resource,
                                                const WriteOptions& options, Warnings& warnings,
                                                const std::string& patch,
                                                std::vector<std::string> patch_errors);

/// Handles errors of strict decoding according to `options`: ignores them, adds them to `warnings`,
/// or throws std::invalid_argument.
void ReportDecodingErrors(const std::vector<std::string>& errors, const WriteOptions& options,
                          Warnings& warnings);

}  // namespace kopp::apiserver
