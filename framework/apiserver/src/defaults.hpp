#pragma once

#include "schema.hpp"

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Makes of `value` what the types of a built-in kind would hold: what a client left out has its
/// default, what says nothing is gone, and amounts have their one form. defaults.txt has most of
/// it, computed_defaults.cpp the rest.
void FillIn(nlohmann::json& value, const Schema& schema);

/// An object of a built-in kind that nobody has set anything of.
[[nodiscard]] nlohmann::json Blank(const Schema& schema);

}  // namespace kopp::apiserver
