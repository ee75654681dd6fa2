#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::schema {

/// The finalizer of an object whose dependents lose their owner reference before it is removed.
inline constexpr const char* kOrphanFinalizer = "orphan";
/// The finalizer of an object whose dependents are deleted before it is removed.
inline constexpr const char* kForegroundFinalizer = "foregroundDeletion";

/// Returns metadata.finalizers of `object`; empty if there are none.
[[nodiscard]] std::vector<std::string> FinalizersOf(const nlohmann::json& object);

/// Returns whether the name of a finalizer has a domain or is one of those of Kubernetes itself.
[[nodiscard]] bool IsQualifiedFinalizer(std::string_view name);

/// Returns whether `object` has a metadata.deletionTimestamp.
[[nodiscard]] bool IsBeingDeleted(const nlohmann::json& object);

}  // namespace kopp::schema
