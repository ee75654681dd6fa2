#pragma once

#include "schema/schema.hpp"

#include <memory>

#include <nlohmann/json.hpp>

namespace kopp::schema {

/// Builds the schema of a custom resource from a valid openAPIV3Schema of a CRD. The result owns
/// all nested schemas. The schema of metadata is ignored: metadata has the same schema in all
/// kinds.
[[nodiscard]] std::shared_ptr<const Schema> StructuralSchema(const nlohmann::json& openapi_schema);

}  // namespace kopp::schema
