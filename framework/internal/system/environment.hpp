#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace kopp::detail {

/// Returns the environment variable `name` of the process, or nullopt if it is not set.
[[nodiscard]] inline std::optional<std::string> EnvironmentVariable(const std::string& name) {
  const char* value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): only reads
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

}  // namespace kopp::detail
