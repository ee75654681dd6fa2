#include "schema_markers.hpp"

#include "source_text.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

namespace kopp::command {
namespace {

using nlohmann::json;

enum class TypeClass {
  kBool,
  kInteger,
  kNumber,
  kString,
  kIntOrString,
  kQuantity,
  kRaw,
  kList,
  kMap,
  kStruct
};

TypeClass ClassOf(std::string_view type) {
  if (type == "bool") return TypeClass::kBool;
  if (type == "std::int32_t" || type == "std::int64_t" || type == "std::uint64_t")
    return TypeClass::kInteger;
  if (type == "double") return TypeClass::kNumber;
  if (type == "std::string") return TypeClass::kString;
  if (type == kIntOrString) return TypeClass::kIntOrString;
  if (type == kQuantity) return TypeClass::kQuantity;
  if (type == kRawJson) return TypeClass::kRaw;
  if (type.starts_with(kVectorPrefix)) return TypeClass::kList;
  if (type.starts_with(kMapPrefix)) return TypeClass::kMap;
  return TypeClass::kStruct;
}

const json& At(const json& object, const char* key) {
  static const json null;
  const auto found = object.find(key);
  return found == object.end() ? null : *found;
}
bool IsTrue(const json& value) { return value.is_boolean() && value.get<bool>(); }
bool IsFinite(const json& value) { return value.is_number() && std::isfinite(value.get<double>()); }

// Returns a text; empty if it has a zero character, which would end the argument of a marker.
std::string TextOf(const json& value) {
  const std::string text = value.is_string() ? value.get<std::string>() : "";
  return text.find('\0') == std::string::npos ? text : "";
}

std::string Join(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

constexpr auto kMin = std::numeric_limits<std::int64_t>::min();
constexpr auto kMax = std::numeric_limits<std::int64_t>::max();

// Returns a scalar as a C++ literal. C++ has no literal for the least integer, and an integer above
// the greatest one becomes a floating-point number.
std::string Literal(const json& value) {
  if (value.is_string()) return StringLiteral(value.get_ref<const std::string&>());
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{kMax}) {
    return json(value.get<double>()).dump();
  }
  return value == kMin ? std::to_string(kMin + 1) + " - 1" : value.dump();
}

// Returns the integer that a number is, such as 3 for 3.0; null if it is none of 64 bits.
json IntegerOf(const json& value) {
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{kMax}) return {};
  if (value.is_number_integer()) return value;
  constexpr double kEnd = 9223372036854775808.0;  // 2^63
  const double number = value.is_number() ? value.get<double>() : kEnd;
  const bool is_integer = number >= -kEnd && number < kEnd && std::trunc(number) == number;
  return is_integer ? json(static_cast<std::int64_t>(number)) : json();
}

// Returns the number that a length or count is; null if it is none.
json CountOf(const json& value) {
  json count = IntegerOf(value);
  return count.is_null() || count < 0 ? json() : count;
}

std::string DumpOf(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

class Markers {
 public:
  Markers(const json& schema, std::string_view type)
      : schema_(schema), type_(type), class_(ClassOf(type)) {}

  std::vector<std::string> Make(bool required) {
    const bool self_evident =
        class_ != TypeClass::kList && class_ != TypeClass::kMap && class_ != TypeClass::kRaw;
    const json& default_value = At(schema_, "default");
    if (required && (!self_evident || !default_value.is_null())) Add("Required", "");
    AddNumbers();
    AddTexts();
    AddLists();
    AddProperties();
    AddEnum();
    AddDefault(default_value);
    AddItems();
    for (const json& rule : At(schema_, "x-kubernetes-validations")) AddRule(rule);
    return std::move(markers_);
  }

 private:
  void Add(const std::string& name, const std::string& argument) {
    markers_.push_back(name + '(' + argument + ')');
  }
  // Adds the limits that are finite, unless no value has both: that is an error of markers.
  void AddLimits(const json& least, const char* least_name, const json& most,
                 const char* most_name) {
    const bool has_least = IsFinite(least);
    const bool has_most = IsFinite(most);
    if (has_least && has_most && least.get<double>() > most.get<double>()) return;
    if (has_least) Add(least_name, Literal(least));
    if (has_most) Add(most_name, Literal(most));
  }
  void AddCounts(const char* least, const char* least_name, const char* most,
                 const char* most_name) {
    AddLimits(CountOf(At(schema_, least)), least_name, CountOf(At(schema_, most)), most_name);
  }
  void AddIfText(const char* key, const char* name) {
    if (const auto text = TextOf(At(schema_, key)); !text.empty()) Add(name, StringLiteral(text));
  }
  void AddIfTrue(const char* key, const char* name) {
    if (IsTrue(At(schema_, key))) Add(name, "");
  }

  void AddNumbers() {
    if (class_ != TypeClass::kInteger && class_ != TypeClass::kNumber) return;
    const bool above = IsTrue(At(schema_, "exclusiveMinimum"));
    const bool below = IsTrue(At(schema_, "exclusiveMaximum"));
    AddLimits(At(schema_, "minimum"), above ? "ExclusiveMinimum" : "Minimum",
              At(schema_, "maximum"), below ? "ExclusiveMaximum" : "Maximum");
    const json& divisor = At(schema_, "multipleOf");
    if (IsFinite(divisor) && divisor.get<double>() > 0) Add("MultipleOf", Literal(divisor));
  }
  void AddTexts() {
    if (class_ != TypeClass::kString && class_ != TypeClass::kIntOrString &&
        class_ != TypeClass::kRaw) {
      return;
    }
    AddCounts("minLength", "MinLength", "maxLength", "MaxLength");
    AddIfText("pattern", "Pattern");
    if (class_ == TypeClass::kString) AddIfText("format", "Format");
  }
  void AddLists() {
    if (class_ != TypeClass::kList) return;
    AddCounts("minItems", "MinItems", "maxItems", "MaxItems");
    std::vector<std::string> keys;
    for (const json& key : At(schema_, "x-kubernetes-list-map-keys")) keys.push_back(Literal(key));
    const std::string_view element = TemplateArgument(type_, kVectorPrefix);
    const bool is_optional = element.starts_with(kOptionalPrefix);
    if (!keys.empty() && !is_optional && ClassOf(element) == TypeClass::kStruct) {
      Add("ListMapKeys", Join(keys));
    } else {
      AddIfText("x-kubernetes-list-type", "ListType");
    }
  }
  void AddProperties() {
    AddIfTrue("nullable", "Nullable");
    if (class_ != TypeClass::kMap && class_ != TypeClass::kStruct && class_ != TypeClass::kRaw) {
      return;
    }
    // The markers of a field have one pair of counts.
    const bool has_lengths = class_ == TypeClass::kRaw &&
                             (schema_.contains("minLength") || schema_.contains("maxLength"));
    if (!has_lengths) AddCounts("minProperties", "MinProperties", "maxProperties", "MaxProperties");
    AddIfText("x-kubernetes-map-type", "MapType");
    AddIfTrue("x-kubernetes-embedded-resource", "EmbeddedResource");
    AddIfTrue("x-kubernetes-preserve-unknown-fields", "PreserveUnknownFields");
  }
  void AddEnum() {
    std::vector<std::string> values;
    for (const json& value : At(schema_, "enum")) {
      const bool fits = class_ == TypeClass::kString ? value.is_string() : IsFinite(value);
      if (fits) values.push_back(Literal(value));
    }
    const bool has_enum = class_ == TypeClass::kString || class_ == TypeClass::kInteger ||
                          class_ == TypeClass::kNumber;
    if (has_enum && !values.empty()) Add("Enum", Join(values));
  }
  void AddDefault(const json& value) {
    if (value.is_null()) return;
    const bool is_structure = class_ == TypeClass::kStruct || class_ == TypeClass::kList ||
                              class_ == TypeClass::kMap || class_ == TypeClass::kRaw;
    const json scalar = class_ == TypeClass::kInteger ? IntegerOf(value) : value;
    if (is_structure) {
      Add("Default", StringLiteral(DumpOf(value)));
    } else if (IsScalar(scalar)) {
      Add("Default", Literal(scalar));
    }
  }
  // Returns whether `value` is a value of this class.
  [[nodiscard]] bool IsScalar(const json& value) const {
    switch (class_) {
      case TypeClass::kBool:
        return value.is_boolean();
      case TypeClass::kInteger:
      case TypeClass::kNumber:
        return IsFinite(value);
      case TypeClass::kString:
        return value.is_string();
      default:
        return value.is_string() || IsFinite(value);
    }
  }
  void AddItems() {
    const bool is_list = class_ == TypeClass::kList;
    if (!is_list && class_ != TypeClass::kMap) return;
    const std::string_view element = TemplateArgument(type_, is_list ? kVectorPrefix : kMapPrefix);
    const json& items = At(schema_, is_list ? "items" : "additionalProperties");
    if (!items.is_object()) return;
    const auto markers = MarkersOf(items, element, false);
    if (!markers.empty()) Add("Items", Join(markers));
  }
  void AddRule(const json& rule) {
    const std::string expression = TextOf(At(rule, "rule"));
    if (expression.empty()) return;
    std::vector<std::string> options;
    const auto add_option = [&](const char* key, const char* name) {
      const std::string text = TextOf(At(rule, key));
      if (!text.empty()) options.push_back('.' + std::string(name) + " = " + StringLiteral(text));
    };
    add_option("reason", "reason");
    add_option("messageExpression", "message_expression");
    add_option("fieldPath", "field_path");
    if (IsTrue(At(rule, "optionalOldSelf"))) options.emplace_back(".optional_old_self = true");
    const std::string message = TextOf(At(rule, "message"));
    std::string arguments = StringLiteral(expression);
    if (!message.empty() || !options.empty()) arguments += ", " + StringLiteral(message);
    if (!options.empty()) arguments += ", {" + Join(options) + '}';
    Add("Validation", arguments);
  }

  const json& schema_;
  std::string_view type_;
  TypeClass class_;
  std::vector<std::string> markers_{};
};

}  // namespace

std::vector<std::string> MarkersOf(const json& schema, std::string_view type, bool required) {
  if (!schema.is_object()) return {};
  const std::string_view value = TemplateArgument(type, kOptionalPrefix);
  return Markers(schema, value.empty() ? type : value).Make(required);
}

std::string_view TemplateArgument(std::string_view type, std::string_view prefix) {
  if (!type.starts_with(prefix)) return {};
  return type.substr(prefix.size(), type.size() - prefix.size() - 1);
}

}  // namespace kopp::command
