#pragma once

#include "kind_rules.hpp"

namespace kopp::apiserver {

/// What CustomResourceDefinitions are kept under.
inline constexpr const char* kDefinitions = "customresourcedefinitions.apiextensions.k8s.io";

/// What sets CustomResourceDefinitions apart from other kinds: what they leave out, what may be
/// wrong with them, and what an established one keeps.
[[nodiscard]] KindRules RulesOfDefinitions();

}  // namespace kopp::apiserver
