#pragma once

#include "schema/field_error.hpp"
#include "schema/field_ref.hpp"

// Validation of parts of a CRD version.

namespace kopp::schema {

/// Validates subresources.scale of a CRD version.
void ValidateScaleSubresource(const FieldRef& scale, FieldErrors& errors);
/// Validates the selectableFields of a CRD version. `schema` is its OpenAPI schema.
void ValidateSelectableFields(const FieldRef& fields, const FieldRef& schema, FieldErrors& errors);
/// Validates the deprecationWarning of a deprecated CRD version.
void ValidateDeprecationWarning(const FieldRef& warning, FieldErrors& errors);
/// Validates one of the additionalPrinterColumns of a CRD version.
void ValidatePrinterColumn(const FieldRef& column, FieldErrors& errors);

}  // namespace kopp::schema
