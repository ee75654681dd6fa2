#pragma once

#include "schema/field_error.hpp"
#include "schema/field_ref.hpp"

// Validation of parts of a CRD version.

namespace kopp::schema {

/// Validates subresources.scale of a CRD version.
void ValidateScaleSubresource(const FieldRef& scale, FieldErrors& errors);
/// Validates one of the additionalPrinterColumns of a CRD version.
void ValidatePrinterColumn(const FieldRef& column, FieldErrors& errors);

}  // namespace kopp::schema
