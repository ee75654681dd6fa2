#pragma once

#include "exchange.hpp"
#include "resource.hpp"
#include "write_options.hpp"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

// Merge patches and JSON patches. Each function throws a Refusal, in the words of the real server.

namespace kopp::apiserver {

/// The body of one of them.
[[nodiscard]] nlohmann::json ReadPatch(const Ask& ask);

/// What a patch itself has that is passed over: fields that come twice, members of operations that
/// mean nothing.
[[nodiscard]] std::vector<std::string> PatchProblems(const Ask& ask, const Resource& resource,
                                                     const WriteOptions& options);

/// `object` after a patch that ReadPatch gave.
[[nodiscard]] nlohmann::json Patched(const nlohmann::json& patch, nlohmann::json object);

}  // namespace kopp::apiserver
