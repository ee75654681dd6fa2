#pragma once

#include "api/response.hpp"
#include "json/schema_names.hpp"
#include "schema/field_ref.hpp"

namespace kopp::apiserver {

/// Adds the warnings about items with the same name in lists of a Pod spec, which a merge or an
/// apply may lose silently: environment variables and ports.
void WarnAboutLostItems(const FieldRef& pod_spec, Warnings& warnings);

}  // namespace kopp::apiserver
