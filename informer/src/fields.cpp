#include "json_document.hpp"
#include "other_fields.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>

#include <kopp/informer/fields.hpp>

namespace kopp {

DecodeError::DecodeError(Kind kind, std::string path, std::string problem)
    : std::runtime_error(path.empty() ? problem : path + ": " + problem),
      kind_(kind),
      path_(std::move(path)),
      problem_(std::move(problem)) {}

DecodeError DecodeError::WithPathPrefix(std::string_view prefix) const {
  std::string path{prefix};
  if (!path_.empty() && path_.front() != '[') path += '.';
  return {kind_, path + path_, problem_};
}

namespace detail {
namespace {

namespace ondemand = simdjson::ondemand;

const char* Describe(ondemand::json_type type) {
  switch (type) {
    case ondemand::json_type::array:
      return "a list";
    case ondemand::json_type::object:
      return "an object";
    case ondemand::json_type::number:
      return "a number";
    case ondemand::json_type::string:
      return "a string";
    case ondemand::json_type::boolean:
      return "a boolean";
    case ondemand::json_type::null:
      return "null";
  }
  return "an unknown value";
}

[[noreturn]] void ThrowTypeMismatch(ondemand::value& value, const char* expected) {
  throw DecodeError(DecodeError::Kind::kTypeMismatch, "",
                    std::string("expected ") + expected + ", found " + Describe(value.type()));
}

/// Returns the value of `result`; throws DecodeError if `value` does not have the expected type.
template <typename T>
T GetOrThrow(simdjson::simdjson_result<T> result, ondemand::value& value, const char* expected) {
  const simdjson::error_code error = result.error();
  if (error == simdjson::SUCCESS) return std::move(result).value_unsafe();
  if (error == simdjson::INCORRECT_TYPE || error == simdjson::NUMBER_OUT_OF_RANGE ||
      error == simdjson::NUMBER_ERROR) {
    ThrowTypeMismatch(value, expected);
  }
  ThrowMalformed(error);
}

/// Returns the text of a key or string if it has no escapes, and otherwise what `unescape` returns.
/// simdjson has checked that the string has a closing quote and no control characters.
template <typename Unescape>
std::string_view TextOf(ondemand::raw_json_string string, Unescape unescape) {
  const std::size_t length = std::strcspn(string.raw(), "\"\\");
  if (string.raw()[length] == '"') return {string.raw(), length};
  return unescape();
}

}  // namespace

bool Cursor::IsNull() { return value_.json.is_null(); }
bool Cursor::ReadBool() { return GetOrThrow(value_.json.get_bool(), value_.json, "a boolean"); }

std::int64_t Cursor::ReadInt(std::int64_t min, std::int64_t max) {
  const std::int64_t number = GetOrThrow(value_.json.get_int64(), value_.json, "an integer");
  if (number >= min && number <= max) return number;
  throw DecodeError(DecodeError::Kind::kTypeMismatch, "",
                    std::to_string(number) + " is out of range: expected an integer from " +
                        std::to_string(min) + " to " + std::to_string(max));
}

std::uint64_t Cursor::ReadUnsigned(std::uint64_t max) {
  const std::uint64_t number =
      GetOrThrow(value_.json.get_uint64(), value_.json, "an unsigned integer");
  if (number <= max) return number;
  throw DecodeError(
      DecodeError::Kind::kTypeMismatch, "",
      std::to_string(number) + " is out of range: expected at most " + std::to_string(max));
}

double Cursor::ReadDouble(double max) {
  const double number = GetOrThrow(value_.json.get_double(), value_.json, "a number");
  if (std::abs(number) <= max) return number;
  std::string limit;
  Encoder{limit}.WriteDouble(max);
  throw DecodeError(DecodeError::Kind::kTypeMismatch, "",
                    "the number is out of range: expected at most " + limit);
}

std::string Cursor::ReadString() {
  const auto raw = GetOrThrow(value_.json.get_raw_json_string(), value_.json, "a string");
  return std::string(TextOf(raw, [&] { return value_.json.get_string().value(); }));
}

std::string Cursor::ReadRaw() { return std::string(simdjson::to_json_string(value_.json).value()); }

void Cursor::ReadArray(void* list, void (*append)(void*, Cursor&)) {
  std::size_t index = 0;
  for (auto element : GetOrThrow(value_.json.get_array(), value_.json, "a list")) {
    Value value{element.value()};
    Cursor cursor{value};
    try {
      append(list, cursor);
    } catch (const DecodeError& error) {
      throw error.WithPathPrefix("[" + std::to_string(index) + "]");
    }
    ++index;
  }
}

void Cursor::ReadMap(void* map, void (*insert)(void*, std::string, Cursor&)) {
  for (auto entry : GetOrThrow(value_.json.get_object(), value_.json, "an object")) {
    std::string key{TextOf(entry.key(), [&] { return entry.unescaped_key().value(); })};
    Value value{entry.value().value()};
    Cursor cursor{value};
    try {
      insert(map, key, cursor);
    } catch (const DecodeError& error) {
      throw error.WithPathPrefix(key);
    }
  }
}

void Cursor::ReadObject(void* object, Fields fields) {
  DecodeMembers(GetOrThrow(value_.json.get_object(), value_.json, "an object"), object, fields);
}

namespace {

void DecodeField(ondemand::value json, void* object, const Field& field) {
  Cursor::Value value{json};
  if (value.json.is_null()) return;
  Cursor cursor{value};
  try {
    field.decode(static_cast<char*>(object) + field.offset, cursor);
  } catch (const DecodeError& error) {
    throw error.WithPathPrefix(field.name);
  }
}

const Field* FindField(ondemand::raw_json_string key, Fields fields) {
  for (const Field& field : fields) {
    if (Equals(key, field.name)) return &field;
  }
  return nullptr;
}

}  // namespace

void DecodeMembers(ondemand::object json, void* object, Fields fields) {
  const Field* const others = OthersIn(fields);
  std::string other_fields;
  for (auto entry : json) {
    const ondemand::raw_json_string key = entry.key();
    if (const Field* field = FindField(key, fields)) {
      DecodeField(entry.value(), object, *field);
    } else if (others != nullptr) {
      const std::string name{TextOf(key, [&] { return entry.unescaped_key().value(); })};
      AppendOther(other_fields, name, entry.value());
    }
  }
  if (others != nullptr) DecodeOthers(other_fields, object, *others);
}

void DecodeText(std::string_view text, void* object, Fields fields) {
  ParserLease parser;
  WithDecodeErrors([&] {
    ondemand::document document = parser.Parse(parser.CopyWithPadding(text));
    Cursor::Value value{document.get_value()};
    Cursor{value}.ReadObject(object, fields);
    const bool at_end = document.current_location().error() != simdjson::SUCCESS;
    if (!at_end) ThrowMalformed(simdjson::TRAILING_CONTENT);
  });
}

void Encoder::WriteBool(bool value) { out_ += value ? "true" : "false"; }
void Encoder::WriteInt(std::int64_t value) { out_ += std::to_string(value); }
void Encoder::WriteUnsigned(std::uint64_t value) { out_ += std::to_string(value); }

void Encoder::WriteDouble(double value) {
  if (!std::isfinite(value)) {  // JSON cannot represent it
    out_ += "null";
    return;
  }
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value);
  out_.append(text, end.ptr);
}

void Encoder::WriteString(std::string_view value) {
  const auto is_plain = [](char c) { return c >= ' ' && c < 127 && c != '"' && c != '\\'; };
  if (std::all_of(value.begin(), value.end(), is_plain)) {
    out_.append("\"").append(value).append("\"");
    return;
  }
  using Json = nlohmann::json;
  out_ += Json(value).dump(-1, ' ', false, Json::error_handler_t::replace);
}

void Encoder::WriteRaw(std::string_view value) { out_ += value; }
void Encoder::OpenBracket(char bracket) { out_ += bracket; }
void Encoder::CloseBracket(char bracket) { out_ += bracket; }

void Encoder::WriteKey(std::string_view key) {
  WriteCommaIfNeeded();
  WriteString(key);
  out_ += ':';
}

void Encoder::StartElement() { WriteCommaIfNeeded(); }

void Encoder::WriteCommaIfNeeded() {
  if (out_.back() != '{' && out_.back() != '[') out_ += ',';
}

void EncodeFields(Encoder& encoder, const void* object, Fields fields) {
  encoder.OpenBracket('{');
  for (const Field& field : fields) {
    if (field.name == kOtherFields) {
      EncodeOthers(encoder, object, field);
    } else {
      field.encode(static_cast<const char*>(object) + field.offset, field.name, encoder);
    }
  }
  encoder.CloseBracket('}');
}

void ToJson(nlohmann::json& json, const void* object, Fields fields) {
  std::string text;
  Encoder encoder{text};
  EncodeFields(encoder, object, fields);
  json = nlohmann::json::parse(text);
}

void FromJson(const nlohmann::json& json, void* object, Fields fields) {
  DecodeText(json.dump(), object, fields);
}

std::string DecodeString(std::string_view json) {
  const bool is_quoted = json.size() >= 2 && json.front() == '"' && json.back() == '"';
  if (is_quoted && json.find('\\') == std::string_view::npos) {
    return std::string(json.substr(1, json.size() - 2));
  }
  struct Holder {
    std::string text;
  } holder;
  static constexpr Field kField[] = {MakeField<Holder, &Holder::text>("text")};
  DecodeText("{\"text\":" + std::string(json) + "}", &holder, kField);
  return holder.text;
}

std::string EncodeString(std::string_view value) {
  std::string text;
  Encoder{text}.WriteString(value);
  return text;
}

std::string_view FindEnumName(EnumNames names, std::int64_t value) {
  for (const EnumName& entry : names) {
    if (entry.value == value) return entry.name;
  }
  throw std::invalid_argument("cannot encode " + std::to_string(value) +
                              " as an enum: KOPP_ENUM gives this value no name");
}

std::int64_t FindEnumValue(EnumNames names, std::string_view name) {
  std::string known;
  for (const EnumName& entry : names) {
    if (entry.name == name) return entry.value;
    known += (known.empty() ? "" : ", ") + EncodeString(entry.name);
  }
  throw DecodeError(DecodeError::Kind::kTypeMismatch, "",
                    "unknown value " + EncodeString(name) + ": expected one of " + known);
}

}  // namespace detail
}  // namespace kopp
