#pragma once

#include <nlohmann/json_fwd.hpp>

namespace kopp {

/// Carries the change from `before` to `after` over to `whole`, which has more fields. Keeps and
/// throws as detail::MergeChange of <kopp/create_or_update.hpp> does.
void MergeChange(nlohmann::json& whole, const nlohmann::json& before, const nlohmann::json& after);

}  // namespace kopp
