#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace kopp {

/// Returns `value`, an object, as a YAML document in block style, with the keys in alphabetical
/// order and a newline at the end.
[[nodiscard]] std::string WriteYaml(const nlohmann::json& value);

}  // namespace kopp
