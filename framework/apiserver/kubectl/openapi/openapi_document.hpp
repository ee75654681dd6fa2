#pragma once

#include "api/resource.hpp"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// The types in kube-apiserver's OpenAPI documents, as JSON texts: the schemas of the built-in
/// kinds with their descriptions. A type has the name that documents refer to, such as
/// "io.k8s.api.core.v1.Pod". Immutable, and so thread-safe.
class OpenApiTypes {
 public:
  using Names = std::set<std::string_view>;

  /// Parses `text` in the format that informer/k8s/generate/openapi.py describes. `text` must
  /// outlive the object.
  explicit OpenApiTypes(std::string_view text);

  /// Returns the types in data/openapi.json. The first call takes a few milliseconds.
  [[nodiscard]] static const OpenApiTypes& BuiltIn();

  /// Returns the schema of a type as JSON, or "" if there is none.
  [[nodiscard]] std::string_view Find(std::string_view name) const;
  /// Returns the types in the document of a group version with the path "apis/apps/v1". Returns an
  /// empty set if there is no such document.
  [[nodiscard]] Names TypesOfDocument(std::string_view path) const;
  /// Returns `roots` and all types that they refer to, directly or through other types. Skips types
  /// that do not exist.
  [[nodiscard]] Names Closure(std::vector<std::string_view> roots) const;

 private:
  std::map<std::string_view, std::string_view, std::less<>> entries_;  // documents and types
};

/// The prefix of a reference to a type.
inline constexpr std::string_view kOpenApiReferencePrefix = "#/components/schemas/";

/// Returns the path of a resource's group version: "api/v1", "apis/apps/v1".
[[nodiscard]] std::string GroupVersionPath(const Resource& resource);

/// Adds the paths of a resource to those of an OpenAPI document. They contain the operations that
/// kubectl looks up: GET of an object and POST, which tell the kind of the resource, and PATCH,
/// whose parameters and media types tell that the server validates fields and which patches it
/// accepts.
void AddOpenApiPaths(const Resource& resource, nlohmann::json& paths);

}  // namespace kopp::apiserver
