#include "decoding/unstructured_decoding.hpp"

#include "json/go_values.hpp"
#include "json/schema_names.hpp"
#include "schema/decode.hpp"

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

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

/// Converts whole numbers to integers of the schema's size.
void ConvertInteger(json& value, const Schema& schema) {
  constexpr double kBound = 9.0e18;  // below the maximum of std::int64_t
  if (!IsInteger(value)) {
    const auto number = value.get<double>();
    if (std::trunc(number) != number) FailConversion("cannot convert float64 to " + schema.format);
    if (std::fabs(number) >= kBound) return;  // DecodeTyped() reports it
    value = static_cast<std::int64_t>(number);
  }
  if (schema.format == "int32") value = static_cast<std::int32_t>(value.get<std::int64_t>());
}

/// Checks a value that Go decodes from JSON: IntOrString and times.
void CheckJsonScalar(const json& value, const Schema& schema) {
  const bool is_valid =
      value.is_string() || (schema.type == Schema::Type::kIntOrString && IsInteger(value));
  if (is_valid) return;
  FailConversion(fmt::format("json: cannot unmarshal {} into Go value of type {}",
                             GoJsonType(value),
                             schema.type == Schema::Type::kIntOrString ? "int32" : "string"));
}

void ConvertScalar(json& value, const Schema& schema) {
  if (schema.format == "quantity") return;
  if (schema.type == Schema::Type::kIntOrString || schema.format.ends_with("time")) {
    return CheckJsonScalar(value, schema);
  }
  if (schema.format == "bytes") {
    if (!value.is_string()) FailConversion("cannot restore slice from " + GoKindOf(value));
    return;
  }
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

}  // namespace

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
