#include "list_type_validation.hpp"

#include "schema/field_validation.hpp"
#include "schema_keywords.hpp"

#include <algorithm>
#include <set>
#include <string>

#include <fmt/format.h>

namespace kopp::schema {
namespace {

using nlohmann::json;

std::string IfParentIsListMap() { return fmt::format(" if parent array's {} is map", kListType); }

void ValidateKeysAreProperties(const FieldRef& properties, const FieldRef& keys,
                               FieldErrors& errors) {
  bool all_exist = true;
  for (const FieldRef& key : keys.items()) {
    const FieldRef property = properties.Key(key.text());
    all_exist &= property.exists();
    const FieldRef type = property["type"];
    if (!type.is("object") && !type.is("array")) continue;
    errors.push_back(
        InvalidValue(type.path(), type.value(), "must be a scalar type" + IfParentIsListMap()));
  }
  const std::set<json> unique_keys(keys.value().begin(), keys.value().end());
  if (unique_keys.size() != keys.size()) {
    errors.push_back(InvalidValue(keys.path(), keys.value(), "must not contain duplicate entries"));
  }
  if (!all_exist) {
    errors.push_back(
        InvalidValue(keys.path(), keys.value(), "entries must all be names of item properties"));
  }
}

void ValidateKeysAreRequired(const FieldRef& items, const FieldRef& keys, FieldErrors& errors) {
  const FieldRef required_names = items["required"];
  const json& required = required_names.value();
  for (const FieldRef& key : keys.items()) {
    const FieldRef property = items["properties"].Key(key.text());
    const FieldRef default_value = property["default"];
    if (!property.exists() || default_value.exists() ||
        std::find(required.begin(), required.end(), key.value()) != required.end()) {
      continue;
    }
    errors.push_back(Required(default_value.path(),
                              fmt::format("this property is in {}, so it must have a default or be "
                                          "a required property",
                                          kListMapKeys)));
  }
}

void ValidateListMapKeys(const FieldRef& schema, FieldErrors& errors) {
  const FieldRef keys = schema[kListMapKeys];
  const FieldRef items = schema["items"];
  if (keys.size() == 0) {
    errors.push_back(
        Required(keys.path(), fmt::format("must not be empty if {} is map", kListType)));
  }
  if (!items.exists()) {
    errors.push_back(
        Required(items.path(), fmt::format("must have a schema if {} is map", kListType)));
  } else if (!items["type"].is("object")) {
    errors.push_back(InvalidValue(items["type"].path(), items["type"].text(),
                                  "must be object" + IfParentIsListMap()));
  } else {
    ValidateKeysAreProperties(items["properties"], keys, errors);
  }
  ValidateKeysAreRequired(items, keys, errors);
}

/// Requires that items of a set are scalar or atomic.
void ValidateSetItems(const FieldRef& items, FieldErrors& errors) {
  // kube-apiserver names the list type as the value also of other keywords.
  const auto require_atomic = [&](const FieldRef& keyword) {
    errors.push_back(
        InvalidJson(keyword.path(), items[kListType].value(),
                    fmt::format("must be atomic as item of a list with {}=set", kListType)));
  };
  const FieldRef map_type = items[kMapType];
  const FieldRef list_type = items[kListType];
  if (items["type"].is("object") && !map_type.is("atomic")) require_atomic(map_type);
  if (items["type"].is("array") && list_type.exists() && !list_type.is("atomic")) {
    require_atomic(list_type);
  }
}

void ValidateListTypeValue(const FieldRef& schema, FieldErrors& errors) {
  const FieldRef list_type = schema[kListType];
  ValidateTypeIs("array", schema, fmt::format("must be array if {} is specified", kListType),
                 errors);
  if (list_type.is("set") && schema["type"].is("array")) ValidateSetItems(schema["items"], errors);
  ValidateTextEnum(list_type, {"atomic", "set", "map"}, errors);
}

}  // namespace

void ValidateListType(const FieldRef& schema, FieldErrors& errors) {
  const FieldRef list_type = schema[kListType];
  if (list_type.exists()) ValidateListTypeValue(schema, errors);
  if (schema[kListMapKeys].size() > 0 && !list_type.is("map")) {
    const std::string detail = fmt::format("must be map if {} is non-empty", kListMapKeys);
    errors.push_back(list_type.exists() ? InvalidValue(list_type.path(), list_type.value(), detail)
                                        : Required(list_type.path(), detail));
  }
  if (list_type.is("map")) ValidateListMapKeys(schema, errors);
}

}  // namespace kopp::schema
