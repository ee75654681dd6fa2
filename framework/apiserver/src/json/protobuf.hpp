#pragma once

#include <optional>
#include <string_view>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Decodes an object in the protobuf encoding of Kubernetes (application/vnd.kubernetes.protobuf).
/// Supports Secrets and ConfigMaps, in which Helm stores its releases, and DeleteOptions. Returns
/// nullopt for other kinds. Throws std::invalid_argument if the bytes are not valid.
[[nodiscard]] std::optional<nlohmann::json> DecodeProtobuf(std::string_view bytes);

}  // namespace kopp::apiserver
