#include "json/protobuf.hpp"

#include "json/base64.hpp"
#include "json/decode.hpp"
#include "json/utf8.hpp"
#include "system/timestamp.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

/// The form of a field in JSON.
enum class ProtobufType { kString, kBytes, kInteger, kBool, kMessage, kTime, kJson, kMap };

/// A field of a protobuf message and its name in JSON. The numbers are those of the files
/// generated.proto of Kubernetes.
struct ProtobufField {
  std::uint64_t number;
  const char* name;
  ProtobufType type = ProtobufType::kString;
  bool repeated = false;
  std::span<const ProtobufField> message{};  ///< the fields of kMessage, or key and value of kMap
};

using enum ProtobufType;

constexpr ProtobufField kOwnerReference[] = {
    {.number = 1, .name = "kind"},
    {.number = 3, .name = "name"},
    {.number = 4, .name = "uid"},
    {.number = 5, .name = "apiVersion"},
    {.number = 6, .name = "controller", .type = kBool},
    {.number = 7, .name = "blockOwnerDeletion", .type = kBool}};
constexpr ProtobufField kFieldsV1[] = {{.number = 1, .name = "Raw", .type = kJson}};
constexpr ProtobufField kManagedFieldsEntry[] = {
    {.number = 1, .name = "manager"},
    {.number = 2, .name = "operation"},
    {.number = 3, .name = "apiVersion"},
    {.number = 4, .name = "time", .type = kTime},
    {.number = 6, .name = "fieldsType"},
    {.number = 7, .name = "fieldsV1", .type = kMessage, .message = kFieldsV1},
    {.number = 8, .name = "subresource"}};
constexpr ProtobufField kStringEntry[] = {{.number = 1, .name = "key"},
                                          {.number = 2, .name = "value"}};
constexpr ProtobufField kBytesEntry[] = {{.number = 1, .name = "key"},
                                         {.number = 2, .name = "value", .type = kBytes}};
constexpr ProtobufField kObjectMeta[] = {
    {.number = 1, .name = "name"},
    {.number = 2, .name = "generateName"},
    {.number = 3, .name = "namespace"},
    {.number = 4, .name = "selfLink"},
    {.number = 5, .name = "uid"},
    {.number = 6, .name = "resourceVersion"},
    {.number = 7, .name = "generation", .type = kInteger},
    {.number = 8, .name = "creationTimestamp", .type = kTime},
    {.number = 9, .name = "deletionTimestamp", .type = kTime},
    {.number = 10, .name = "deletionGracePeriodSeconds", .type = kInteger},
    {.number = 11, .name = "labels", .type = kMap, .message = kStringEntry},
    {.number = 12, .name = "annotations", .type = kMap, .message = kStringEntry},
    {.number = 13,
     .name = "ownerReferences",
     .type = kMessage,
     .repeated = true,
     .message = kOwnerReference},
    {.number = 14, .name = "finalizers", .repeated = true},
    {.number = 17,
     .name = "managedFields",
     .type = kMessage,
     .repeated = true,
     .message = kManagedFieldsEntry}};
constexpr ProtobufField kSecret[] = {
    {.number = 1, .name = "metadata", .type = kMessage, .message = kObjectMeta},
    {.number = 2, .name = "data", .type = kMap, .message = kBytesEntry},
    {.number = 3, .name = "type"},
    {.number = 4, .name = "stringData", .type = kMap, .message = kStringEntry},
    {.number = 5, .name = "immutable", .type = kBool}};
constexpr ProtobufField kConfigMap[] = {
    {.number = 1, .name = "metadata", .type = kMessage, .message = kObjectMeta},
    {.number = 2, .name = "data", .type = kMap, .message = kStringEntry},
    {.number = 3, .name = "binaryData", .type = kMap, .message = kBytesEntry},
    {.number = 4, .name = "immutable", .type = kBool}};
constexpr ProtobufField kPreconditions[] = {{.number = 1, .name = "uid"},
                                            {.number = 2, .name = "resourceVersion"}};
constexpr ProtobufField kDeleteOptions[] = {
    {.number = 1, .name = "gracePeriodSeconds", .type = kInteger},
    {.number = 2, .name = "preconditions", .type = kMessage, .message = kPreconditions},
    {.number = 3, .name = "orphanDependents", .type = kBool},
    {.number = 4, .name = "propagationPolicy"},
    {.number = 5, .name = "dryRun", .repeated = true}};
constexpr ProtobufField kTypeMeta[] = {{.number = 1, .name = "apiVersion"},
                                       {.number = 2, .name = "kind"}};
constexpr ProtobufField kTimestamp[] = {{.number = 1, .name = "seconds", .type = kInteger}};

/// Reads the fields of a message in the wire format of protobuf.
class ProtobufReader {
 public:
  explicit ProtobufReader(std::string_view bytes) : bytes_(bytes) {}

  /// A field as it is encoded: `integer` for wire type 0, `bytes` for wire type 2.
  struct WireField {
    std::uint64_t number = 0;
    std::uint64_t wire_type = 0;
    std::uint64_t integer = 0;
    std::string_view bytes{};
  };

  [[nodiscard]] bool AtEnd() const { return bytes_.empty(); }

  WireField Next() {
    const std::uint64_t tag = Varint();
    WireField field{.number = tag >> 3U, .wire_type = tag & 7U};
    switch (field.wire_type) {
      case 0:
        field.integer = Varint();
        break;
      case 1:
        Skip(8);
        break;
      case 2:
        field.bytes = Skip(Varint());
        break;
      case 5:
        Skip(4);
        break;
      default:
        throw std::invalid_argument("proto: illegal wireType");
    }
    return field;
  }

 private:
  std::uint64_t Varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(Skip(1).front());
      value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80) return value;
    }
    throw std::invalid_argument("proto: integer overflow");
  }

  std::string_view Skip(std::uint64_t size) {
    if (size > bytes_.size()) throw std::invalid_argument("unexpected EOF");
    const std::string_view skipped = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return skipped;
  }

  std::string_view bytes_;
};

json DecodeMessage(std::string_view bytes, std::span<const ProtobufField> fields);

/// Returns null for the zero time, which is an empty message.
json DecodeTime(std::string_view bytes) {
  const json time = DecodeMessage(bytes, kTimestamp);
  if (!time.contains("seconds")) return nullptr;
  const auto seconds = time.at("seconds").get<std::int64_t>();
  constexpr std::int64_t kYear10000 = 253402300800;
  if (seconds < 0 || seconds >= kYear10000) throw std::invalid_argument("timestamp out of range");
  return detail::FormatTimestamp(WallTime(std::chrono::seconds(seconds)));
}

json DecodeValue(const ProtobufReader::WireField& value, const ProtobufField& field) {
  const bool is_integer = field.type == kInteger || field.type == kBool;
  if (value.wire_type != (is_integer ? 0U : 2U)) {
    throw std::invalid_argument(
        fmt::format("proto: wrong wireType = {} for field {}", value.wire_type, field.name));
  }
  switch (field.type) {
    case kInteger:
      return static_cast<std::int64_t>(value.integer);
    case kBool:
      return value.integer != 0;
    case kBytes:
      return Base64Encode(value.bytes);
    case kTime:
      return DecodeTime(value.bytes);
    case kJson:
      return ParseJsonOrYaml(std::string(value.bytes), "application/json");
    case kMessage:
    case kMap:
      return DecodeMessage(value.bytes, field.message);
    case kString:
      break;
  }
  return ToValidUtf8(std::string(value.bytes));
}

/// Ignores unknown fields and empty strings: Go writes the empty string for a missing one.
json DecodeMessage(std::string_view bytes, std::span<const ProtobufField> fields) {
  json object = json::object();
  for (ProtobufReader reader(bytes); !reader.AtEnd();) {
    const ProtobufReader::WireField value = reader.Next();
    const auto field = std::find_if(fields.begin(), fields.end(), [&](const ProtobufField& known) {
      return known.number == value.number;
    });
    if (field == fields.end()) continue;
    json decoded = DecodeValue(value, *field);
    if (field->type == kJson) return decoded;
    if (field->type == kMap) {
      object[field->name][decoded.value("key", "")] = decoded.value("value", "");
    } else if (field->repeated) {
      object[field->name].push_back(std::move(decoded));
    } else if (decoded != "") {
      object[field->name] = std::move(decoded);
    }
  }
  return object;
}

std::span<const ProtobufField> FieldsOf(std::string_view kind) {
  if (kind == "Secret") return kSecret;
  if (kind == "ConfigMap") return kConfigMap;
  if (kind == "DeleteOptions") return kDeleteOptions;
  return {};
}

}  // namespace

std::optional<json> DecodeProtobuf(std::string_view bytes) {
  constexpr std::string_view kPrefix("k8s\0", 4);
  if (!bytes.starts_with(kPrefix)) {
    throw std::invalid_argument(
        "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]");
  }
  json type = json::object();
  std::string_view content;
  for (ProtobufReader reader(bytes.substr(kPrefix.size())); !reader.AtEnd();) {
    const ProtobufReader::WireField field = reader.Next();
    if (field.number == 1) type = DecodeMessage(field.bytes, kTypeMeta);
    if (field.number == 2) content = field.bytes;
  }
  const std::span<const ProtobufField> fields = FieldsOf(type.value("kind", ""));
  if (fields.empty()) return std::nullopt;
  json object = DecodeMessage(content, fields);
  object.update(type);
  return object;
}

}  // namespace kopp::apiserver
