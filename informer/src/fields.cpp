#include "cursor.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include <kopp/informer/fields.hpp>

namespace kopp {

DecodeError::DecodeError(Kind kind, std::string path, std::string problem)
    : std::runtime_error(path.empty() ? problem : path + ": " + problem),
      kind_(kind),
      path_(std::move(path)),
      problem_(std::move(problem)) {}

DecodeError DecodeError::Within(std::string_view field) const {
  std::string path{field};
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
  return "something else";
}

[[noreturn]] void ThrowMisfit(ondemand::value& value, const char* expected) {
  throw DecodeError(DecodeError::Kind::kMisfit, "",
                    std::string("expected ") + expected + ", found " + Describe(value.type()));
}

/// The value, when it has the JSON type that is expected.
template <typename T>
T Take(simdjson::simdjson_result<T> result, ondemand::value& value, const char* expected) {
  const simdjson::error_code error = result.error();
  if (error == simdjson::SUCCESS) return std::move(result).value_unsafe();
  if (error == simdjson::INCORRECT_TYPE || error == simdjson::NUMBER_OUT_OF_RANGE ||
      error == simdjson::NUMBER_ERROR) {
    ThrowMisfit(value, expected);
  }
  ThrowMalformed(error);
}

// A listed name holds no character that JSON escapes, so the raw text is compared; it is followed
// by at least the padding.
bool IsKey(ondemand::raw_json_string key, std::string_view name) {
  return std::strncmp(key.raw(), name.data(), name.size()) == 0 && key.raw()[name.size()] == '"';
}

}  // namespace

ThreadParser& ParserOfThisThread() {
  thread_local ThreadParser parser;
  return parser;
}

void ThrowMalformed(simdjson::error_code error) {
  throw DecodeError(DecodeError::Kind::kMalformed, "",
                    std::string("not valid JSON: ") + simdjson::error_message(error));
}

bool Cursor::Bool() { return Take(value_.json.get_bool(), value_.json, "a boolean"); }

std::int64_t Cursor::Int(std::int64_t least, std::int64_t most) {
  const std::int64_t number = Take(value_.json.get_int64(), value_.json, "an integer");
  if (number >= least && number <= most) return number;
  throw DecodeError(DecodeError::Kind::kMisfit, "",
                    std::to_string(number) + " does not fit: expected an integer from " +
                        std::to_string(least) + " to " + std::to_string(most));
}

std::uint64_t Cursor::Unsigned(std::uint64_t most) {
  const std::uint64_t number = Take(value_.json.get_uint64(), value_.json, "an unsigned integer");
  if (number <= most) return number;
  throw DecodeError(
      DecodeError::Kind::kMisfit, "",
      std::to_string(number) + " does not fit: expected at most " + std::to_string(most));
}

double Cursor::Double() { return Take(value_.json.get_double(), value_.json, "a number"); }

std::string Cursor::String() {
  return std::string(Take(value_.json.get_string(), value_.json, "a string"));
}

std::string Cursor::Raw() { return std::string(simdjson::to_json_string(value_.json).value()); }

void Cursor::Elements(void* list, void (*append)(void*, Cursor&)) {
  std::size_t index = 0;
  for (auto element : Take(value_.json.get_array(), value_.json, "a list")) {
    Value value{element.value()};
    Cursor cursor{value};
    try {
      append(list, cursor);
    } catch (const DecodeError& error) {
      throw error.Within("[" + std::to_string(index) + "]");
    }
    ++index;
  }
}

void Cursor::Entries(void* map, void (*insert)(void*, std::string, Cursor&)) {
  for (auto entry : Take(value_.json.get_object(), value_.json, "an object")) {
    std::string key{entry.unescaped_key().value()};
    Value value{entry.value().value()};
    if (value.json.is_null()) continue;
    Cursor cursor{value};
    try {
      insert(map, key, cursor);
    } catch (const DecodeError& error) {
      throw error.Within(key);
    }
  }
}

void Cursor::Members(void* object, Fields fields) {
  for (auto entry : Take(value_.json.get_object(), value_.json, "an object")) {
    const ondemand::raw_json_string key = entry.key().value();
    for (const Field& field : fields) {
      if (!IsKey(key, field.name)) continue;
      Value value{entry.value().value()};
      if (value.json.is_null()) break;
      Cursor cursor{value};
      try {
        field.decode(object, cursor);
      } catch (const DecodeError& error) {
        throw error.Within(field.name);
      }
      break;
    }
  }
}

void DecodeText(std::string_view text, void* object, Fields fields) {
  WithDocument(text, [&](ondemand::document& document) {
    Cursor::Value value{document.get_value().value()};
    Cursor{value}.Members(object, fields);
    const bool at_end = document.current_location().error() != simdjson::SUCCESS;
    if (!at_end) ThrowMalformed(simdjson::TRAILING_CONTENT);
  });
}

void Encoder::Bool(bool value) { out_ += value ? "true" : "false"; }
void Encoder::Int(std::int64_t value) { out_ += std::to_string(value); }
void Encoder::Unsigned(std::uint64_t value) { out_ += std::to_string(value); }

void Encoder::Double(double value) {
  if (!std::isfinite(value)) {  // JSON has no way to say it
    out_ += "null";
    return;
  }
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value);
  out_.append(text, end.ptr);
}

void Encoder::String(std::string_view value) {
  const auto plain = [](char c) { return c >= ' ' && c < 127 && c != '"' && c != '\\'; };
  if (std::all_of(value.begin(), value.end(), plain)) {
    out_.append("\"").append(value).append("\"");
    return;
  }
  using Json = nlohmann::json;
  out_ += Json(value).dump(-1, ' ', false, Json::error_handler_t::replace);
}

void Encoder::Raw(std::string_view value) { out_ += value; }
void Encoder::Open(char bracket) { out_ += bracket; }
void Encoder::Close(char bracket) { out_ += bracket; }

void Encoder::Key(std::string_view key) {
  Comma();
  String(key);
  out_ += ':';
}

void Encoder::Element() { Comma(); }

void Encoder::Comma() {
  if (out_.back() != '{' && out_.back() != '[') out_ += ',';
}

void EncodeFields(Encoder& to, const void* object, Fields fields) {
  to.Open('{');
  for (const Field& field : fields) field.encode(object, field.name, to);
  to.Close('}');
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

}  // namespace detail
}  // namespace kopp
