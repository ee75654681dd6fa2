#include "schema/typed_decoding.hpp"

#include "schema/parse.hpp"

#include <cctype>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <kopp/k8s/quantity.hpp>

namespace kopp::schema {
namespace {

using nlohmann::json;
using Type = Schema::Type;

std::string JoinWithDots(const std::vector<std::string>& path) {
  std::string joined;
  for (const std::string& field : path) joined += (joined.empty() ? "" : ".") + field;
  return joined;
}

std::string GoType(const Schema& schema) {
  switch (schema.type) {
    case Type::kObject:
      return schema.name.empty() ? "map[string]interface {}" : "v1." + schema.name;
    case Type::kMap:
      return "map[string]" + GoType(*schema.items);
    case Type::kList:
      return "[]" + GoType(*schema.items);
    case Type::kInteger:
      return schema.format;
    case Type::kNumber:
      return "float64";
    case Type::kBoolean:
      return "bool";
    case Type::kIntOrString:
      return "int32";
    default:
      return schema.format == "bytes" ? "[]uint8" : "string";
  }
}

/// Returns whether `text` is Base64 with padding. Sets `bad` to the offset that the error message
/// names.
bool IsBase64(const std::string& text, std::size_t& bad) {
  const auto padding =
      text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
  bad = padding == std::string::npos ? text.size() : padding;
  const std::size_t rest = text.size() - bad;
  return text.size() % 4 == 0 && rest <= 2 && text.find_first_not_of('=', bad) == std::string::npos;
}

/// Checks the layout 2006-01-02T15:04:05 with an optional fraction and a zone, but not the ranges:
/// see PartOutOfRange.
bool IsTime(const std::string& text) {
  constexpr std::string_view kLayout = "0000-00-00T00:00:00";
  if (text.size() <= kLayout.size()) return false;
  for (std::size_t i = 0; i < kLayout.size(); ++i) {
    const bool is_digit = std::isdigit(static_cast<unsigned char>(text[i])) != 0;
    if (kLayout[i] == '0' ? !is_digit : text[i] != kLayout[i]) return false;
  }
  return text.back() == 'Z' || text.find_first_of("+-", kLayout.size()) != std::string::npos;
}

/// Returns the first part of `time` that is out of its range, as Go names it, or "".
std::string_view PartOutOfRange(const std::string& time) {
  const auto number = [&time](std::size_t position) {
    return (time[position] - '0') * 10 + time[position + 1] - '0';
  };
  const auto month = static_cast<unsigned>(number(5));
  const auto day = static_cast<unsigned>(number(8));
  if (month < 1 || month > 12) return "month";
  if (number(11) > 23) return "hour";
  if (number(14) > 59) return "minute";
  if (number(17) > 59) return "second";
  const std::chrono::year year(number(0) * 100 + number(2));
  const std::chrono::year_month_day date(year, std::chrono::month(month), std::chrono::day(day));
  return date.ok() ? "" : "day";
}

constexpr std::size_t kSecondsSize = std::string_view("2006-01-02T15:04:05").size();

bool HasMicroseconds(const std::string& time) {
  const auto end = time.find_first_not_of("0123456789", kSecondsSize + 1);
  return time[kSecondsSize] == '.' && end == kSecondsSize + 7;
}

/// Implements DecodeTyped(). An object decodes one value.
class TypedDecoder {
 public:
  void Decode(json& value, const Schema& schema) {
    switch (schema.type) {
      case Type::kAny:
        return;
      case Type::kObject:
        Require(value.is_object(), value, schema);
        if (!schema.preserve_unknown_fields) DecodeFields(value, schema);
        return;
      case Type::kMap:
        Require(value.is_object(), value, schema);
        for (auto& [name, field] : value.items()) DecodeMapEntry(field, *schema.items);
        return;
      case Type::kList:
        Require(value.is_array(), value, schema);
        for (json& item : value) Decode(item, *schema.items);
        return;
      default:
        DecodeScalar(value, schema);
    }
  }

 private:
  void DecodeFields(json& object, const Schema& schema) {
    const std::string outer_struct = std::exchange(struct_, schema.name);
    for (auto entry = object.begin(); entry != object.end();) {
      const Schema::Field* field = schema.Find(entry.key());
      const bool is_set = field != nullptr && !entry->is_null();
      if (is_set) DecodeField(*entry, entry.key(), *field);
      entry = is_set && !IsOmitted(*entry, *field) ? std::next(entry) : object.erase(entry);
    }
    for (const auto& [name, field] : schema.fields) {
      if (field.always_present && !object.contains(name)) {
        DecodeField(object[name] = json::object(), name, field);
      }
    }
    struct_ = outer_struct;
  }

  // Go decodes null in a map of strings as "".
  void DecodeMapEntry(json& value, const Schema& schema) {
    if (value.is_null() && schema.type == Type::kString) value = "";
    if (!value.is_null()) Decode(value, schema);
  }

  void DecodeField(json& value, const std::string& name, const Schema::Field& field) {
    path_.push_back(name);
    Decode(value, *field.schema);
    path_.pop_back();
  }

  /// Returns whether Go omits an empty value of this field.
  static bool IsOmitted(const json& value, const Schema::Field& field) {
    const Type type = field.schema->type;
    if (field.required || type == Type::kObject || type == Type::kAny) return false;
    return (value.is_string() || value.is_structured()) &&
           (value.is_string() ? value.get_ref<const std::string&>().empty() : value.empty());
  }

  void DecodeScalar(json& value, const Schema& schema) {
    switch (schema.type) {
      case Type::kInteger:
        if (value.is_number_float() && IsWhole(value.get<double>())) {
          value = static_cast<std::int64_t>(value.get<double>());
        }
        return Require(IsInteger(value) && InRange(value, schema), value, schema);
      case Type::kNumber:
        return Require(value.is_number(), value, schema);
      case Type::kBoolean:
        return Require(value.is_boolean(), value, schema);
      case Type::kIntOrString:
        return Require(value.is_string() || IsInteger(value), value, schema);
      default:
        DecodeString(value, schema);
    }
  }

  void DecodeString(json& value, const Schema& schema) {
    if (schema.format == "quantity" && value.is_number()) value = value.dump();
    Require(value.is_string(), value, schema);
    const auto& text = value.get_ref<const std::string&>();
    if (schema.format == "quantity") (void)k8s::Quantity(text);  // throws if it is not valid
    if (schema.format == "time" || schema.format == "micro-time") RequireTime(text, schema.format);
    std::size_t bad = 0;
    if (schema.format == "bytes" && !IsBase64(text, bad)) {
      throw std::invalid_argument("illegal base64 data at input byte " + std::to_string(bad));
    }
  }

  static void RequireTime(const std::string& time, std::string_view format) {
    const std::string_view layout =
        format == "time" ? "2006-01-02T15:04:05Z07:00" : "2006-01-02T15:04:05.000000Z07:00";
    if (!IsTime(time)) {
      throw std::invalid_argument(fmt::format(
          R"(parsing time "{}" as "{}": cannot parse "{}" as "2006")", time, layout, time));
    }
    if (const std::string_view part = PartOutOfRange(time); !part.empty()) {
      throw std::invalid_argument(fmt::format(R"(parsing time "{}": {} out of range)", time, part));
    }
    if (format == "micro-time" && !HasMicroseconds(time)) {
      throw std::invalid_argument(
          fmt::format(R"(parsing time "{}" as "{}": cannot parse "{}" as ".000000")", time, layout,
                      time.substr(kSecondsSize)));
    }
  }

  static bool IsWhole(double number) {
    constexpr double kBound = 9.0e18;  // below the maximum of std::int64_t
    return std::fabs(number) < kBound && std::trunc(number) == number;
  }

  static bool InRange(const json& value, const Schema& schema) {
    if (schema.format != "int32") return true;
    const auto number = value.get<std::int64_t>();
    return number >= std::numeric_limits<std::int32_t>::min() &&
           number <= std::numeric_limits<std::int32_t>::max();
  }

  void Require(bool has_type, const json& value, const Schema& schema) const {
    if (has_type) return;
    std::string actual = GoJsonType(value);
    if (value.is_number() && schema.type == Type::kInteger) actual += ' ' + value.dump();
    throw std::invalid_argument(
        fmt::format("json: cannot unmarshal {} into Go struct field {}.{} of type {}", actual,
                    struct_, JoinWithDots(path_), GoType(schema)));
  }

  std::vector<std::string> path_;  // field names, without list indices and map keys
  std::string struct_;             // name of the innermost Go struct
};

}  // namespace

void DecodeTyped(json& object, const Schema& schema) { TypedDecoder().Decode(object, schema); }

}  // namespace kopp::schema
