#pragma once

#include <set>
#include <string>
#include <string_view>

namespace kopp::command {

/// Returns the plural name of a kind in lower case: "websites" for "Website", "policies" for
/// "Policy".
[[nodiscard]] std::string PluralOf(std::string_view kind);

/// Returns the name of a file for a kind: "http_route" for "HTTPRoute", "my_kind" for "my-kind".
[[nodiscard]] std::string SnakeCase(std::string_view kind);

/// Returns the words of a JSON field or a kind as the name of a type: "IssuerRef" for "issuerRef".
[[nodiscard]] std::string PascalCase(std::string_view name);

/// Returns `name`, with an underscore at its end if C++ reserves it or if it may be a macro:
/// "namespace_", "EOF_"; with "_name" if that may be a macro too: "CONFIG_H_name". See MayBeMacro.
[[nodiscard]] std::string SafeName(std::string name);

/// Returns whether a macro of the headers of C, C++, POSIX or Linux may have this name. Those are
/// names without a lower-case letter ("DNS"), names that start with such a word ("SYS_read"),
/// conversions ("PRId64") and the others that these headers define ("errno").
[[nodiscard]] bool MayBeMacro(std::string_view name);

/// Returns a safe name of a type for a JSON field or a kind. See SafeName.
[[nodiscard]] std::string TypeName(std::string_view name);

/// Returns TypeName for a type in a namespace. The names of markers and of the functions of
/// KOPP_FIELDS get an underscore too, because the type would hide them.
[[nodiscard]] std::string StructName(std::string_view name);

/// Returns a safe C++ identifier for a JSON field. Characters that C++ does not allow become
/// underscores. See SafeName.
[[nodiscard]] std::string Identifier(std::string_view field);

/// Returns a name for a namespace at the top. Names such as size_t get an underscore.
[[nodiscard]] std::string NamespaceName(std::string_view group);

/// Returns `name`, or a similar name if `names` contains it, and adds it to `names`.
std::string AddUnique(std::set<std::string>& names, std::string name);

/// Returns whether `text` is a DNS label (RFC 1123): at most 63 lower-case letters, digits and
/// dashes, with a letter or digit at both ends.
[[nodiscard]] bool IsDnsLabel(std::string_view text);

/// Returns whether `text` consists of two or more DNS labels separated by dots: "example.com".
[[nodiscard]] bool IsGroup(std::string_view text);

/// Returns whether `text` is a version of an API: "v1", "v1alpha1", "v2beta3".
[[nodiscard]] bool IsVersion(std::string_view text);

/// Returns whether `text` is a usual name of a kind: an upper-case letter, then letters and digits.
[[nodiscard]] bool IsKind(std::string_view text);

/// Returns whether an API server accepts `text` as a kind: a DNS label of letters in either case,
/// digits and dashes that starts with a letter.
[[nodiscard]] bool IsLegalKind(std::string_view text);

}  // namespace kopp::command
