#include "embedded_validation.hpp"

#include "base/ascii.hpp"
#include "base/timestamp.hpp"
#include "schema/accessors.hpp"
#include "schema/metadata_validation.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <kopp/informer/detail/names.hpp>

namespace kopp::schema {
namespace {

using nlohmann::json;

using Visitor = std::function<void(const FieldRef&, const Schema&)>;

/// Calls `visit` with every value that has a schema, parents before children.
void VisitValues(const FieldRef& value, const Schema& schema, const Visitor& visit) {
  visit(value, schema);
  if (schema.items != nullptr) {
    for (const FieldRef& item : value.items()) VisitValues(item, *schema.items, visit);
  }
  for (const std::string& name : value.keys()) {
    if (schema.embedded_resource && name == "metadata") continue;
    const Schema* field_schema = schema.FieldSchema(name);
    if (field_schema != nullptr) VisitValues(value[name], *field_schema, visit);
  }
}

/// Returns the name of a type with its article, or "" if values of several types are valid.
std::string_view TypeName(Schema::Type type) {
  switch (type) {
    case Schema::Type::kObject:
    case Schema::Type::kMap:
      return "an object";
    case Schema::Type::kList:
      return "an array";
    case Schema::Type::kString:
      return "a string";
    case Schema::Type::kInteger:
      return "an integer";
    case Schema::Type::kBoolean:
      return "a boolean";
    default:
      return "";
  }
}

/// Returns the name of the type of a value that is not null.
std::string_view TypeNameOf(const json& value) {
  if (value.is_object()) return TypeName(Schema::Type::kObject);
  if (value.is_array()) return TypeName(Schema::Type::kList);
  if (value.is_string()) return TypeName(Schema::Type::kString);
  if (value.is_boolean()) return TypeName(Schema::Type::kBoolean);
  return IsInteger(value) ? TypeName(Schema::Type::kInteger) : "a number";
}

/// Requires the types of a built-in kind. Returns whether the value has them. In the API server it
/// finds errors only in the defaults of CRDs: decoding has rejected other types in objects.
bool ValidateTypes(const FieldRef& value, const Schema& schema, FieldErrors& errors) {
  const std::size_t count = errors.size();
  VisitValues(value, schema, [&](const FieldRef& field, const Schema& field_schema) {
    const std::string_view expected = TypeName(field_schema.type);
    if (!field.exists() || expected.empty()) return;
    if (expected != TypeNameOf(field.value())) {
      errors.push_back(
          {"FieldValueTypeInvalid",
           "Invalid value: " + field.value().dump() + ": must be " + std::string(expected),
           field.path()});
    } else if (field_schema.format.ends_with("time") && !detail::ParseTimestamp(field.text())) {
      errors.push_back(InvalidValue(field.path(), field.text(), "must be an RFC 3339 time"));
    }
  });
  return errors.size() == count;
}

/// Validates apiVersion, kind and metadata of an embedded resource.
void ValidateEmbeddedResource(const FieldRef& value, const Schema& schema, FieldErrors& errors) {
  if (!schema.embedded_resource || !value.value().is_object()) return;
  for (const char* name : {"apiVersion", "kind"}) {
    const FieldRef field = value[name];
    ValidateTypes(field, *Schemas::BuiltIn().Find("string"), errors);
    if (!value.value().contains(name)) {
      errors.push_back(Required(field.path(), ""));
    } else if (field.is("")) {
      errors.push_back(InvalidValue(field.path(), "", "must not be empty"));
    }
  }
  const FieldRef version = value["apiVersion"];
  if (const std::string text = version.text(); std::count(text.begin(), text.end(), '/') > 1) {
    errors.push_back(InvalidValue(version.path(), text, "unexpected GroupVersion string: " + text));
  }
  const FieldRef kind = value["kind"];
  if (const std::string text = kind.text(); !text.empty()) {
    if (const NameError detail = ValidateDns1035Label(detail::ToLowerAscii(text))) {
      errors.push_back(InvalidValue(kind.path(), text,
                                    "may have mixed case, but should otherwise match: " + *detail));
    }
  }
  const FieldRef metadata = value["metadata"];
  if (!ValidateTypes(metadata, *Schemas::BuiltIn().Find("ObjectMeta"), errors)) return;
  for (FieldError& error : ValidateMetadata(metadata, &ValidatePathSegment)) {
    const bool is_missing = error.reason == "FieldValueRequired";
    if (is_missing && error.field == metadata["name"].path()) continue;  // it may lack a name
    errors.push_back(std::move(error));
  }
}

/// Requires that the items of a set, or the map keys of a list map, are unique. Reports each
/// duplicated value once.
void ValidateUniqueItems(const FieldRef& list, const Schema& schema, FieldErrors& errors) {
  if (!schema.IsSet() && !schema.IsKeyed()) return;
  std::map<json, int> counts;
  for (const FieldRef& item : list.items()) {
    json key = item.value();
    if (schema.IsKeyed() && key.is_null()) continue;
    if (schema.IsKeyed() && !key.is_object()) {
      errors.push_back(
          InvalidValue(item.path(), key, "must be an object for an array of list-type map"));
      continue;
    }
    if (schema.IsKeyed()) {
      key = json::object();
      for (const std::string& name : schema.keys) {
        if (item.value().contains(name)) key[name] = item.value()[name];
      }
    }
    if (++counts[key] == 2) errors.push_back(Duplicate(item.path(), key));
  }
}

}  // namespace

void ValidateKubernetesExtensions(const FieldRef& value, const Schema& schema,
                                  FieldErrors& errors) {
  VisitValues(value, schema, [&](const FieldRef& field, const Schema& field_schema) {
    ValidateEmbeddedResource(field, field_schema, errors);
  });
  VisitValues(value, schema, [&](const FieldRef& field, const Schema& field_schema) {
    ValidateUniqueItems(field, field_schema, errors);
  });
}

}  // namespace kopp::schema
