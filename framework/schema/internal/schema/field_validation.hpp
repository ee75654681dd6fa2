#pragma once

#include "schema/field_error.hpp"
#include "schema/field_ref.hpp"

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <kopp/informer/detail/names.hpp>

// Validation of fields that many built-in kinds share. Each function adds the errors that it finds
// to `errors`.

namespace kopp::schema {

/// Requires a value other than null and "". Returns whether there is one.
bool ValidateRequired(const FieldRef& field, FieldErrors& errors, const std::string& detail = "");
/// Requires a number of at least 0.
void ValidateNonNegative(const FieldRef& field, FieldErrors& errors);
/// Like ValidateEnum(), for a field whose Go type is string and not a type for the enumeration: the
/// error quotes the value as Go does.
void ValidateTextEnum(const FieldRef& field, const std::vector<std::string>& values,
                      FieldErrors& errors);
/// Requires one of the strings in `values`.
void ValidateEnum(const FieldRef& field, const std::vector<std::string>& values,
                  FieldErrors& errors);
/// Requires a name for which `validate_name` returns no error.
void ValidateName(const FieldRef& field, NameError (*validate_name)(std::string_view),
                  FieldErrors& errors);
/// Requires a number from 1 to 65535.
void ValidatePort(const FieldRef& field, FieldErrors& errors);
/// Requires a user or group ID: a number from 0 to 2^31-1, or no value.
void ValidateId(const FieldRef& field, FieldErrors& errors);
/// Requires a number of at least 0 or a percentage: "25%".
void ValidateIntOrPercent(const FieldRef& field, FieldErrors& errors);
/// Requires an effect of a taint or toleration.
void ValidateTaintEffect(const FieldRef& field, FieldErrors& errors);
/// Requires a string that is not in `seen` yet, and adds it to `seen`.
void ValidateUnique(const FieldRef& field, std::set<std::string>& seen, FieldErrors& errors);
/// Like ValidateUnique(), for the strings of InvalidJson().
void ValidateUniqueJson(const FieldRef& field, std::set<std::string>& seen, FieldErrors& errors);
/// Validates the keys and values of labels or of a node selector.
void ValidateLabels(const FieldRef& field, FieldErrors& errors);
/// Requires that an update does not change the field.
void ValidateImmutable(const FieldRef& before, const FieldRef& after, FieldErrors& errors);
/// Like ValidateImmutable(), for the strings of InvalidJson().
void ValidateImmutableJson(const FieldRef& before, const FieldRef& after, FieldErrors& errors);

/// Validates a LabelSelector. Returns whether it can be evaluated by SelectorMatches.
bool ValidateLabelSelector(const FieldRef& selector, FieldErrors& errors);
/// Returns whether the LabelSelector `selector` selects `labels`. A null selector selects nothing.
[[nodiscard]] bool SelectorMatches(const FieldRef& selector, const FieldRef& labels);

/// Returns the error for an invalid value that is already formatted: kube-apiserver prints structs
/// with their fields in the order of the Go type.
[[nodiscard]] FieldError InvalidFormattedValue(std::string field, const std::string& formatted,
                                               const std::string& detail);
/// Formats a LabelSelector for InvalidFormattedValue.
[[nodiscard]] std::string SelectorJson(const FieldRef& selector);

}  // namespace kopp::schema
