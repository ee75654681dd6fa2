#pragma once

#include "generated_files.hpp"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::command {

/// Options of TypeFiles.
struct TypeOptions {
  /// The namespace around that of the version; empty: the group, with underscores for other
  /// characters: cert_manager_io.
  std::string name_space{};
};

/// Returns a header for each served version of the CustomResourceDefinition `crd`, with the path
/// NAMESPACE/VERSION/KIND.hpp: "cert_manager_io/v1/certificate.hpp". Throws SchemaError if `crd` is
/// not a CustomResourceDefinition of apiextensions.k8s.io/v1, or if a schema has no C++ type.
[[nodiscard]] std::vector<GeneratedFile> TypeFiles(const nlohmann::json& crd,
                                                   const TypeOptions& options = {});

/// Returns the names of the versions of `crd` for which TypeFiles returns no header.
[[nodiscard]] std::vector<std::string> VersionsNotServed(const nlohmann::json& crd);

}  // namespace kopp::command
