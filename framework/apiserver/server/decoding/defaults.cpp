#include "decoding/defaults.hpp"

#include "decoding/computed_defaults.hpp"
#include "decoding/data.hpp"
#include "schema/accessors.hpp"
#include "schema/consume_until.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kopp/k8s/quantity.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using Type = Schema::Type;

/// One line of defaults.txt.
struct Default {
  enum class Kind {
    kDefault,     ///< sets a missing field
    kZeroObject,  ///< sets a missing field, which is also part of ZeroObject()
    kRemove,      ///< removes a field that has this value
  };
  std::string field{};
  Kind kind = Kind::kDefault;
  json value{};
  std::string copied_field{};     // its value is the default; empty: `value` is
  std::string condition_field{};  // empty: the default is unconditional
  std::vector<json> condition_values{};
};
using DefaultsByType = std::map<std::string, std::vector<Default>, std::less<>>;

Default ParseDefault(std::string_view line) {
  Default parsed{.field = std::string(ConsumeUntil(line, ' '))};
  std::string_view value = ConsumeUntil(line, ' ');
  if (value.front() == '~') parsed.kind = Default::Kind::kZeroObject;
  if (value.front() == '-') parsed.kind = Default::Kind::kRemove;
  if (parsed.kind != Default::Kind::kDefault) value.remove_prefix(1);
  if (value.front() == '.') {
    parsed.copied_field = value.substr(1);
  } else {
    parsed.value = json::parse(value);
  }
  ConsumeUntil(line, ' ');  // "if"
  parsed.condition_field = ConsumeUntil(line, '=');
  while (!line.empty()) parsed.condition_values.push_back(json::parse(ConsumeUntil(line, '|')));
  return parsed;
}

DefaultsByType ParseDefaults(std::string_view text) {
  DefaultsByType table;
  std::vector<Default>* type = nullptr;
  while (!text.empty()) {
    const std::string_view line = ConsumeUntil(text, '\n');
    if (line.empty() || line.front() == '#') continue;
    if (line.front() != ' ') {
      type = &table[std::string(line)];
    } else {
      type->push_back(ParseDefault(line.substr(1)));
    }
  }
  return table;
}

const std::vector<Default>& DefaultsOf(std::string_view type) {
  static const DefaultsByType table = ParseDefaults(data::defaults);
  static const std::vector<Default> none;
  const auto found = table.find(type);
  return found == table.end() ? none : found->second;
}

void ApplyDefault(json& object, const Default& line) {
  if (line.kind == Default::Kind::kRemove) {
    if (object.contains(line.field) && object[line.field] == line.value) object.erase(line.field);
    return;
  }
  if (object.contains(line.field)) return;
  if (!line.condition_field.empty() &&
      std::find(line.condition_values.begin(), line.condition_values.end(),
                Field(object, line.condition_field)) == line.condition_values.end()) {
    return;
  }
  json value = line.copied_field.empty() ? line.value : Field(object, line.copied_field);
  if (line.copied_field.empty() || !value.is_null()) object[line.field] = std::move(value);
}

void ApplyDefaultLines(json& object, const std::vector<Default>& lines) {
  for (const Default& line : lines) ApplyDefault(object, line);
}

/// Returns the zero value that Go encodes for a required field, or null if it encodes none.
json ZeroValue(const Schema& schema) {
  switch (schema.type) {
    case Type::kString:
      return schema.format == "string" ? json("") : json();
    case Type::kInteger:
    case Type::kNumber:
      return 0;
    case Type::kBoolean:
      return false;
    default:
      return nullptr;
  }
}

/// Returns whether Go encodes a list even if it is empty.
bool IsUnomittedList(const Schema::Field& field) {
  return field.schema->type == Type::kList && (field.required || field.keeps_empty);
}

void SetRequiredZeroValues(json& object, const Schema& schema) {
  for (const auto& [name, field] : schema.fields) {
    if (object.contains(name)) continue;
    json zero = field.required ? ZeroValue(*field.schema) : json();
    if (!zero.is_null() || IsUnomittedList(field)) object[name] = std::move(zero);
  }
}

void ApplyFieldDefaults(json& object, const Schema& schema) {
  ApplyComputedDefaults(object, schema.name);
  for (const Default& line : DefaultsOf(schema.name)) {
    if (schema.Find(line.field) != nullptr) ApplyDefault(object, line);
  }
  for (const auto& [name, field] : schema.fields) {
    if (!field.default_value.is_null() && !object.contains(name))
      object[name] = field.default_value;
    const auto found = object.find(name);
    if (found == object.end()) continue;
    if (found->is_object()) ApplyDefaultLines(*found, DefaultsOf(schema.name + '.' + name));
    ApplyBuiltInDefaults(*found, *field.schema);
  }
  SetRequiredZeroValues(object, schema);
}

/// The API server keeps thousandths of the amounts in a ResourceList.
void RoundResourceList(json& amounts) {
  constexpr int kThousandths = -3;
  for (json& amount : amounts) {
    if (!amount.is_string()) continue;
    k8s::Quantity quantity(amount.get_ref<const std::string&>());
    amount = quantity.RoundUp(kThousandths).ToString();
  }
}

}  // namespace

void ApplyBuiltInDefaults(json& value, const Schema& schema) {
  if (value.is_object() && schema.type == Type::kObject && !schema.name.empty()) {
    ApplyFieldDefaults(value, schema);
  } else if (value.is_object() && schema.items != nullptr && schema.items->format == "quantity") {
    RoundResourceList(value);
  } else if (value.is_structured() && schema.items != nullptr) {
    for (json& item : value) ApplyBuiltInDefaults(item, *schema.items);
  } else if (value.is_string() && schema.format == "quantity") {
    value = k8s::Quantity(value.get_ref<const std::string&>()).ToString();
  }
}

void ReplaceEmptyLists(json& value, const Schema& schema) {
  if (schema.type == Type::kList && value.empty()) {
    value = nullptr;
  } else if (value.is_object() && schema.type == Type::kObject) {
    for (const auto& [name, field] : schema.fields) {
      if (const auto found = value.find(name); found != value.end())
        ReplaceEmptyLists(*found, *field.schema);
    }
  } else if (value.is_structured() && schema.items != nullptr) {
    for (json& item : value) ReplaceEmptyLists(item, *schema.items);
  }
}

json ZeroObject(const Schema& schema) {
  json zero = json::object();
  if (schema.name.empty()) {  // a custom resource or a part of it
    if (schema.Find("metadata") != nullptr) zero["metadata"] = json::object();
    return zero;
  }
  for (const Default& line : DefaultsOf(schema.name)) {
    if (line.kind == Default::Kind::kZeroObject && schema.Find(line.field) != nullptr) {
      zero[line.field] = line.value;
    }
  }
  for (const auto& [name, field] : schema.fields) {
    if (field.required || IsUnomittedList(field)) zero[name] = ZeroValue(*field.schema);
  }
  for (const auto& [name, field] : schema.fields) {
    if (field.always_present) zero[name] = ZeroObject(*field.schema);
  }
  return zero;
}

}  // namespace kopp::apiserver
