#pragma once

#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <unistd.h>

namespace kopp::detail {

/// Returns the environment variable `name` of the process, or nullopt if it is not set.
[[nodiscard]] inline std::optional<std::string> EnvironmentVariable(const std::string& name) {
  const char* value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): only reads
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

/// Returns the environment of this process, with `variables` added or replaced.
inline std::vector<std::string> EnvironmentWith(
    const std::map<std::string, std::string>& variables) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!variables.contains(text.substr(0, text.find('=')))) all.push_back(text);
  }
  for (const auto& [name, value] : variables) all.push_back(name + '=' + value);
  return all;
}

/// Returns a null-terminated array of pointers to `strings`, the form of argv and environ.
/// `strings` must outlive the result.
inline std::vector<char*> NullTerminatedPointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (std::string& string : strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace kopp::detail
