#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Validation of names. Each function returns the same error message as kube-apiserver, or nothing
// if `text` is valid.

namespace kopp::apiserver {

using NameError = std::optional<std::string>;

/// Validates the name of most objects: "example.com".
[[nodiscard]] NameError ValidateDnsSubdomain(std::string_view text);
/// Validates the name of a namespace, or a part of a DNS subdomain: "my-name".
[[nodiscard]] NameError ValidateDnsLabel(std::string_view text);
/// Validates the name of a Service: a DNS label that starts with a letter.
[[nodiscard]] NameError ValidateDns1035Label(std::string_view text);
/// Validates the key of a label or annotation, or a finalizer: "example.com/MyName". Returns all
/// errors.
[[nodiscard]] std::vector<std::string> ValidateQualifiedName(std::string_view text);
[[nodiscard]] NameError ValidateLabelValue(std::string_view text);
/// Validates the name of a role, which may contain ':'.
[[nodiscard]] NameError ValidatePathSegment(std::string_view text);
/// Validates a key of a ConfigMap or Secret: "my.file".
[[nodiscard]] NameError ValidateConfigKey(std::string_view text);

/// Converts ASCII letters to lower case. Kinds and annotation keys are validated in lower case.
[[nodiscard]] std::string ToLowerAscii(std::string_view text);

}  // namespace kopp::apiserver
