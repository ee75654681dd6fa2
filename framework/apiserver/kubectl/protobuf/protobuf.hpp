#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

// The protobuf encoding of Kubernetes: the bytes "k8s\0", then a runtime.Unknown with the kind and
// the message of an object. In a watch, WatchEvent messages follow each other, each after its size.

namespace kopp::apiserver {

/// An encoded object: its kind and its message.
struct ProtobufEnvelope {
  std::string api_version{};
  std::string kind{};
  std::string message{};
};

/// Reads the envelope of an encoded object. Throws std::invalid_argument, with the message of
/// kube-apiserver, if `bytes` has none.
[[nodiscard]] ProtobufEnvelope ReadProtobufEnvelope(std::string_view bytes);

/// Returns the JSON form of an encoded object, or nullopt if its kind is not built in. Throws
/// std::invalid_argument, with the message of kube-apiserver, if the message is not valid.
[[nodiscard]] std::optional<nlohmann::json> DecodeProtobuf(const ProtobufEnvelope& envelope);

/// Returns the encoding of an object in JSON, or nullopt if its kind is not built in. Throws
/// std::invalid_argument or nlohmann::json::exception if a field has the wrong type.
[[nodiscard]] std::optional<std::string> EncodeProtobuf(const nlohmann::json& object);

/// Returns the frame of a watch event: its size in four bytes (big-endian), then a WatchEvent. An
/// object of a kind that is not built in stays JSON. Throws as EncodeProtobuf does.
[[nodiscard]] std::string EncodeWatchFrame(const nlohmann::json& event);

/// Returns `text` after its size in four bytes (big-endian).
[[nodiscard]] std::string WithSizePrefix(std::string_view text);

}  // namespace kopp::apiserver
