#pragma once

#include <google/protobuf/message.h>
#include <nlohmann/json.hpp>

// Conversion between protobuf messages and the JSON form of the same objects.

namespace kopp::apiserver {

/// Returns the JSON form of a message of MessageTypes::BuiltIn(). Values of JSON text become JSON.
/// Throws std::invalid_argument, with the message of kube-apiserver, if the message has a field of
/// the wrong wire type or invalid JSON.
[[nodiscard]] nlohmann::json MessageToJson(const google::protobuf::Message& message);

/// Sets the fields of an empty message of MessageTypes::BuiltIn() from its JSON form. Ignores
/// unknown fields and nulls. Throws std::invalid_argument or nlohmann::json::exception if a value
/// has the wrong type.
void JsonToMessage(const nlohmann::json& value, google::protobuf::Message& message);

}  // namespace kopp::apiserver
