#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

// CustomResourceDefinitions: what becomes of them.

namespace kopp::apiserver {

[[nodiscard]] bool IsEstablished(const nlohmann::json& definition);
[[nodiscard]] bool IsTerminating(const nlohmann::json& definition);

/// The definition with its status as it follows from its names: they are accepted unless one of
/// `others`, of the same group, has them already.
[[nodiscard]] nlohmann::json Judged(nlohmann::json definition,
                                    const std::vector<nlohmann::json>& others,
                                    const std::string& now);

/// The definition with its deletion begun: its finalizer is there, and it says that it goes.
[[nodiscard]] nlohmann::json Terminated(nlohmann::json definition, const std::string& now);

/// Whether its objects still have to go before it may; and without that finalizer.
[[nodiscard]] bool HasCleanup(const nlohmann::json& definition);
[[nodiscard]] nlohmann::json WithoutCleanup(nlohmann::json definition);

/// Sets the condition of `type`; its time is that of the last change of `status`.
void SetCondition(nlohmann::json& definition, const std::string& type, const std::string& status,
                  const std::string& reason, const std::string& message, const std::string& now);

}  // namespace kopp::apiserver
