#include "value_problems.hpp"

#include "decode.hpp"
#include "formats.hpp"
#include "multiples.hpp"
#include "part_rules.hpp"
#include "schema_rules.hpp"
#include "typed_value.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using Type = Schema::Type;

std::string TypeOf(const json& value) {
  if (value.is_null()) return "null";
  if (value.is_object()) return "object";
  if (value.is_array()) return "array";
  if (value.is_string()) return "string";
  if (value.is_boolean()) return "boolean";
  return IsInteger(value) ? "integer" : "number";
}

/// The names that a schema calls its type by; "": any.
std::string NamesOf(const Schema& schema) {
  if (const Rules* rules = schema.rules.get()) {
    const json* said = rules->Find("type");
    if (said != nullptr && said->is_string()) return said->get<std::string>();
  }
  return schema.type == Type::kIntOrString ? "integer,string" : "";
}

bool Fits(const std::string& names, const json& value) {
  const std::string found = TypeOf(value);
  if (names.empty() || names == found) return true;
  if (names == "integer,string") return found == "integer" || found == "string";
  return names == "number" && found == "integer";
}

/// How many characters, not bytes.
std::size_t Length(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
  }));
}

std::string Amount(const json& number) {
  const auto value = number.get<double>();
  if (std::trunc(value) == value && std::abs(value) < 1e15) {
    return std::to_string(static_cast<std::int64_t>(value));
  }
  return number.dump();
}

class Validator {
 public:
  explicit Validator(std::string at) : at_(std::move(at)) {}

  void Check(const json& value, const Schema& schema, const std::string& path, const json* before) {
    if (before != nullptr && *before == value) return;
    CheckType(value, schema, path);
    if (schema.rules == nullptr) return;
    const Rules& rules = *schema.rules;
    if (!value.is_null()) CheckSchemas(value, rules, path);
    if (value.is_string()) CheckString(value, schema, rules, path);
    if (value.is_number()) CheckNumber(value, rules, path);
    if (value.is_array()) CheckList(value, schema, rules, path, before);
    CheckEnum(value, rules, path);
    if (value.is_object()) CheckObject(value, schema, rules, path, before);
  }

  Causes causes;

 private:
  [[nodiscard]] std::string FieldOf(const std::string& path) const {
    const std::string below = path.substr(path.starts_with('.') ? 1 : 0);
    if (at_.empty()) return below.empty() ? "<nil>" : below;
    return below.empty() ? at_ : at_ + '.' + below;
  }
  void Add(const std::string& reason, const std::string& path, const std::string& message) {
    causes.push_back({reason, message, FieldOf(path)});
  }
  void AddInvalid(const std::string& path, const json& value, const std::string& what) {
    causes.push_back(InvalidValue(FieldOf(path), value, path + " in body " + what));
  }
  void AddOfSchemas(const std::string& path, const std::string& what) {
    causes.push_back(InvalidValue(FieldOf(""), "", '"' + path + "\" must " + what));
  }
  void AddType(const std::string& path, const std::string& wanted, const std::string& found) {
    Add("FieldValueTypeInvalid", path,
        "Invalid value: " + json(found).dump() + ": " + path + " in body must be of type " +
            wanted + ": " + json(found).dump());
  }

  void CheckType(const json& value, const Schema& schema, const std::string& path) {
    const std::string names = NamesOf(schema);
    if (Fits(names, value) || (value.is_null() && schema.nullable)) return;
    if (schema.format.empty() || names != "string" || value.is_null()) {
      return AddType(path, names, TypeOf(value));
    }
    // Text with a format is looked at by its format, lists not at all.
    if (value.is_array()) return;
    AddType(path, schema.format, IsInteger(value) ? "int64" : value.is_number() ? "double" : "");
  }

  /// The causes of one of several schemas.
  Causes Alone(const json& value, const Schema& schema, const std::string& path) const {
    Validator other(at_);
    other.Check(value, schema, path, nullptr);
    return std::move(other.causes);
  }
  void Take(Causes more) { std::move(more.begin(), more.end(), std::back_inserter(causes)); }

  void CheckSchemas(const json& value, const Rules& rules, const std::string& path) {
    const auto try_all = [&](const std::vector<const Schema*>& schemas) {
      std::pair<std::size_t, Causes> kept;  // how many hold; what the first that fails finds
      for (const Schema* each : schemas) {
        Causes found = Alone(value, *each, path);
        if (found.empty()) ++kept.first;
        if (kept.second.empty()) kept.second = std::move(found);
      }
      return kept;
    };
    if (auto [held, first] = try_all(rules.any_of); !rules.any_of.empty() && held == 0) {
      AddOfSchemas(path, "validate at least one schema (anyOf)");
      Take(std::move(first));
    }
    if (auto [held, first] = try_all(rules.one_of); !rules.one_of.empty() && held != 1) {
      AddOfSchemas(path,
                   "validate one and only one schema (oneOf). Found " +
                       (held == 0 ? "none valid" : std::to_string(held) + " valid alternatives"));
      if (held == 0) Take(std::move(first));
    }
    Causes of_all;
    for (const Schema* each : rules.all_of) {
      Causes found = Alone(value, *each, path);
      std::move(found.begin(), found.end(), std::back_inserter(of_all));
    }
    if (!of_all.empty()) {
      Take(std::move(of_all));
      AddOfSchemas(path, "validate all the schemas (allOf)");
    }
    if (rules.none != nullptr && Alone(value, *rules.none, path).empty()) {
      AddOfSchemas(path, "not validate the schema (not)");
    }
  }

  void CheckString(const json& value, const Schema& schema, const Rules& rules,
                   const std::string& path) {
    const auto& text = value.get_ref<const std::string&>();
    const std::size_t length = Length(text);
    const json* longest = rules.Find("maxLength");
    const json* shortest = rules.Find("minLength");
    if (longest != nullptr && length > *longest) {
      causes.push_back(TooLong(FieldOf(path), longest->get<std::size_t>()));
    } else if (shortest != nullptr && length < *shortest) {
      AddInvalid(path, value, "should be at least " + shortest->dump() + " chars long");
    } else if (rules.pattern && !rules.pattern->IsIn(text)) {
      AddInvalid(path, value, "should match '" + rules.Find("pattern")->get<std::string>() + '\'');
    }
    if (!schema.format.empty() && !HasFormat(text, schema.format)) {
      AddType(path, schema.format, text);
    }
  }

  void CheckNumber(const json& value, const Rules& rules, const std::string& path) {
    const auto number = value.get<double>();
    const auto is = [&](const char* word) {
      const json* said = rules.Find(word);
      return said != nullptr && *said == true;
    };
    if (const json* factor = rules.Find("multipleOf"); factor && !IsMultiple(value, *factor)) {
      AddInvalid(path, value, "should be a multiple of " + Amount(FactorFor(value, *factor)));
    }
    if (const json* most = rules.Find("maximum")) {
      const bool without = is("exclusiveMaximum");
      if (number > most->get<double>() || (without && number == most->get<double>())) {
        AddInvalid(path, value,
                   (without ? "should be less than " : "should be less than or equal to ") +
                       Amount(*most));
      }
    }
    if (const json* least = rules.Find("minimum")) {
      const bool without = is("exclusiveMinimum");
      if (number < least->get<double>() || (without && number == least->get<double>())) {
        AddInvalid(path, value,
                   (without ? "should be greater than " : "should be greater than or equal to ") +
                       Amount(*least));
      }
    }
  }

  void AddTooMany(const std::string& path, std::size_t count, const json& most) {
    Add("FieldValueTooMany", path,
        "Too many: " + std::to_string(count) + ": must have at most " + most.dump() +
            (most == 1 ? " item" : " items"));
  }

  void CheckList(const json& list, const Schema& schema, const Rules& rules,
                 const std::string& path, const json* before) {
    const auto old_items = ItemsByStep(schema, before);
    for (std::size_t i = 0; schema.items != nullptr && i < list.size(); ++i) {
      Check(list[i], *schema.items, path + '[' + std::to_string(i) + ']',
            ItemBefore(list[i], schema, old_items));
    }
    const json* least = rules.Find("minItems");
    const json* most = rules.Find("maxItems");
    if (least != nullptr && list.size() < *least) {
      AddInvalid(path, list.size(), "should have at least " + least->dump() + " items");
    }
    if (most != nullptr && list.size() > *most) AddTooMany(path, list.size(), *most);
  }

  using Items = std::map<std::string, const json*>;

  /// Those of a list by keys.
  static Items ItemsByStep(const Schema& schema, const json* list) {
    Items items;
    if (list == nullptr || !list->is_array() || !schema.IsKeyed()) return items;
    for (const json& item : *list) {
      if (const auto step = StepIfAny(schema, item)) items.emplace(*step, &item);
    }
    return items;
  }

  /// The item of `old_items` with the same keys.
  static const json* ItemBefore(const json& item, const Schema& schema, const Items& old_items) {
    if (old_items.empty()) return nullptr;
    const auto step = StepIfAny(schema, item);
    const auto found = step ? old_items.find(*step) : old_items.end();
    return found == old_items.end() ? nullptr : found->second;
  }

  static std::optional<std::string> StepIfAny(const Schema& schema, const json& item) {
    try {
      return StepOf(schema, item);
    } catch (const std::invalid_argument&) {
      return std::nullopt;  // it has no keys, and that is found elsewhere
    }
  }

  void CheckEnum(const json& value, const Rules& rules, const std::string& path) {
    const json* values = rules.Find("enum");
    if (values == nullptr || values->empty()) return;
    if (std::find(values->begin(), values->end(), value) != values->end()) return;
    std::vector<std::string> names;
    for (const json& each : *values) {
      names.push_back(each.is_string() ? each.get<std::string>() : each.dump());
    }
    causes.push_back(NotSupported(FieldOf(path), value, names));
  }

  void CheckObject(const json& object, const Schema& schema, const Rules& rules,
                   const std::string& path, const json* before) {
    const json* least = rules.Find("minProperties");
    const json* most = rules.Find("maxProperties");
    if (least != nullptr && object.size() < *least) {
      return AddInvalid(path, object.size(),
                        "should have at least " + least->dump() + " properties");
    }
    if (most != nullptr && object.size() > *most) return AddTooMany(path, object.size(), *most);
    for (const auto& [name, value] : object.items()) {
      const Schema::Field* field = schema.Find(name);
      const Schema* part = field != nullptr ? field->schema : schema.items;
      if (part == nullptr) continue;
      const bool was = before != nullptr && before->is_object() && before->contains(name);
      Check(value, *part, path.empty() ? name : path + '.' + name,
            was ? &(*before)[name] : nullptr);
    }
    for (const std::string& name : rules.required) {
      if (!object.contains(name)) causes.push_back(Required(FieldOf(path + '.' + name), ""));
    }
  }

  const std::string at_;
};

}  // namespace

Causes ValueProblems(const json& value, const Schema& schema, const std::string& at,
                     const json* before) {
  Validator validator(at);
  validator.Check(value, schema, "", before);
  Causes causes = std::move(validator.causes);
  CheckParts(value, schema, at, causes);
  return causes;
}

}  // namespace kopp::apiserver
