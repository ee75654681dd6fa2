#pragma once

#include "schema.hpp"

#include <memory>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// The schema of a custom resource, from a CRD's openAPIV3Schema in which SchemaProblems finds
/// nothing wrong. Its parts live as long as it does. What it says of metadata does not count: that
/// is the same for all kinds.
[[nodiscard]] std::shared_ptr<const Schema> StructuralSchema(const nlohmann::json& said);

}  // namespace kopp::apiserver
