#pragma once

#include "resource.hpp"
#include "store.hpp"

#include <string>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// An object from its text as it is kept; of a custom resource, as its schema has it by now.
[[nodiscard]] nlohmann::json ReadKept(const std::string& text, const Resource& resource);

/// The text of an object as clients see it: what is kept, with apiVersion and kind.
[[nodiscard]] std::string Shown(const std::string& text, const Resource& resource);
/// Likewise, of an object as it is in lists: those of built-in kinds say neither.
[[nodiscard]] std::string ShownInList(const std::string& text, const Resource& resource);
[[nodiscard]] nlohmann::json Shown(nlohmann::json object, const Resource& resource);

/// What is kept beside an object's text.
[[nodiscard]] Attributes AttributesOf(const Resource& resource, const nlohmann::json& object);
/// The names of the fields that selectors may name.
[[nodiscard]] std::vector<std::string> SelectableFields(const Resource& resource);

/// {"status": …} as it is where nobody has set it; {} where it is not there then.
[[nodiscard]] nlohmann::json StatusSkeleton(const Resource& resource);

/// Whether an object is being deleted and waits for nobody any more: then it is to go.
[[nodiscard]] bool IsAtItsEnd(const Resource& resource, const nlohmann::json& object);

/// A Status of success.
[[nodiscard]] nlohmann::json Success(const Resource& resource, const std::string& name,
                                     const std::string& uid);

}  // namespace kopp::apiserver
