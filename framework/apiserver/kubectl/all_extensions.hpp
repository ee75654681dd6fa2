#pragma once

#include "api/extensions.hpp"

namespace kopp::apiserver {

/// Returns all features that kubectl and other clients of a cluster use beyond kopp::apiserver:
/// tables, OpenAPI documents, protobuf, impersonation, the rules against privilege escalation, and
/// further virtual kinds.
[[nodiscard]] const Extensions& AllExtensions();

}  // namespace kopp::apiserver
