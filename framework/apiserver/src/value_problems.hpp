#pragma once

#include "schema.hpp"
#include "status.hpp"

#include <string>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// What is wrong with a value of a CRD's schema, in the real server's words and order. `at` is the
/// field that the value is, empty for a whole object. What is as it was in `before` (nullptr: there
/// was nothing) is taken, whatever it is: a schema may have become stricter since.
///
/// client-go: k8s.io/kube-openapi's validation, whose order and oddities these are.
[[nodiscard]] Causes ValueProblems(const nlohmann::json& value, const Schema& schema,
                                   const std::string& at = "",
                                   const nlohmann::json* before = nullptr);

}  // namespace kopp::apiserver
