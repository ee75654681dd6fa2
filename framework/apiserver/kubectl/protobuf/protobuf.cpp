#include "protobuf/protobuf.hpp"

#include "json/schema_names.hpp"
#include "protobuf/message_json.hpp"
#include "protobuf/message_types.hpp"
#include "schema/accessors.hpp"
#include "schema/max_depth.hpp"

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>

#include <google/protobuf/io/coded_stream.h>

namespace kopp::apiserver {
namespace {

using google::protobuf::Descriptor;
using ProtobufMessage = google::protobuf::Message;
using nlohmann::json;

constexpr std::string_view kPrefix("k8s\0", 4);

std::unique_ptr<ProtobufMessage> ParseMessage(const Descriptor& type, std::string_view bytes) {
  std::unique_ptr<ProtobufMessage> message = MessageTypes::BuiltIn().New(type);
  google::protobuf::io::CodedInputStream input(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                               static_cast<int>(bytes.size()));
  input.SetRecursionLimit(static_cast<int>(kMaxJsonDepth));
  if (!message->ParsePartialFromCodedStream(&input) || !input.ConsumedEntireMessage()) {
    throw std::invalid_argument("unexpected EOF");
  }
  return message;
}

std::string StringOf(const ProtobufMessage& message, int number) {
  return message.GetReflection()->GetString(message,
                                            message.GetDescriptor()->FindFieldByNumber(number));
}

void SetStringOf(ProtobufMessage& message, int number, std::string text) {
  message.GetReflection()->SetString(&message, message.GetDescriptor()->FindFieldByNumber(number),
                                     std::move(text));
}

ProtobufMessage& MessageOf(ProtobufMessage& message, int number) {
  return *message.GetReflection()->MutableMessage(
      &message, message.GetDescriptor()->FindFieldByNumber(number));
}

std::unique_ptr<ProtobufMessage> NewMessage(const char* name) {
  const MessageTypes& types = MessageTypes::BuiltIn();
  return types.New(*types.Find(name));
}

}  // namespace

ProtobufEnvelope ReadProtobufEnvelope(std::string_view bytes) {
  if (!bytes.starts_with(kPrefix)) {
    throw std::invalid_argument(
        bytes.empty() ? "empty data"
                      : "provided data does not appear to be a protobuf message, expected prefix "
                        "[107 56 115 0]");
  }
  const std::unique_ptr<ProtobufMessage> unknown =
      ParseMessage(*MessageTypes::BuiltIn().Find("runtime.Unknown"), bytes.substr(kPrefix.size()));
  const ProtobufMessage& type_meta = MessageOf(*unknown, 1);
  return {StringOf(type_meta, 1), StringOf(type_meta, 2), StringOf(*unknown, 2)};
}

std::optional<json> DecodeProtobuf(const ProtobufEnvelope& envelope) {
  const Descriptor* type = MessageTypes::BuiltIn().FindKind(envelope.api_version, envelope.kind);
  if (type == nullptr) return std::nullopt;
  json object = MessageToJson(*ParseMessage(*type, envelope.message));
  if (!object.is_object()) throw std::invalid_argument(envelope.kind + " is not a kind");
  object["apiVersion"] = envelope.api_version;
  object["kind"] = envelope.kind;
  return object;
}

std::optional<std::string> EncodeProtobuf(const json& object) {
  const std::string api_version = StringField(object, "apiVersion");
  const std::string kind = StringField(object, "kind");
  const MessageTypes& types = MessageTypes::BuiltIn();
  const Descriptor* type = types.FindKind(api_version, kind);
  if (type == nullptr) return std::nullopt;
  const std::unique_ptr<ProtobufMessage> message = types.New(*type);
  JsonToMessage(object, *message);
  const std::unique_ptr<ProtobufMessage> unknown = NewMessage("runtime.Unknown");
  SetStringOf(MessageOf(*unknown, 1), 1, api_version);
  SetStringOf(MessageOf(*unknown, 1), 2, kind);
  SetStringOf(*unknown, 2, message->SerializePartialAsString());
  return std::string(kPrefix) + unknown->SerializePartialAsString();
}

std::string EncodeWatchFrame(const json& event) {
  const std::unique_ptr<ProtobufMessage> message = NewMessage("meta.v1.WatchEvent");
  const json& object = event.at("object");
  std::optional<std::string> encoded = EncodeProtobuf(object);
  SetStringOf(*message, 1, event.at("type").get<std::string>());
  SetStringOf(MessageOf(*message, 2), 1, encoded ? std::move(*encoded) : object.dump());
  return WithSizePrefix(message->SerializePartialAsString());
}

std::string WithSizePrefix(std::string_view text) {
  const auto size = static_cast<std::uint32_t>(text.size());
  std::string frame;
  for (const unsigned shift : {24U, 16U, 8U, 0U}) {
    frame += static_cast<char>(static_cast<unsigned char>(size >> shift));
  }
  return frame.append(text);
}

}  // namespace kopp::apiserver
