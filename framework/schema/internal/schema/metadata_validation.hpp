#pragma once

#include "schema/field_error.hpp"
#include "schema/field_ref.hpp"

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <kopp/informer/detail/names.hpp>

// The rules for metadata, which all kinds share.

namespace kopp::schema {

/// Validates the metadata of a new object; errors are in the order of kube-apiserver. The object's
/// name is valid if `validate_name` returns no error.
[[nodiscard]] FieldErrors ValidateMetadata(const FieldRef& metadata,
                                           NameError (*validate_name)(std::string_view));

/// Validates the metadata of an update from `before` to `after`.
[[nodiscard]] FieldErrors ValidateMetadataUpdate(const FieldRef& before, const FieldRef& after);

/// Validates metadata.generateName, as ValidateMetadata does.
void ValidateGenerateName(const FieldRef& generate_name,
                          NameError (*validate_name)(std::string_view), FieldErrors& errors);

/// Removes duplicate owner references. Returns the warning for the client, or "" if there were
/// none.
[[nodiscard]] std::string DedupOwnerReferences(nlohmann::json& object);

}  // namespace kopp::schema
