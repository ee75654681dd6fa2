#pragma once

#include "exchange.hpp"
#include "resource.hpp"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

// What clients send, read. Each function throws a Refusal, in the words of the real server.

namespace kopp::apiserver {

/// The options of a write.
struct WriteOptions {
  enum class Strictness { kIgnore, kWarn, kStrict };
  bool dry_run = false;
  Strictness strictness = Strictness::kWarn;
  bool force = false;  ///< of an apply
};
/// `kind` is what errors name them by: "CreateOptions".
[[nodiscard]] WriteOptions ReadWriteOptions(const Ask& ask, const std::string& kind);

/// A body that is written as an object is JSON or YAML.
void CheckMediaType(const Ask& ask);

/// An object, without apiVersion and kind. `warnings` gets what was passed over.
[[nodiscard]] nlohmann::json ReadObject(const Ask& ask, const Resource& resource,
                                        const WriteOptions& options,
                                        std::vector<std::string>& warnings);

/// An object that the server made of a patch, likewise; its problems are those of the patch.
[[nodiscard]] nlohmann::json ReadPatched(nlohmann::json object, const Resource& resource,
                                         const WriteOptions& options,
                                         std::vector<std::string>& warnings);

/// The body of a merge patch or a JSON patch.
[[nodiscard]] nlohmann::json ReadPatch(const Ask& ask);
/// What a patch itself has that is passed over: fields that come twice, members of operations that
/// mean nothing.
[[nodiscard]] std::vector<std::string> PatchProblems(const Ask& ask, const Resource& resource,
                                                     const WriteOptions& options);
/// `force` is for server-side apply.
void RefuseForce(const Ask& ask);

struct DeleteOptions {
  bool dry_run = false;
  std::string uid{};               ///< only the object that has it
  std::string resource_version{};  ///< only this state
  std::string propagation{};       ///< "Background", "Foreground", "Orphan"; empty: the kind's own
  std::optional<std::int64_t> grace_period{};  ///< seconds
};
[[nodiscard]] DeleteOptions ReadDeleteOptions(const Ask& ask);

}  // namespace kopp::apiserver
