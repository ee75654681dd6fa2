#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Validation of names and labels, as the API server does it (k8s.io/apimachinery,
// pkg/util/validation). Each function returns the message of kube-apiserver, or nothing if `text`
// is valid. Thread-safe.

namespace kopp {

/// What is wrong with a name, and what is allowed; nullopt if the name is valid.
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

}  // namespace kopp
