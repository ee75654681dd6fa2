#pragma once

#include "schema/field_error.hpp"
#include "schema/schema.hpp"

#include <string>

#include <nlohmann/json.hpp>

namespace kopp::schema {

/// Validates a value against a CRD's schema. Returns the errors that kube-apiserver reports, in its
/// order. `path` is the field path of the value, empty for a whole object. Parts that are equal in
/// `before`, the old value, are not validated: the schema may have become stricter since
/// (ratcheting). `before` is nullptr if there is no old value.
///
/// Order and details follow the validation of k8s.io/kube-openapi.
[[nodiscard]] FieldErrors ValidateValue(const nlohmann::json& value, const Schema& schema,
                                        const std::string& path = "",
                                        const nlohmann::json* before = nullptr);

}  // namespace kopp::schema
