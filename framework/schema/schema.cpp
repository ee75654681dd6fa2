#include "schema/schema.hpp"

#include "schema/consume_until.hpp"
#include "schema_data.hpp"

#include <stdexcept>

namespace kopp::schema {
namespace {

using Type = Schema::Type;
using Merge = Schema::Merge;

struct ScalarType {
  std::string_view name;
  Type type;
};
constexpr ScalarType kScalarTypes[] = {
    {"any", Type::kAny},         {"object", Type::kObject}, {"string", Type::kString},
    {"bytes", Type::kString},    {"time", Type::kString},   {"micro-time", Type::kString},
    {"quantity", Type::kString}, {"int32", Type::kInteger}, {"int64", Type::kInteger},
    {"double", Type::kNumber},   {"bool", Type::kBoolean},  {"int-or-string", Type::kIntOrString},
};

/// Removes and returns the text before the first character in `ends`.
std::string_view ConsumeUntilAnyOf(std::string_view& text, std::string_view ends) {
  const std::string_view consumed = text.substr(0, text.find_first_of(ends));
  text.remove_prefix(consumed.size());
  return consumed;
}

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> fields;
  while (!text.empty()) fields.emplace_back(ConsumeUntil(text, separator));
  return fields;
}

/// Parses "merge:name" or "merge,retainKeys:name". The strategy retainKeys is for clients only:
/// they send the directive $retainKeys.
void ParsePatchStrategy(std::string_view text, Schema::Field& field) {
  const std::string_view strategies = ConsumeUntilAnyOf(text, ":");
  if (strategies.starts_with("merge")) field.patch_strategy = Schema::PatchStrategy::kMerge;
  if (strategies.starts_with("replace")) field.patch_strategy = Schema::PatchStrategy::kReplace;
  if (!text.empty()) field.patch_merge_key = text.substr(1);
}

}  // namespace

nlohmann::json Schema::EmptyObject(const Schema& schema) {
  nlohmann::json object = nlohmann::json::object();
  for (const auto& [name, field] : schema.fields) {
    if (field.always_present) object[name] = EmptyObject(*field.schema);
  }
  return object;
}

Schemas::Schemas(std::string_view text) {
  for (const auto& [name, type] : kScalarTypes) {
    Schema& schema = FindOrAdd(name);
    schema.type = type;
    schema.format = name;
    schema.preserve_unknown_fields = type == Type::kObject;
    if (type == Type::kObject) schema.merge = Merge::kAtomic;
  }
  Schema* type = nullptr;
  while (!text.empty()) {
    std::string_view line = ConsumeUntil(text, '\n');
    const std::string_view whole_line = line;
    if (line.empty() || line.front() == '#') continue;
    if (line.front() != ' ') {
      const std::string name(ConsumeUntilAnyOf(line, " "));
      type = &FindOrAdd(name);
      type->type = Type::kObject;
      type->name = name.substr(name.find('.') + 1);
      if (line == " atomic") type->merge = Merge::kAtomic;
      continue;
    }
    line.remove_prefix(1);
    const std::string name(ConsumeUntilAnyOf(line, " "));
    if (type == nullptr || line.empty()) {
      throw std::invalid_argument("schemas: cannot parse the line: " + std::string(whole_line));
    }
    type->fields.emplace(name, ParseField(line.substr(1)));
  }
  DefineGranularTypes();
  for (const auto& [name, schema] : named_) {
    if (schema.type == Type::kAny && name != "any") {
      throw std::invalid_argument("schemas: type " + name + " is used but not defined");
    }
  }
}

// Defines the types T:granular as those named T, except that their fields are merged.
void Schemas::DefineGranularTypes() {
  constexpr std::string_view kGranular = ":granular";
  for (auto& [name, schema] : named_) {
    if (!name.ends_with(kGranular)) continue;
    schema = FindOrAdd(std::string_view(name).substr(0, name.size() - kGranular.size()));
    schema.merge = Merge::kGranular;
  }
}

const Schema* Schemas::Find(std::string_view name) const {
  const auto found = named_.find(name);
  return found == named_.end() ? nullptr : &found->second;
}

const Schemas& Schemas::BuiltIn() {
  static const Schemas schemas(data::schemas);
  return schemas;
}

Schema& Schemas::FindOrAdd(std::string_view name) {
  return named_.try_emplace(std::string(name)).first->second;
}

// Parses [T], [T]set, [T]key,key, {T}, {T}atomic or T, and leaves the rest of `text`.
const Schema* Schemas::ParseType(std::string_view& text) {
  if (text.front() != '[' && text.front() != '{') return &FindOrAdd(ConsumeUntilAnyOf(text, " ]}"));
  const bool is_list = text.front() == '[';
  text.remove_prefix(1);
  Schema& schema = unnamed_.emplace_back();
  schema.type = is_list ? Type::kList : Type::kMap;
  schema.items = ParseType(text);
  text.remove_prefix(1);
  const std::string_view merge = ConsumeUntilAnyOf(text, " ]}");
  if (is_list) {
    schema.merge = merge.empty() ? Merge::kAtomic : merge == "set" ? Merge::kSet : Merge::kMap;
    if (schema.merge == Merge::kMap) schema.keys = Split(merge, ',');
  } else if (merge == "atomic") {
    schema.merge = Merge::kAtomic;
  }
  return &schema;
}

Schema::Field Schemas::ParseField(std::string_view text) {
  Schema::Field field{.schema = ParseType(text)};
  if (text.starts_with(" !")) {
    field.required = true;
    text.remove_prefix(2);
  } else if (text.starts_with(" ?")) {
    field.keeps_empty = true;
    text.remove_prefix(2);
  }
  if (constexpr std::string_view kPatch = " patch="; text.starts_with(kPatch)) {
    text.remove_prefix(kPatch.size());
    ParsePatchStrategy(ConsumeUntilAnyOf(text, " "), field);
  }
  if (text.starts_with(" =")) field.default_value = nlohmann::json::parse(text.substr(2));
  if (field.default_value == nlohmann::json::object()) {
    field.always_present = true;
    field.default_value = nullptr;
  }
  return field;
}

}  // namespace kopp::schema
