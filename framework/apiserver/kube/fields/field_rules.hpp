#pragma once

#include "json/schema_names.hpp"
#include "schema/field_error.hpp"
#include "schema/field_ref.hpp"

#include <cstdint>
#include <functional>
#include <string>

// Rules of fields that several kinds have. Each Validate function adds its errors to `errors`, in
// the order of kube-apiserver.

namespace kopp::apiserver {

/// Returns whether a field is null, "", or an empty list or object.
[[nodiscard]] bool IsUnset(const FieldRef& field);
/// Requires a value that is not empty: see IsUnset.
void ValidateNotEmpty(const FieldRef& field, FieldErrors& errors);
/// Requires a number from `min` to `max`.
void ValidateRange(const FieldRef& field, std::int64_t min, std::int64_t max, FieldErrors& errors);
/// Requires a qualified name, such as "example.com/name". Reports errors at `path`.
void ValidateQualifiedField(const std::string& name, const std::string& path, FieldErrors& errors);
/// Requires a path without the element "..".
void ValidateNoBacksteps(const FieldRef& path, FieldErrors& errors);
/// Requires a relative path without the element "..".
void ValidateDescendingPath(const FieldRef& path, FieldErrors& errors);
/// Requires a relative path that does not start with "..".
void ValidateNonReservedPath(const FieldRef& path, FieldErrors& errors);
/// Requires a path with a domain as prefix: "example.com/ingress".
void ValidateDomainPrefixedPath(const FieldRef& path, FieldErrors& errors);
/// Validates the name of a port (IANA service name). Returns whether it is valid.
bool ValidatePortName(const FieldRef& name, FieldErrors& errors);
/// Requires a port number or the name of a port.
void ValidatePortNumberOrName(const FieldRef& port, FieldErrors& errors);
/// Requires a number of at least 0 or a percentage of at most 100%.
void ValidateIntOrPercentUpTo100(const FieldRef& value, FieldErrors& errors);
/// Requires that a percentage is at most 100%.
void ValidateAtMost100Percent(const FieldRef& value, FieldErrors& errors);
/// Returns whether an amount has a fraction. Like kube-apiserver, does not find it in amounts of
/// 2^63/1000 or more.
[[nodiscard]] bool HasFraction(const std::string& amount);
/// Returns the error for a reference to a name that does not exist.
[[nodiscard]] FieldError NotFound(const FieldRef& name);
/// Returns `field` as it appears in the errors of kube-apiserver, at another path.
[[nodiscard]] FieldRef At(const FieldRef& field, const std::string& path);
/// Calls `visit` for the init containers, containers and ephemeral containers.
void ForEachContainer(const FieldRef& spec, const std::function<void(const FieldRef&)>& visit);

}  // namespace kopp::apiserver
