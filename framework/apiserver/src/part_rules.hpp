#pragma once

#include "schema.hpp"
#include "status.hpp"

#include <string>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// What is wrong with what Kubernetes alone asks of a value of a CRD's schema: that embedded
/// objects are some kind of object, that sets and lists by keys have each item once. `at` is the
/// field that the value is.
void CheckParts(const nlohmann::json& value, const Schema& schema, const std::string& at,
                Causes& causes);

}  // namespace kopp::apiserver
