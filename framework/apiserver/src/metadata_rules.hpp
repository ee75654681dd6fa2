#pragma once

#include "names.hpp"
#include "status.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// What is wrong with the metadata of a new object, in the real server's order. `is_name` judges
/// its name.
[[nodiscard]] Causes MetadataProblems(const nlohmann::json& object,
                                      const std::function<Why(std::string_view)>& is_name);

/// What is wrong with the change from `before` to `after`.
[[nodiscard]] Causes MetadataChangeProblems(const nlohmann::json& before,
                                            const nlohmann::json& after);

/// Owners that are named twice are kept once. Returns the warning, or "".
[[nodiscard]] std::string KeepEachOwnerOnce(nlohmann::json& object);

/// metadata.finalizers.
[[nodiscard]] std::vector<std::string> FinalizersOf(const nlohmann::json& object);

}  // namespace kopp::apiserver
