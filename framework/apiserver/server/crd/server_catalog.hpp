#pragma once

#include "api/resource.hpp"
#include "strategy/kind_strategy.hpp"

#include <memory>

namespace kopp::apiserver {

/// Returns the built-in resources with `strategies`, and with the strategy of
/// CustomResourceDefinitions. A strategy without `apply_defaults`, and a kind without a strategy,
/// get the defaults of the schema. Throws std::invalid_argument for a key that names no resource.
[[nodiscard]] std::shared_ptr<const Catalog> ServerCatalog(StrategiesByKind strategies = {});

}  // namespace kopp::apiserver
