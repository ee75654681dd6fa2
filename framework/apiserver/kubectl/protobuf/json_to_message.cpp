#include "base/timestamp.hpp"
#include "json/base64.hpp"
#include "protobuf/message_json.hpp"
#include "protobuf/message_types.hpp"

#include <cstdint>
#include <stdexcept>
#include <string>

namespace kopp::apiserver {
namespace {

using google::protobuf::FieldDescriptor;
using ProtobufMessage = google::protobuf::Message;
using google::protobuf::Reflection;
using nlohmann::json;
using JsonForm = MessageTypes::Form;

void SetString(ProtobufMessage& message, const FieldDescriptor& field, std::string text) {
  const Reflection& set = *message.GetReflection();
  if (field.is_repeated()) return set.AddString(&message, &field, std::move(text));
  set.SetString(&message, &field, std::move(text));
}

/// Sets a field, or adds an item to a repeated one.
void SetValue(ProtobufMessage& message, const FieldDescriptor& field, const json& value) {
  const Reflection& set = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return JsonToMessage(value, field.is_repeated() ? *set.AddMessage(&message, &field)
                                                      : *set.MutableMessage(&message, &field));
    case FieldDescriptor::CPPTYPE_INT32:
      if (field.is_repeated()) return set.AddInt32(&message, &field, value.get<std::int32_t>());
      return set.SetInt32(&message, &field, value.get<std::int32_t>());
    case FieldDescriptor::CPPTYPE_INT64:
      if (field.is_repeated()) return set.AddInt64(&message, &field, value.get<std::int64_t>());
      return set.SetInt64(&message, &field, value.get<std::int64_t>());
    case FieldDescriptor::CPPTYPE_BOOL:
      return set.SetBool(&message, &field, value.get<bool>());
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return set.SetDouble(&message, &field, value.get<double>());
    default:
      break;
  }
  const auto& text = value.get_ref<const std::string&>();
  const bool is_bytes = field.type() == FieldDescriptor::TYPE_BYTES;
  SetString(message, field, is_bytes ? Base64Decode(text) : text);
}

void SetMap(ProtobufMessage& message, const FieldDescriptor& field, const json& object) {
  for (const auto& [key, value] : object.get_ref<const json::object_t&>()) {
    ProtobufMessage& entry = *message.GetReflection()->AddMessage(&message, &field);
    const auto* type = entry.GetDescriptor();
    SetString(entry, *type->map_key(), key);
    if (!value.is_null()) SetValue(entry, *type->map_value(), value);
  }
}

void SetField(ProtobufMessage& message, const FieldDescriptor& field, const json& value) {
  if (field.is_map()) return SetMap(message, field, value);
  if (!field.is_repeated()) return SetValue(message, field, value);
  for (const json& item : value.get_ref<const json::array_t&>()) SetValue(message, field, item);
}

void ObjectToMessage(const json& object, ProtobufMessage& message) {
  const auto& members = object.get_ref<const json::object_t&>();
  const auto* type = message.GetDescriptor();
  for (int i = 0; i < type->field_count(); ++i) {
    const FieldDescriptor& field = *type->field(i);
    if (MessageTypes::IsInlined(field)) {
      SetValue(message, field, object);
      continue;
    }
    const auto member = members.find(field.json_name());
    if (member != members.end() && !member->second.is_null()) {
      SetField(message, field, member->second);
    }
  }
}

void TimeToMessage(const std::string& text, ProtobufMessage& message) {
  const auto seconds = detail::ParseTimestamp(text);
  if (!seconds) throw std::invalid_argument("invalid timestamp: " + text);
  constexpr std::size_t kSecondsSize = std::string_view("2006-01-02T15:04:05").size();
  std::int32_t nanos = 0;
  if (text.size() > kSecondsSize && text[kSecondsSize] == '.') {
    std::int32_t unit = 100'000'000;
    for (std::size_t i = kSecondsSize + 1; i < text.size() && unit > 0; ++i, unit /= 10) {
      if (text[i] < '0' || text[i] > '9') break;
      nanos += (text[i] - '0') * unit;
    }
  }
  const Reflection& set = *message.GetReflection();
  const auto* type = message.GetDescriptor();
  set.SetInt64(&message, type->FindFieldByNumber(1), seconds->time_since_epoch().count());
  set.SetInt32(&message, type->FindFieldByNumber(2), nanos);
}

void IntOrStringToMessage(const json& value, ProtobufMessage& message) {
  const Reflection& set = *message.GetReflection();
  const auto* type = message.GetDescriptor();
  set.SetInt64(&message, type->FindFieldByNumber(1), value.is_string() ? 1 : 0);
  SetValue(message, *type->FindFieldByNumber(value.is_string() ? 3 : 2), value);
}

void ObjectOrBoolToMessage(const json& value, ProtobufMessage& message) {
  const auto* type = message.GetDescriptor();
  SetValue(message, *type->FindFieldByNumber(1), value.is_object() ? json(true) : value);
  if (value.is_object()) SetValue(message, *type->FindFieldByNumber(2), value);
}

}  // namespace

void JsonToMessage(const json& value, ProtobufMessage& message) {
  const auto* type = message.GetDescriptor();
  switch (MessageTypes::BuiltIn().FormOf(*type)) {
    case JsonForm::kTime:
    case JsonForm::kMicroTime:
      return TimeToMessage(value.get_ref<const std::string&>(), message);
    case JsonForm::kIntOrString:
      return IntOrStringToMessage(value, message);
    case JsonForm::kWrapper:
      return SetField(message, *type->FindFieldByNumber(1), value);
    case JsonForm::kJson:
      return SetString(message, *type->FindFieldByNumber(1), value.dump());
    case JsonForm::kObjectOrItems:
      return SetField(message, *type->FindFieldByNumber(value.is_array() ? 2 : 1), value);
    case JsonForm::kObjectOrBool:
      return ObjectOrBoolToMessage(value, message);
    case JsonForm::kObject:
      break;
  }
  ObjectToMessage(value, message);
}

}  // namespace kopp::apiserver
