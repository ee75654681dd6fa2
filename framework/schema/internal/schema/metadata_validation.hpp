#pragma once

#include "schema/field_error.hpp"

#include <functional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <kopp/informer/names.hpp>

namespace kopp::schema {

/// Validates the metadata of a new object; errors are in the order of kube-apiserver. The object's
/// name is valid if `validate_name` returns no error.
[[nodiscard]] FieldErrors ValidateMetadata(
    const nlohmann::json& object, const std::function<NameError(std::string_view)>& validate_name);

/// Validates the metadata of an update from `before` to `after`.
[[nodiscard]] FieldErrors ValidateMetadataUpdate(const nlohmann::json& before,
                                                 const nlohmann::json& after);

/// Validates metadata.generateName, as ValidateMetadata does.
void ValidateGenerateName(const nlohmann::json& object,
                          const std::function<NameError(std::string_view)>& validate_name,
                          FieldErrors& errors);

/// Removes duplicate owner references. Returns the warning for the client, or "" if there were
/// none.
[[nodiscard]] std::string DedupOwnerReferences(nlohmann::json& object);

}  // namespace kopp::schema
