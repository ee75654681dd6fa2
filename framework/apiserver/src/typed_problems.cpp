#include "typed_problems.hpp"

#include "field_set.hpp"
#include "typed_value.hpp"

#include <set>
#include <stdexcept>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using Type = Schema::Type;

/// As Go prints a value of any type.
std::string PrintedByGo(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_structured()) return value.dump();
  std::string parts;
  if (value.is_array()) {
    for (const json& item : value) parts += (parts.empty() ? "" : " ") + PrintedByGo(item);
    return '[' + parts + ']';
  }
  for (const auto& [name, part] : value.items()) {
    parts += (parts.empty() ? "" : " ") + name + ':' + PrintedByGo(part);
  }
  return "map[" + parts + ']';
}

std::string Got(const json& value) {
  return ", got &value.valueUnstructured{Value:" +
         (value.is_string() ? value.dump() : PrintedByGo(value)) + '}';
}

class Checker {
 public:
  std::vector<std::string> problems;

  void Check(const json& value, const Schema& schema, const std::string& path) {
    if (value.is_null()) return;
    switch (schema.type) {
      case Type::kObject:
      case Type::kMap:
        if (!value.is_object()) return Expect("map", value, path);
        return CheckParts(value, schema, path);
      case Type::kList:
        if (!value.is_array()) return Expect("list", value, path);
        return CheckItems(value, schema, path);
      case Type::kString:
        if (!value.is_string() && schema.format != "quantity") Expect("string", value, path);
        return;
      case Type::kInteger:
      case Type::kNumber:
        if (!value.is_number()) Expect("numeric (int or float)", value, path);
        return;
      case Type::kBoolean:
        if (!value.is_boolean()) Expect("boolean", value, path);
        return;
      default:
        return;
    }
  }

 private:
  void Expect(const std::string& what, const json& value, const std::string& path) {
    problems.push_back(path + ": expected " + what + Got(value));
  }

  void CheckParts(const json& value, const Schema& schema, const std::string& path) {
    for (const auto& [name, part] : value.items()) {
      const std::string inner = path + '.' + name;
      if (const Schema* known = schema.Of(name)) {
        Check(part, *known, inner);
      } else if (!schema.open) {
        problems.push_back(inner + ": field not declared in schema");
      }
    }
  }

  void CheckItems(const json& value, const Schema& schema, const std::string& path) {
    const bool has_steps = schema.IsKeyed() || schema.IsSet();
    std::set<std::string> steps;
    for (std::size_t i = 0; i < value.size(); ++i) {
      std::string step = '[' + std::to_string(i) + ']';
      if (has_steps) {
        try {
          const std::string key = StepOf(schema, value[i]);
          step = InMessages(key);
          if (!steps.insert(key).second) {
            problems.push_back(path + ": duplicate entries for key " + step);
          }
        } catch (const std::invalid_argument& error) {
          problems.push_back(path + ": element " + std::to_string(i) + ": " + error.what());
        }
      }
      Check(value[i], *schema.items, path + step);
    }
  }
};

}  // namespace

std::vector<std::string> TypedProblems(const json& object, const Schema& schema) {
  Checker checker;
  checker.Check(object, schema, "");
  return std::move(checker.problems);
}

}  // namespace kopp::apiserver
