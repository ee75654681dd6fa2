#include "decoding/typed_decoding.hpp"

#include "base/base64.hpp"
#include "json/go_values.hpp"
#include "json/schema_names.hpp"
#include "schema/accessors.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <kopp/k8s/quantity.hpp>

namespace kopp::apiserver {
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
      if (schema.items->format == "quantity") return "v1.ResourceList";
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

[[noreturn]] void FailBase64(std::size_t offset) {
  throw std::invalid_argument("illegal base64 data at input byte " + std::to_string(offset));
}

/// Returns Base64 without the line breaks that Go's decoder ignores, and with zeros in the unused
/// bits of the last character. Throws std::invalid_argument, with the offset that Go names.
std::string CanonicalBase64(std::string_view text) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string result;
  std::size_t i = 0;
  const auto skip_line_breaks = [&] {
    while (i < text.size() && (text[i] == '\r' || text[i] == '\n')) ++i;
  };
  for (skip_line_breaks(); i < text.size(); skip_line_breaks()) {
    const std::size_t used = result.size() % 4;
    if (text[i] != '=') {
      if (kAlphabet.find(text[i]) == std::string_view::npos) FailBase64(i);
      result += text[i++];
      continue;
    }
    if (used < 2) FailBase64(i);
    ++i;
    skip_line_breaks();
    if (used == 2) {
      if (i == text.size()) FailBase64(i);
      if (text[i] != '=') FailBase64(i - 1);
      ++i;
      skip_line_breaks();
    }
    if (i < text.size()) FailBase64(i);
    const std::size_t unused = used == 2 ? 16 : 4;  // values of the unused bits
    const std::size_t last = kAlphabet.find(result.back());
    result.back() = kAlphabet[last - last % unused];
    return result.append(4 - used, '=');
  }
  if (result.size() % 4 != 0) FailBase64(i - result.size() % 4);
  return result;
}

/// Quotes a part of a time as Go's package time does.
std::string QuoteTime(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80 || byte < ' ') {
      quoted += fmt::format("\\x{:02x}", byte);
    } else {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
  }
  return quoted + '"';
}

/// Parses the times that Go accepts for the layouts of metav1.Time and metav1.MicroTime.
class TimeParser {
 public:
  explicit TimeParser(const std::string& text, bool micro)
      : text_(text), rest_(text), micro_(micro) {}

  /// Returns the time as Go encodes it: in UTC, with whole seconds or six decimal places; null for
  /// Go's zero time. Throws std::invalid_argument, with Go's message, if it is not valid.
  json Parse() {
    const int year = Number(4, "2006");
    Expect('-');
    const int month = InRange(Number(2, "01"), 1, 12, "month");
    Expect('-');
    const int day = Number(2, "02");
    Expect('T');
    const int hour = InRange(Number(2, "15"), 0, 23, "hour");
    Expect(':');
    const int minute = InRange(Number(2, "04"), 0, 59, "minute");
    Expect(':');
    const int second = InRange(Number(2, "05"), 0, 59, "second");
    const std::chrono::microseconds fraction = Fraction();
    const std::chrono::minutes offset = Zone();
    if (!rest_.empty()) Fail("extra text: " + QuoteTime(rest_));
    const std::chrono::year_month_day date(std::chrono::year(year),
                                           std::chrono::month(static_cast<unsigned>(month)),
                                           std::chrono::day(static_cast<unsigned>(day)));
    if (!date.ok()) Fail("day out of range");
    return Encode(std::chrono::sys_days(date) + std::chrono::hours(hour) +
                  std::chrono::minutes(minute) + std::chrono::seconds(second) + fraction - offset);
  }

 private:
  using Time = std::chrono::sys_time<std::chrono::microseconds>;

  [[noreturn]] void Fail(const std::string& reason) const {
    throw std::invalid_argument("parsing time " + QuoteTime(text_) + ": " + reason);
  }
  [[noreturn]] void FailAt(std::string_view element) const {
    const std::string_view layout =
        micro_ ? "2006-01-02T15:04:05.000000Z07:00" : "2006-01-02T15:04:05Z07:00";
    throw std::invalid_argument(fmt::format(R"(parsing time {} as "{}": cannot parse {} as "{}")",
                                            QuoteTime(text_), layout, QuoteTime(rest_), element));
  }
  static bool IsDigit(char c) { return c >= '0' && c <= '9'; }
  [[nodiscard]] bool HasDigits(std::size_t count, std::size_t from = 0) const {
    const std::string_view digits = rest_.substr(std::min(from, rest_.size()), count);
    return digits.size() == count && std::all_of(digits.begin(), digits.end(), IsDigit);
  }
  int Number(std::size_t digits, std::string_view element) {
    if (!HasDigits(digits)) FailAt(element);
    int number = 0;
    for (const char digit : rest_.substr(0, digits)) number = number * 10 + (digit - '0');
    rest_.remove_prefix(digits);
    return number;
  }
  int InRange(int number, int min, int max, const std::string& name) const {
    if (number < min || number > max) Fail(name + " out of range");
    return number;
  }
  void Expect(char separator) {
    if (!rest_.starts_with(separator)) FailAt({&separator, 1});
    rest_.remove_prefix(1);
  }
  /// Parses the decimal places: six of a micro-time, any number of a time.
  std::chrono::microseconds Fraction() {
    const bool is_fraction = (rest_.starts_with('.') || rest_.starts_with(',')) && HasDigits(1, 1);
    const std::size_t end = is_fraction ? rest_.find_first_not_of("0123456789", 1) : 0;
    const std::string_view digits =
        is_fraction ? rest_.substr(1, end == std::string_view::npos ? end : end - 1)
                    : std::string_view();
    if (micro_ && digits.size() != 6) FailAt(".000000");
    int micros = 0;
    for (std::size_t i = 0; i < 6; ++i) {
      micros = micros * 10 + (i < digits.size() ? digits[i] - '0' : 0);
    }
    if (is_fraction) rest_.remove_prefix(digits.size() + 1);
    return std::chrono::microseconds(micros);
  }
  std::chrono::minutes Zone() {
    if (rest_.starts_with('Z')) {
      rest_.remove_prefix(1);
      return std::chrono::minutes(0);
    }
    const bool is_zone = (rest_.starts_with('+') || rest_.starts_with('-')) && HasDigits(2, 1) &&
                         rest_.substr(3).starts_with(':') && HasDigits(2, 4);
    if (!is_zone) FailAt("Z07:00");
    const int sign = rest_.front() == '-' ? -1 : 1;
    rest_.remove_prefix(1);
    const int hours = InRange(Number(2, ""), 0, 24, "time zone offset hour");
    rest_.remove_prefix(1);
    const int minutes = InRange(Number(2, ""), 0, 60, "time zone offset minute");
    return std::chrono::minutes(sign * (hours * 60 + minutes));
  }
  /// Like FormatTimestamp and FormatMicroTime, for all years: WallTime covers only 1678 to 2261.
  [[nodiscard]] json Encode(Time time) const {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
    const auto days = std::chrono::floor<std::chrono::days>(seconds);
    const std::chrono::year_month_day date(days);
    const std::chrono::hh_mm_ss clock(seconds - days);
    std::string text =
        fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", int(date.year()), unsigned(date.month()),
                    unsigned(date.day()), clock.hours().count(), clock.minutes().count(),
                    clock.seconds().count());
    if (micro_) text += fmt::format(".{:06}", (time - seconds).count());
    const bool is_zero = text.starts_with("0001-01-01T00:00:00") && (!micro_ || time == seconds);
    return is_zero ? json() : json(text + 'Z');
  }

  const std::string& text_;
  std::string_view rest_;
  bool micro_;
};

/// Implements DecodeTyped(). An object decodes one value.
class TypedDecoder {
 public:
  void Decode(json& value, const Schema& schema) {
    switch (schema.type) {
      case Type::kAny:
        return;
      case Type::kObject:
        if (schema.preserve_unknown_fields) return;
        Require(value.is_object(), value, schema);
        return DecodeFields(value, schema);
      case Type::kMap:
        Require(value.is_object(), value, schema);
        for (auto& [name, field] : value.items()) DecodeElement(field, *schema.items);
        return;
      case Type::kList:
        Require(value.is_array(), value, schema);
        for (json& item : value) DecodeElement(item, *schema.items);
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
      const bool is_kept =
          is_set && !IsOmitted(*entry, *field) && !IsFalseKeyword(entry.key(), *entry);
      entry = is_kept ? std::next(entry) : object.erase(entry);
    }
    for (const auto& [name, field] : schema.fields) {
      if (field.always_present && !object.contains(name)) {
        DecodeField(object[name] = json::object(), name, field);
      }
    }
    struct_ = outer_struct;
  }

  /// Decodes an element of a list or a map. Go decodes null as the zero value.
  void DecodeElement(json& value, const Schema& schema) {
    if (value.is_null()) value = ZeroValue(schema);
    if (!value.is_null()) Decode(value, schema);
  }

  static json ZeroValue(const Schema& schema) {
    switch (schema.type) {
      case Type::kObject:
        return json::object();
      case Type::kString:
        return schema.format == "quantity" ? "0" : "";
      case Type::kInteger:
      case Type::kNumber:
        return 0;
      case Type::kBoolean:
        return false;
      default:
        return nullptr;
    }
  }

  void DecodeField(json& value, const std::string& name, const Schema::Field& field) {
    if (is_in_union_) return DecodeFieldValue(value, name, field);
    path_.push_back(name);
    DecodeFieldValue(value, name, field);
    path_.pop_back();
  }

  void DecodeFieldValue(json& value, const std::string& name, const Schema::Field& field) {
    const bool may_be_union = field.schema->type == Type::kAny || name == "dependencies";
    if (struct_ != kSchemaStruct || !may_be_union) return Decode(value, *field.schema);
    // Go names the field of the outermost union in all errors in it.
    const bool was_in_union = std::exchange(is_in_union_, true);
    if (name == "items") DecodeSchemaOrList(value, *Schemas::BuiltIn().Find(kSchemaStruct));
    if (name.starts_with("additional")) DecodeSchemaOrBool(value);
    if (name == "dependencies") DecodeDependencies(value);
    is_in_union_ = was_in_union;
  }

  /// Decodes a JSON schema or a list of `item`. Go ignores other values.
  void DecodeSchemaOrList(json& value, const Schema& item) {
    if (value.is_object()) return Decode(value, *Schemas::BuiltIn().Find(kSchemaStruct));
    if (!value.is_array()) value = nullptr;
    for (json& element : value) DecodeElement(element, item);
  }

  void DecodeSchemaOrBool(json& value) {
    if (value.is_boolean()) return;
    if (!value.is_object()) throw std::invalid_argument("boolean or JSON schema expected");
    Decode(value, *Schemas::BuiltIn().Find(kSchemaStruct));
  }

  void DecodeDependencies(json& value) {
    if (!value.is_object()) return;
    for (json& dependency : value)
      DecodeSchemaOrList(dependency, *Schemas::BuiltIn().Find("string"));
  }

  /// Returns whether Go omits an empty value of this field.
  static bool IsOmitted(const json& value, const Schema::Field& field) {
    const Type type = field.schema->type;
    if (field.required || field.keeps_empty || type == Type::kObject || type == Type::kAny ||
        type == Type::kIntOrString)
      return false;
    return value == "" || (value.is_structured() && value.empty());
  }

  /// Returns whether Go omits a keyword of a JSON schema because it is false. The keyword for
  /// unknown fields is a pointer in Go.
  [[nodiscard]] bool IsFalseKeyword(std::string_view name, const json& value) const {
    return struct_ == kSchemaStruct && value == false && !name.starts_with("additional") &&
           name != "default" && name != "example" && name != "x-kubernetes-preserve-unknown-fields";
  }

  void DecodeScalar(json& value, const Schema& schema) {
    switch (schema.type) {
      case Type::kInteger:
        return Require(IsInteger(value) && InRange(value, schema), value, schema);
      case Type::kNumber:
        return Require(value.is_number(), value, schema);
      case Type::kBoolean:
        return Require(value.is_boolean(), value, schema);
      case Type::kIntOrString:
        return Require(value.is_string() || (IsInteger(value) && InRange(value, schema)), value,
                       schema);
      default:
        DecodeString(value, schema);
    }
  }

  void DecodeString(json& value, const Schema& schema) {
    if (schema.format == "quantity") return DecodeQuantity(value);
    if (schema.format == "bytes" && value.is_array()) return DecodeByteArray(value, schema);
    Require(value.is_string(), value, schema);
    const auto& text = value.get_ref<const std::string&>();
    if (schema.format == "bytes") value = CanonicalBase64(text);
    if (schema.format == "time" || schema.format == "micro-time") {
      value = TimeParser(text, schema.format == "micro-time").Parse();
    }
  }

  /// Accepts numbers, and strings with spaces around the quantity.
  static void DecodeQuantity(json& value) {
    std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    constexpr const char* kSpaces = " \t\r\n\v\f";
    text.erase(0, text.find_first_not_of(kSpaces));
    text.erase(text.find_last_not_of(kSpaces) + 1);
    (void)k8s::Quantity(text);  // throws if it is not valid
    value = std::move(text);
  }

  /// Go accepts bytes as an array of numbers, too.
  void DecodeByteArray(json& value, const Schema& schema) const {
    std::string bytes;
    for (const json& byte : value) {
      const bool is_byte = byte.is_null() || (byte.is_number_unsigned() && byte <= 255);
      Require(is_byte, byte, schema);
      bytes += static_cast<char>(byte.is_null() ? 0 : byte.get<int>());
    }
    value = kopp::detail::EncodeBase64(bytes);
  }

  static bool InRange(const json& value, const Schema& schema) {
    if (schema.format != "int32" && schema.type != Type::kIntOrString) return true;
    const auto number = value.get<std::int64_t>();
    return number >= std::numeric_limits<std::int32_t>::min() &&
           number <= std::numeric_limits<std::int32_t>::max();
  }

  void Require(bool has_type, const json& value, const Schema& schema) const {
    if (has_type) return;
    std::string actual = GoJsonType(value);
    const bool is_integer = schema.type == Type::kInteger || schema.type == Type::kIntOrString;
    if (value.is_number() && is_integer) actual += ' ' + value.dump();
    throw std::invalid_argument(
        fmt::format("json: cannot unmarshal {} into Go struct field {}.{} of type {}", actual,
                    struct_, JoinWithDots(path_), GoType(schema)));
  }

  static constexpr const char* kSchemaStruct = "JSONSchemaProps";

  bool is_in_union_ = false;       // in a value that is a schema or something else
  std::vector<std::string> path_;  // field names, without list indices and map keys
  std::string struct_;             // name of the innermost Go struct
};

}  // namespace

void DecodeTyped(json& object, const Schema& schema) { TypedDecoder().Decode(object, schema); }

}  // namespace kopp::apiserver
