#pragma once

#include "exchange.hpp"
#include "resource.hpp"

#include <string>

#include <nlohmann/json.hpp>

// What holds for every change of an object that is there.

namespace kopp::apiserver {

/// The metadata of an object, which it has from now on.
[[nodiscard]] nlohmann::json& MetadataOf(nlohmann::json& object);

/// Throws a Refusal where `metadata` names another object than the path.
void CheckNames(const Ask& ask, const Resource& resource, const nlohmann::json& metadata);
/// Likewise, of the namespace alone.
void CheckNamespaceOf(const Ask& ask, const Resource& resource, const nlohmann::json& metadata);

/// Throws a Refusal where what the writer saw, by `metadata`, is not what is there.
void CheckState(const Resource& resource, bool is_put, const nlohmann::json& was,
                const nlohmann::json& metadata);

/// What no client changes stays in `object` as it was, and what the subresource is not about.
void KeepTheRest(const Resource& resource, const std::string& subresource,
                 const nlohmann::json& live, nlohmann::json& object);

[[nodiscard]] bool RaisesGeneration(const Resource& resource, const nlohmann::json& live,
                                    const nlohmann::json& object);

}  // namespace kopp::apiserver
