#pragma once

#include "api/resource.hpp"

#include <memory>

namespace kopp::apiserver {

/// Returns Catalog::BuiltIn() with the strategies and the virtual kinds of this library.
[[nodiscard]] std::shared_ptr<const Catalog> FullCatalog();

}  // namespace kopp::apiserver
