#include "schema.hpp"

#include "data.hpp"

#include <stdexcept>
#include <utility>

namespace kopp::apiserver {
namespace {

using Type = Schema::Type;
using Merge = Schema::Merge;

struct Simple {
  std::string_view name;
  Type type;
};
constexpr Simple kSimple[] = {
    {"any", Type::kAny},         {"object", Type::kObject}, {"string", Type::kString},
    {"bytes", Type::kString},    {"time", Type::kString},   {"micro-time", Type::kString},
    {"quantity", Type::kString}, {"int32", Type::kInteger}, {"int64", Type::kInteger},
    {"double", Type::kNumber},   {"bool", Type::kBoolean},  {"int-or-string", Type::kIntOrString},
};

std::string_view TakeUntil(std::string_view& text, std::string_view ends) {
  const std::string_view taken = text.substr(0, text.find_first_of(ends));
  text.remove_prefix(taken.size());
  return taken;
}

std::vector<std::string> Split(std::string_view text, char at) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    parts.emplace_back(text.substr(0, text.find(at)));
    text.remove_prefix(std::min(parts.back().size() + 1, text.size()));
  }
  return parts;
}

}  // namespace

nlohmann::json Schema::Skeleton(const Schema& schema) {
  nlohmann::json skeleton = nlohmann::json::object();
  for (const auto& [name, field] : schema.fields) {
    if (field.always) skeleton[name] = Skeleton(*field.schema);
  }
  return skeleton;
}

Schemas::Schemas(std::string_view text) {
  for (const auto& [name, type] : kSimple) {
    Schema& schema = Named(name);
    schema.type = type;
    schema.format = name;
    schema.open = type == Type::kObject;
  }
  Schema* type = nullptr;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::string_view whole = line;
    if (line.empty() || line.front() == '#') continue;
    if (line.front() != ' ') {
      const std::string name(TakeUntil(line, " "));
      type = &Named(name);
      type->type = Type::kObject;
      type->name = name.substr(name.find('.') + 1);
      if (line == " atomic") type->merge = Merge::kAtomic;
      continue;
    }
    line.remove_prefix(1);
    const std::string name(TakeUntil(line, " "));
    if (type == nullptr || line.empty()) {
      throw std::invalid_argument("schemas: what is this? " + std::string(whole));
    }
    type->fields.emplace(name, ReadField(line.substr(1)));
  }
  for (const auto& [name, schema] : named_) {
    if (schema.type == Type::kAny && name != "any") {
      throw std::invalid_argument("schemas: nothing says what a " + name + " is");
    }
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

Schema& Schemas::Named(std::string_view name) {
  return named_.try_emplace(std::string(name)).first->second;
}

// [T], [T]set, [T]key,key, {T}, {T}atomic or T; what follows it is left.
const Schema* Schemas::Spelled(std::string_view& text) {
  if (text.front() != '[' && text.front() != '{') return &Named(TakeUntil(text, " ]}"));
  const bool is_list = text.front() == '[';
  text.remove_prefix(1);
  Schema& schema = others_.emplace_back();
  schema.type = is_list ? Type::kList : Type::kMap;
  schema.items = Spelled(text);
  text.remove_prefix(1);
  const std::string_view how = TakeUntil(text, " ]}");
  if (is_list) {
    schema.merge = how.empty() ? Merge::kAtomic : how == "set" ? Merge::kSet : Merge::kMap;
    if (schema.merge == Merge::kMap) schema.keys = Split(how, ',');
  } else if (how == "atomic") {
    schema.merge = Merge::kAtomic;
  }
  return &schema;
}

Schema::Field Schemas::ReadField(std::string_view words) {
  Schema::Field field{.schema = Spelled(words)};
  if (words.starts_with(" !")) {
    field.required = true;
    words.remove_prefix(2);
  }
  if (words.starts_with(" =")) field.fallback = nlohmann::json::parse(words.substr(2));
  if (field.fallback == nlohmann::json::object()) {
    field.always = true;
    field.fallback = nullptr;
  }
  return field;
}

}  // namespace kopp::apiserver
