#pragma once

#include <string>
#include <string_view>

namespace kopp::command {

/// Returns the plural name of a kind in lower case: "websites" for "Website", "policies" for
/// "Policy".
[[nodiscard]] std::string PluralOf(std::string_view kind);

/// Returns the name of a file for a kind: "http_route" for "HTTPRoute".
[[nodiscard]] std::string SnakeCase(std::string_view kind);

/// Returns the name of a struct for a JSON field: "IssuerRef" for "issuerRef".
[[nodiscard]] std::string TypeName(std::string_view field);

/// Returns a C++ identifier for a JSON field. Characters that C++ does not allow become
/// underscores. A name that C++ or a common macro reserves gets an underscore at its end:
/// "namespace_".
[[nodiscard]] std::string Identifier(std::string_view field);

/// Returns whether `text` is a DNS label (RFC 1123): at most 63 lower-case letters, digits and
/// dashes, with a letter or digit at both ends.
[[nodiscard]] bool IsDnsLabel(std::string_view text);

/// Returns whether `text` consists of two or more DNS labels separated by dots: "example.com".
[[nodiscard]] bool IsGroup(std::string_view text);

/// Returns whether `text` is a version of an API: "v1", "v1alpha1", "v2beta3".
[[nodiscard]] bool IsVersion(std::string_view text);

/// Returns whether `text` is the name of a kind: an upper-case letter, then letters and digits.
[[nodiscard]] bool IsKind(std::string_view text);

}  // namespace kopp::command
