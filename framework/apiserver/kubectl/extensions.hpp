#pragma once

#include "api/extensions.hpp"
#include "api/resource.hpp"

#include <memory>

namespace kopp::apiserver {

/// Returns all features that kubectl and other clients of a cluster use beyond the library: tables,
/// OpenAPI documents, protobuf, impersonation, the rules against privilege escalation, further
/// virtual kinds, and the strategies of all built-in kinds.
[[nodiscard]] const Extensions& AllExtensions();

/// Returns Catalog::BuiltIn() with the strategies and the virtual kinds of this library.
[[nodiscard]] std::shared_ptr<const Catalog> FullCatalog();

}  // namespace kopp::apiserver
