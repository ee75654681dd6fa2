#include "decoding/object_decoding.hpp"

#include "decoding/custom_resource_decoding.hpp"
#include "decoding/typed_decoding.hpp"
#include "json/go_values.hpp"
#include "json/parse.hpp"
#include "schema/accessors.hpp"
#include "schema/go_quoted.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using Type = Schema::Type;

/// SAX handler that tracks the schema of the current value and records unknown and duplicate
/// fields.
class StrictDecodingHandler : public json::json_sax_t {
 public:
  explicit StrictDecodingHandler(const Schema& schema) : next_(&schema) {}

  std::vector<std::string> errors;

  bool null() override { return EndValue(); }
  bool boolean(bool) override { return EndValue(); }
  bool number_integer(json::number_integer_t) override { return EndValue(); }
  bool number_unsigned(json::number_unsigned_t) override { return EndValue(); }
  bool number_float(json::number_float_t, const std::string&) override { return EndValue(); }
  bool string(std::string&) override { return EndValue(); }
  bool binary(json::binary_t&) override { return EndValue(); }
  bool parse_error(std::size_t, const std::string&, const json::exception&) override {
    return false;
  }

  bool start_object(std::size_t) override {
    levels_.push_back({.schema = next_, .path_element = PathElement()});
    return true;
  }
  bool start_array(std::size_t) override {
    levels_.push_back({.schema = next_, .path_element = PathElement(), .index = 0});
    next_ = next_ != nullptr && next_->type == Type::kList ? next_->items : nullptr;
    return true;
  }
  bool end_object() override { return EndLevel(); }
  bool end_array() override { return EndLevel(); }

  bool key(std::string& name) override {
    Level& level = levels_.back();
    level.key = name;
    const std::string path = Path();
    next_ = level.schema == nullptr ? nullptr : level.schema->FieldSchema(name);
    const bool is_first = level.seen_keys.insert(name).second;
    if (level.schema != nullptr && level.schema->type == Type::kObject &&
        !level.schema->preserve_unknown_fields && next_ == nullptr) {
      if (is_first) errors.push_back("unknown field " + GoQuoted(path));
    } else if (!is_first) {
      errors.push_back("duplicate field " + GoQuoted(path));
    }
    return true;
  }

 private:
  struct Level {
    const Schema* schema = nullptr;  // nullptr: not specified
    std::string path_element;        // relative to the parent level
    std::optional<std::size_t> index{};
    std::string key{};
    std::set<std::string> seen_keys{};
  };

  /// Returns the path element of the current value, relative to the innermost level.
  [[nodiscard]] std::string PathElement() const {
    if (levels_.empty()) return "";
    const Level& level = levels_.back();
    if (level.index) return '[' + std::to_string(*level.index) + ']';
    return levels_.size() == 1 ? level.key : '.' + level.key;
  }
  [[nodiscard]] std::string Path() const {
    std::string path;
    for (const Level& level : levels_) path += level.path_element;
    return path + PathElement();
  }
  bool EndValue() {
    if (levels_.empty()) return true;
    Level& level = levels_.back();
    if (level.index) ++*level.index;
    next_ = level.index && level.schema != nullptr && level.schema->type == Type::kList
                ? level.schema->items
                : nullptr;
    return true;
  }
  bool EndLevel() {
    levels_.pop_back();
    return EndValue();
  }

  const Schema* next_;  // schema of the next value
  std::vector<Level> levels_;
};

[[noreturn]] void FailConversion(const std::string& reason) { throw std::invalid_argument(reason); }

std::string GoTypeOfScalar(const Schema& schema) {
  switch (schema.type) {
    case Schema::Type::kInteger:
      return schema.format;
    case Schema::Type::kNumber:
      return "float64";
    case Schema::Type::kBoolean:
      return "bool";
    default:
      return "string";
  }
}

/// Converts whole numbers to integers of the schema's size. A number that does not fit is converted
/// as Go does on x86-64: to the smallest integer, and then to its last 32 bits.
void ConvertInteger(json& value, const Schema& schema) {
  constexpr double kBound = 9223372036854775808.0;  // 2^63
  if (!IsInteger(value)) {
    const auto number = value.get<double>();
    if (std::trunc(number) != number) FailConversion("cannot convert float64 to " + schema.format);
    value = number >= -kBound && number < kBound ? static_cast<std::int64_t>(number)
                                                 : std::numeric_limits<std::int64_t>::min();
  }
  if (schema.format == "int32") value = static_cast<std::int32_t>(value.get<std::int64_t>());
}

/// Checks the text of bytes, or a list of bytes, as Go decodes it.
void CheckBytes(json value, const Schema& schema) {
  if (value.is_array()) {
    if (std::ranges::all_of(value, [](const json& byte) { return byte.is_number(); })) return;
    FailConversion("unrecognized type: uint8");
  }
  if (!value.is_string()) FailConversion("cannot restore slice from " + GoKindOf(value));
  try {
    DecodeTyped(value, schema);
  } catch (const std::invalid_argument& error) {
    FailConversion(std::string("error decoding from json: ") + error.what());
  }
}

/// Converts a value that Go encodes as JSON and decodes again: an IntOrString or a time. A whole
/// number loses its decimal point.
void ConvertJsonScalar(json& value, const Schema& schema) {
  constexpr double kBound = 1e15;
  const bool may_be_integer = schema.type == Schema::Type::kIntOrString;
  if (may_be_integer && value.is_number_float()) {
    const auto number = value.get<double>();
    if (std::trunc(number) == number && std::fabs(number) < kBound)
      value = static_cast<std::int64_t>(number);
  }
  if (value.is_string() || (may_be_integer && IsInteger(value))) return;
  FailConversion(fmt::format("json: cannot unmarshal {} into Go value of type {}",
                             GoJsonType(value), may_be_integer ? "int32" : "string"));
}

void ConvertScalar(json& value, const Schema& schema) {
  if (schema.format == "quantity") return;
  if (schema.type == Schema::Type::kIntOrString || schema.format.ends_with("time")) {
    return ConvertJsonScalar(value, schema);
  }
  if (schema.format == "bytes") return CheckBytes(value, schema);
  if (schema.type == Schema::Type::kInteger && value.is_number())
    return ConvertInteger(value, schema);
  const bool is_valid = (schema.type == Schema::Type::kString && value.is_string()) ||
                        (schema.type == Schema::Type::kBoolean && value.is_boolean()) ||
                        (schema.type == Schema::Type::kNumber && value.is_number());
  if (is_valid) return;
  const std::string type = GoTypeOfScalar(schema);
  if (schema.type == Schema::Type::kString && IsInteger(value))
    FailConversion("cannot convert int64 to " + type);
  FailConversion("unrecognized type: " + type);
}

void ConvertStruct(json& value, const Schema& schema) {
  if (schema.preserve_unknown_fields) return;
  if (!value.is_object()) FailConversion("cannot restore struct from: " + GoKindOf(value));
  for (auto& [name, member] : value.items()) {
    if (const Schema::Field* field = schema.Find(name)) ConvertUnstructured(member, *field->schema);
  }
}

/// Replaces an empty managedFields list with [{}]. Both reset the managed fields, but decoding
/// drops an empty list.
void KeepEmptyManagedFields(json& object) {
  const json::json_pointer pointer("/metadata/managedFields");
  if (object.contains(pointer) && object[pointer] == json::array())
    object[pointer].push_back(json::object());
}

/// Decodes an object, removes kind and apiVersion, and adds missing metadata. Returns the paths of
/// the unknown fields of a custom resource.
std::vector<std::string> Decode(json& object, const Schema& schema, bool built_in) {
  std::vector<std::string> unknown;
  KeepEmptyManagedFields(object);
  if (built_in) {
    DecodeTyped(object, schema);
  } else {
    unknown = DecodeCustomResource(object, schema);
  }
  object.erase("kind");
  object.erase("apiVersion");
  if (json& metadata = object["metadata"]; metadata.is_null()) metadata = json::object();
  return unknown;
}

}  // namespace

json DecodeBuiltIn(json object, const Schema& schema) {
  Decode(object, schema, /*built_in=*/true);
  return object;
}

DecodedObject DecodeStrictly(json object, std::string_view text, const Schema& schema,
                             bool built_in) {
  std::vector<std::string> errors = FindStrictDecodingErrors(text, schema);
  const std::vector<std::string> unknown = Decode(object, schema, built_in);
  if (!built_in) {  // decoding finds the unknown fields in the order of their paths
    std::erase_if(errors, [](const std::string& error) { return error.starts_with("unknown"); });
    for (const std::string& path : unknown) errors.push_back("unknown field \"" + path + '"');
  }
  return {std::move(object), std::move(errors)};
}

std::vector<std::string> FindStrictDecodingErrors(std::string_view text, const Schema& schema) {
  StrictDecodingHandler handler(schema);
  if (json::sax_parse(text, &handler)) return std::move(handler.errors);
  StrictDecodingHandler retry(schema);  // `text` contains invalid characters
  json::sax_parse(ReplaceInvalidText(text), &retry);
  return std::move(retry.errors);
}

void ConvertUnstructured(json& value, const Schema& schema) {
  if (value.is_null()) return;
  switch (schema.type) {
    case Schema::Type::kAny:
      return;
    case Schema::Type::kObject:
      return ConvertStruct(value, schema);
    case Schema::Type::kMap:
      if (!value.is_object()) FailConversion("cannot restore map from " + GoKindOf(value));
      for (auto& [name, member] : value.items()) ConvertUnstructured(member, *schema.items);
      return;
    case Schema::Type::kList:
      if (!value.is_array()) FailConversion("cannot restore slice from " + GoKindOf(value));
      for (json& item : value) ConvertUnstructured(item, *schema.items);
      return;
    default:
      ConvertScalar(value, schema);
  }
}

}  // namespace kopp::apiserver
