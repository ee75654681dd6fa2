#pragma once

#include "api/resource.hpp"

#include <memory>

namespace kopp::apiserver {

/// Returns the built-in resources with the rules of kube-apiserver for each kind. Thread-safe.
[[nodiscard]] const std::shared_ptr<const Catalog>& KubeCatalog();

}  // namespace kopp::apiserver
