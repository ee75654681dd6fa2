#pragma once

#include <string_view>

namespace YAML {  // NOLINT(readability-identifier-naming): the namespace of yaml-cpp
class Exception;
}  // namespace YAML

namespace kopp::detail {

/// Returns what is wrong with a YAML document, such as "illegal map value". Contains no text of the
/// document, which may have credentials: messages of yaml-cpp quote it, and each version quotes
/// other parts. Thread-safe.
[[nodiscard]] std::string_view DescribeYamlError(const YAML::Exception& error);

}  // namespace kopp::detail
