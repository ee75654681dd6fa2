#pragma once

#include "exchange.hpp"

#include <cstdint>
#include <optional>
#include <string>

// What clients ask of a write beside its object. Each function throws a Refusal, in the words of
// the real server.

namespace kopp::apiserver {

struct WriteOptions {
  enum class Strictness { kIgnore, kWarn, kStrict };
  bool dry_run = false;
  Strictness strictness = Strictness::kWarn;
  bool force = false;  ///< of an apply
};
/// `kind` is what errors name them by: "CreateOptions".
[[nodiscard]] WriteOptions ReadWriteOptions(const Ask& ask, const std::string& kind);
/// `force` is for server-side apply.
void RefuseForce(const Ask& ask);
/// Who applies says who they are.
void RequireManager(const Ask& ask);

struct DeleteOptions {
  bool dry_run = false;
  std::string uid{};               ///< only the object that has it
  std::string resource_version{};  ///< only this state
  std::string propagation{};       ///< "Background", "Foreground", "Orphan"; empty: the kind's own
  std::optional<std::int64_t> grace_period{};  ///< seconds
};
/// From the body, or from the query where there is none.
[[nodiscard]] DeleteOptions ReadDeleteOptions(const Ask& ask);

}  // namespace kopp::apiserver
