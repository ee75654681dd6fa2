#pragma once

#include "api/request.hpp"

#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

// Options of write requests. Each function throws StatusError, with the same message as
// kube-apiserver, if an option is invalid.

namespace kopp::apiserver {

/// CreateOptions, UpdateOptions and PatchOptions of meta/v1.
struct WriteOptions {
  enum class FieldValidation { kIgnore, kWarn, kStrict };
  bool dry_run = false;
  FieldValidation field_validation = FieldValidation::kWarn;
  bool force = false;  ///< of a server-side apply
  /// By default the product name in the User-Agent: "kubectl" for "kubectl/v1.34".
  std::string field_manager{};
};
/// Parses the query parameters of a create, an update or a patch. A server-side apply needs a field
/// manager; no other patch may have the parameter `force`.
[[nodiscard]] WriteOptions ReadWriteOptions(const ServerRequest& request);

/// DeleteOptions of meta/v1.
struct DeleteOptions {
  bool dry_run = false;
  std::string uid{};               ///< precondition, if not empty
  std::string resource_version{};  ///< precondition, if not empty
  /// "Background", "Foreground", "Orphan", or "" for the kind's default.
  std::string propagation{};
  std::optional<std::int64_t> grace_period{};  ///< seconds
};
/// Parses the body, or the query parameters if the body is empty.
[[nodiscard]] DeleteOptions ReadDeleteOptions(const ServerRequest& request);
/// Parses a DeleteOptions object that is part of another object.
[[nodiscard]] DeleteOptions ParseDeleteOptions(const nlohmann::json& body);

}  // namespace kopp::apiserver
