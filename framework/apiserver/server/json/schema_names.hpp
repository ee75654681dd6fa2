#pragma once

#include "schema/field_error.hpp"

/// Kubernetes' rules for schemas and values: see framework/schema.
namespace kopp::schema {}

namespace kopp::apiserver {

// The API server implements these rules, and uses their names as its own. api/resource.hpp and
// api/status.hpp include this header for the files above them.
using namespace schema;    // NOLINT(google-build-using-namespace)
using schema::FieldError;  // not kopp::FieldError, which is for users
using schema::FieldErrors;

}  // namespace kopp::apiserver
