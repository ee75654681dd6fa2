#pragma once

#include "json/schema_names.hpp"
#include "schema/field_error.hpp"
#include "schema/field_ref.hpp"

namespace kopp::apiserver {

/// Validates the clientConfig of a webhook: the URL or the Service that is called.
void ValidateWebhookClientConfig(const FieldRef& config, FieldErrors& errors);

}  // namespace kopp::apiserver
