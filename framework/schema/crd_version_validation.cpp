#include "schema/crd_version_validation.hpp"

#include "schema/field_validation.hpp"
#include "schema/go_quoted.hpp"
#include "schema/schema_path.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace kopp::schema {

void ValidateScaleSubresource(const FieldRef& scale, FieldErrors& errors) {
  struct JsonPath {
    const char* name;
    std::vector<std::string> parents;
    const char* detail;
  };
  const JsonPath json_paths[] = {
      {"specReplicasPath", {".spec."}, "should be a json path under .spec"},
      {"statusReplicasPath", {".status."}, "should be a json path under .status"},
      {"labelSelectorPath",
       {".spec.", ".status."},
       "should be a json path under either .spec or .status"},
  };
  for (const auto& [name, parents, detail] : json_paths) {
    const FieldRef field = scale[name];
    const std::string json_path = field.text();
    const bool is_required = parents.size() == 1;
    if (json_path.empty()) {
      if (is_required) errors.push_back(Required(field.path(), ""));
    } else if (!json_path.starts_with('.')) {
      errors.push_back(
          InvalidValue(field.path(), json_path, "must be a simple json path starting with ."));
    } else if (std::none_of(parents.begin(), parents.end(), [&](const std::string& parent) {
                 return json_path.starts_with(parent);
               })) {
      // The label selector is a pointer in Go.
      errors.push_back(
          (is_required ? &InvalidValue : &InvalidJson)(field.path(), json_path, detail));
    }
  }
}

void ValidateSelectableFields(const FieldRef& fields, const FieldRef& schema, FieldErrors& errors) {
  constexpr std::size_t kMaxFields = 8;
  const std::set<std::string> types{"boolean", "integer", "string"};
  std::set<std::string> seen;
  for (const FieldRef& field : fields.items()) {
    const FieldRef path = field["jsonPath"];
    if (!ValidateRequired(path, errors)) continue;
    const auto add_invalid = [&](const std::string& detail) {
      errors.push_back(InvalidValue(path.path(), path.text(), detail));
    };
    try {
      const FieldRef found = SchemaAtPath(schema, path.text(), ArrayNotation::kForbidden);
      if (!types.contains(found["type"].text())) {
        add_invalid(
            "must point to a field of type string, boolean or integer. Enum string fields and "
            "strings with formats are allowed.");
      }
    } catch (const std::invalid_argument& error) {
      add_invalid(std::string("is an invalid path: ") + error.what());
      continue;
    }
    ValidateUnique(path, seen, errors);
  }
  if (seen.size() <= kMaxFields) return;
  errors.push_back({"FieldValueTooMany",
                    "Too many: " + std::to_string(seen.size()) + ": must have at most 8 items",
                    fields.path()});
}

void ValidateDeprecationWarning(const FieldRef& warning, FieldErrors& errors) {
  constexpr std::size_t kMaxLength = 256;
  const std::string text = warning.text();
  const auto add_invalid = [&](const std::string& detail) {
    errors.push_back(InvalidJson(warning.path(), text, detail));
  };
  if (text.empty()) return add_invalid("must not be an empty string");
  if (text.size() > kMaxLength) add_invalid("must be <= 256 characters long");
  if (const auto index = IndexOfUnprintable(text)) {
    add_invalid(
        "must only contain printable UTF-8 characters; non-printable character found at index " +
        std::to_string(*index));
  }
}

void ValidatePrinterColumn(const FieldRef& column, FieldErrors& errors) {
  const std::string supported_types = "must be one of boolean,date,integer,number,string";
  const std::set<std::string> types{"boolean", "date", "integer", "number", "string"};
  const std::set<std::string> formats{"",      "byte",  "date",  "date-time", "double",
                                      "float", "int32", "int64", "password"};
  if (column["name"].text().empty()) errors.push_back(Required(column["name"].path(), ""));
  const FieldRef type = column["type"];
  if (type.text().empty()) {
    errors.push_back(Required(type.path(), supported_types));
  } else if (!types.contains(type.text())) {
    errors.push_back(InvalidValue(type.path(), type.text(), supported_types));
  }
  const FieldRef format = column["format"];
  if (!formats.contains(format.text())) {
    errors.push_back(
        InvalidValue(format.path(), format.text(),
                     "must be one of byte,date,date-time,double,float,int32,int64,password"));
  }
  // kube-apiserver reports errors of jsonPath at JSONPath.
  const std::string path = column["JSONPath"].path();
  const std::string json_path = column["jsonPath"].text();
  if (json_path.empty()) {
    errors.push_back(Required(path, ""));
  } else if (!json_path.starts_with('.')) {
    errors.push_back(InvalidValue(path, json_path, "must be a simple json path starting with ."));
  }
}

}  // namespace kopp::schema
