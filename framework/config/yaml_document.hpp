#pragma once

#include <string>

#include <yaml-cpp/yaml.h>

namespace kopp::detail {

/// Returns `where` with the line of `mark`, for errors: "kubeconfig /k, line 3".
[[nodiscard]] std::string YamlLocation(const std::string& where, const YAML::Mark& mark);

/// Parses a document of at most 100,000 values, without aliases. Throws ConfigError, whose message
/// starts with `where` and ends with `advice`. It contains no text of the document.
[[nodiscard]] YAML::Node ParseYamlDocument(const std::string& text, const std::string& where,
                                           const std::string& advice);

}  // namespace kopp::detail
