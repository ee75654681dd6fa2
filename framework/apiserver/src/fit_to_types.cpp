#include "fit_to_types.hpp"

#include "decode.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using Type = Schema::Type;

std::string Joined(const std::vector<std::string>& path) {
  std::string joined;
  for (const std::string& part : path) joined += (joined.empty() ? "" : ".") + part;
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

bool IsBase64(const std::string& text, std::size_t& bad) {
  const auto padding =
      text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
  bad = padding == std::string::npos ? text.size() : padding;
  const std::size_t rest = text.size() - bad;
  return text.size() % 4 == 0 && rest <= 2 && text.find_first_not_of('=', bad) == std::string::npos;
}

/// Why it is none; "" where it is one.
std::string NotAQuantity(std::string_view text) {
  const auto take = [&](std::string_view letters) {
    const std::string_view taken = text.substr(0, text.find_first_not_of(letters));
    text.remove_prefix(taken.size());
    return taken;
  };
  const auto take_sign = [&] {
    if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  };
  const bool is_empty = text.empty();
  take_sign();
  take("0123456789");
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    take("0123456789");
  }
  const std::string_view suffix = take("eEinumkKMGTP");
  const bool has_more = !text.empty();
  take_sign();
  const bool has_exponent = !take("0123456789").empty();
  if (is_empty || !text.empty()) {
    return "quantities must match the regular expression "
           "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  }
  constexpr std::string_view kSuffixes[] = {"",  "n", "u",  "m",  "k",  "M",  "G",  "T",
                                            "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  const bool is_known = has_more ? has_exponent && (suffix == "e" || suffix == "E")
                                 : std::find(std::begin(kSuffixes), std::end(kSuffixes), suffix) !=
                                       std::end(kSuffixes);
  return is_known ? "" : "unable to parse quantity's suffix";
}

// 2006-01-02T15:04:05, then perhaps a fraction, then Z or an offset.
bool IsTime(const std::string& text) {
  constexpr std::string_view kShape = "0000-00-00T00:00:00";
  if (text.size() <= kShape.size()) return false;
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    const bool digit = std::isdigit(static_cast<unsigned char>(text[i])) != 0;
    if (kShape[i] == '0' ? !digit : text[i] != kShape[i]) return false;
  }
  return text.back() == 'Z' || text.find_first_of("+-", kShape.size()) != std::string::npos;
}

constexpr std::size_t kSecondsSize = std::string_view("2006-01-02T15:04:05").size();

bool HasMicroseconds(const std::string& time) {
  const auto end = time.find_first_not_of("0123456789", kSecondsSize + 1);
  return time[kSecondsSize] == '.' && end == kSecondsSize + 7;
}

class Fitter {
 public:
  void Fit(json& value, const Schema& schema) {
    switch (schema.type) {
      case Type::kAny:
        return;
      case Type::kObject:
        Require(value.is_object(), value, schema);
        if (!schema.open) FitFields(value, schema);
        return;
      case Type::kMap:
        Require(value.is_object(), value, schema);
        for (auto& [name, part] : value.items()) FitEntry(part, *schema.items);
        return;
      case Type::kList:
        Require(value.is_array(), value, schema);
        for (json& item : value) Fit(item, *schema.items);
        return;
      default:
        FitScalar(value, schema);
    }
  }

 private:
  void FitFields(json& object, const Schema& schema) {
    const std::string outer = std::exchange(struct_, schema.name);
    for (auto entry = object.begin(); entry != object.end();) {
      const Schema::Field* field = schema.Find(entry.key());
      const bool there = field != nullptr && !entry->is_null();
      if (there) FitField(*entry, entry.key(), *field);
      entry = there && !IsNothing(*entry, *field) ? std::next(entry) : object.erase(entry);
    }
    for (const auto& [name, field] : schema.fields) {
      if (field.always && !object.contains(name)) {
        FitField(object[name] = json::object(), name, field);
      }
    }
    struct_ = outer;
  }

  // As Go has it, null in a map of text is no text.
  void FitEntry(json& value, const Schema& schema) {
    if (value.is_null() && schema.type == Type::kString) value = "";
    if (!value.is_null()) Fit(value, schema);
  }

  void FitField(json& value, const std::string& name, const Schema::Field& field) {
    path_.push_back(name);
    Fit(value, *field.schema);
    path_.pop_back();
  }

  static bool IsNothing(const json& value, const Schema::Field& field) {
    const Type type = field.schema->type;
    if (field.required || type == Type::kObject || type == Type::kAny) return false;
    return (value.is_string() || value.is_structured()) &&
           (value.is_string() ? value.get_ref<const std::string&>().empty() : value.empty());
  }

  void FitScalar(json& value, const Schema& schema) {
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
        FitString(value, schema);
    }
  }

  void FitString(json& value, const Schema& schema) {
    if (schema.format == "quantity" && value.is_number()) value = value.dump();
    Require(value.is_string(), value, schema);
    const auto& text = value.get_ref<const std::string&>();
    if (schema.format == "quantity") {
      if (const std::string why = NotAQuantity(text); !why.empty())
        throw std::invalid_argument(why);
    }
    if (schema.format == "micro-time" && IsTime(text) && !HasMicroseconds(text)) {
      throw std::invalid_argument("parsing time \"" + text +
                                  "\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"" +
                                  text.substr(kSecondsSize) + "\" as \".000000\"");
    }
    if ((schema.format == "time" || schema.format == "micro-time") && !IsTime(text)) {
      const std::string layout = schema.format == "time" ? "2006-01-02T15:04:05Z07:00"
                                                         : "2006-01-02T15:04:05.000000Z07:00";
      throw std::invalid_argument("parsing time \"" + text + "\" as \"" + layout +
                                  "\": cannot parse \"" + text + "\" as \"2006\"");
    }
    std::size_t bad = 0;
    if (schema.format == "bytes" && !IsBase64(text, bad)) {
      throw std::invalid_argument("illegal base64 data at input byte " + std::to_string(bad));
    }
  }

  static bool IsWhole(double number) {
    constexpr double kBound = 9.0e18;  // of what std::int64_t holds
    return std::fabs(number) < kBound && std::trunc(number) == number;
  }

  static bool InRange(const json& value, const Schema& schema) {
    if (schema.format != "int32") return true;
    const auto number = value.get<std::int64_t>();
    return number >= std::numeric_limits<std::int32_t>::min() &&
           number <= std::numeric_limits<std::int32_t>::max();
  }

  void Require(bool fits, const json& value, const Schema& schema) const {
    if (fits) return;
    std::string what = GoKindOf(value);
    if (value.is_number() && schema.type == Type::kInteger) what += ' ' + value.dump();
    throw std::invalid_argument("json: cannot unmarshal " + what + " into Go struct field " +
                                struct_ + '.' + Joined(path_) + " of type " + GoType(schema));
  }

  std::vector<std::string> path_;  // the names of fields alone
  std::string struct_;             // the innermost type
};

}  // namespace

void FitToTypes(json& object, const Schema& schema) { Fitter().Fit(object, schema); }

}  // namespace kopp::apiserver
