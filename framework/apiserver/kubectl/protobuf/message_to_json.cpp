#include "base/base64.hpp"
#include "base/timestamp.hpp"
#include "json/parse.hpp"
#include "json/schema_names.hpp"
#include "protobuf/message_json.hpp"
#include "protobuf/message_types.hpp"
#include "schema/utf8.hpp"

#include <cctype>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <google/protobuf/unknown_field_set.h>

namespace kopp::apiserver {
namespace {

using google::protobuf::FieldDescriptor;
using ProtobufMessage = google::protobuf::Message;
using google::protobuf::Reflection;
using google::protobuf::UnknownField;
using nlohmann::json;
using JsonForm = MessageTypes::Form;

/// Rejects fields with a wire type that their type does not allow. The library handles them as
/// unknown fields.
void CheckWireTypes(const ProtobufMessage& message) {
  const auto& unknown = message.GetReflection()->GetUnknownFields(message);
  for (int i = 0; i < unknown.field_count(); ++i) {
    constexpr int kWireTypes[] = {0, 5, 1, 2, 3};  // in the order of UnknownField::Type
    const UnknownField& field = unknown.field(i);
    const FieldDescriptor* known = message.GetDescriptor()->FindFieldByNumber(field.number());
    if (known == nullptr) continue;
    std::string go_name = known->json_name();
    go_name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(go_name[0])));
    throw std::invalid_argument("proto: wrong wireType = " +
                                std::to_string(kWireTypes[field.type()]) + " for field " + go_name);
  }
}

/// Returns field `number` of a message with a special form.
const FieldDescriptor& FieldOf(const ProtobufMessage& message, int number) {
  return *message.GetDescriptor()->FindFieldByNumber(number);
}

bool HasField(const ProtobufMessage& message, int number) {
  return message.GetReflection()->HasField(message, &FieldOf(message, number));
}

json NumberToJson(double number) {
  constexpr double kExact = 9007199254740992;  // 2^53
  const bool is_whole = std::trunc(number) == number && std::fabs(number) <= kExact;
  return is_whole ? json(static_cast<std::int64_t>(number)) : json(number);
}

/// Returns a field that is not repeated, or item `index` of a repeated one.
json ValueToJson(const ProtobufMessage& message, const FieldDescriptor& field, int index = -1) {
  const Reflection& get = *message.GetReflection();
  const bool is_item = index >= 0;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return MessageToJson(is_item ? get.GetRepeatedMessage(message, &field, index)
                                   : get.GetMessage(message, &field));
    case FieldDescriptor::CPPTYPE_INT32:
      return is_item ? get.GetRepeatedInt32(message, &field, index) : get.GetInt32(message, &field);
    case FieldDescriptor::CPPTYPE_INT64:
      return is_item ? get.GetRepeatedInt64(message, &field, index) : get.GetInt64(message, &field);
    case FieldDescriptor::CPPTYPE_BOOL:
      return is_item ? get.GetRepeatedBool(message, &field, index) : get.GetBool(message, &field);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return NumberToJson(get.GetDouble(message, &field));
    default:
      break;
  }
  std::string text =
      is_item ? get.GetRepeatedString(message, &field, index) : get.GetString(message, &field);
  const bool is_bytes = field.type() == FieldDescriptor::TYPE_BYTES;
  return is_bytes ? detail::EncodeBase64(text) : ToValidUtf8(std::move(text));
}

json RepeatedToJson(const ProtobufMessage& message, const FieldDescriptor& field) {
  const Reflection& get = *message.GetReflection();
  json items = field.is_map() ? json::object() : json::array();
  for (int i = 0; i < get.FieldSize(message, &field); ++i) {
    if (!field.is_map()) {
      items.push_back(ValueToJson(message, field, i));
      continue;
    }
    const ProtobufMessage& entry = get.GetRepeatedMessage(message, &field, i);
    const json key = ValueToJson(entry, FieldOf(entry, 1));
    items[key.get_ref<const std::string&>()] = ValueToJson(entry, FieldOf(entry, 2));
  }
  return items;
}

bool IsZero(const json& value) {
  return value.is_null() || value == "" || value == 0 || value == false;
}

json ObjectToJson(const ProtobufMessage& message) {
  json object = json::object();
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    json value =
        field->is_repeated() ? RepeatedToJson(message, *field) : ValueToJson(message, *field);
    if (MessageTypes::IsInlined(*field)) {
      object.update(value);
    } else if (!MessageTypes::BuiltIn().OmitsZero(*field) || !IsZero(value)) {
      object[field->json_name()] = std::move(value);
    }
  }
  return object;
}

/// Returns null for the zero time, which is an empty message.
json TimeToJson(const ProtobufMessage& message, bool has_microseconds) {
  if (!HasField(message, 1)) return nullptr;
  const Reflection& get = *message.GetReflection();
  const std::int64_t seconds = get.GetInt64(message, &FieldOf(message, 1));
  const std::int32_t nanos = get.GetInt32(message, &FieldOf(message, 2));
  constexpr std::int64_t kYear10000 = 253402300800;
  if (seconds < 0 || seconds >= kYear10000 || nanos < 0 || nanos >= 1'000'000'000) {
    throw std::invalid_argument("timestamp out of range");
  }
  const auto whole = std::chrono::sys_seconds(std::chrono::seconds(seconds));
  if (!has_microseconds) return detail::FormatTimestamp(WallTime(whole));
  return detail::FormatMicroTime(
      std::chrono::time_point_cast<WallTime::duration>(whole + std::chrono::nanoseconds(nanos)));
}

/// Returns the value of JSON text. Zero bytes are the value null.
json JsonTextToJson(const ProtobufMessage& message) {
  const std::string text = message.GetReflection()->GetString(message, &FieldOf(message, 1));
  return text.empty() ? json() : ParseJsonOrYaml(text, "application/json");
}

json IntOrStringToJson(const ProtobufMessage& message) {
  const bool is_string = message.GetReflection()->GetInt64(message, &FieldOf(message, 1)) == 1;
  return ValueToJson(message, FieldOf(message, is_string ? 3 : 2));
}

}  // namespace

json MessageToJson(const ProtobufMessage& message) {
  CheckWireTypes(message);
  const auto field_to_json = [&](int number) {
    const FieldDescriptor& field = FieldOf(message, number);
    return field.is_repeated() ? RepeatedToJson(message, field) : ValueToJson(message, field);
  };
  switch (MessageTypes::BuiltIn().FormOf(*message.GetDescriptor())) {
    case JsonForm::kTime:
      return TimeToJson(message, false);
    case JsonForm::kMicroTime:
      return TimeToJson(message, true);
    case JsonForm::kIntOrString:
      return IntOrStringToJson(message);
    case JsonForm::kWrapper:
      return field_to_json(1);
    case JsonForm::kJson:
      return JsonTextToJson(message);
    case JsonForm::kObjectOrItems:
      return field_to_json(HasField(message, 1) ? 1 : 2);
    case JsonForm::kObjectOrBool:
      return field_to_json(HasField(message, 2) ? 2 : 1);
    case JsonForm::kObject:
      break;
  }
  return ObjectToJson(message);
}

}  // namespace kopp::apiserver
