#include "json_document.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include <kopp/informer/unstructured.hpp>

namespace kopp {
namespace {

/// The members that FromJson decodes.
struct TypeAndMetadata {
  std::string apiVersion;
  std::string kind;
  ObjectMeta metadata;
};
KOPP_FIELDS(TypeAndMetadata, apiVersion, kind, metadata)

/// Throws DecodeError. Its message contains no text of the object, which may be a Secret.
nlohmann::json ParseJson(std::string_view text) {
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    throw DecodeError(DecodeError::Kind::kMalformed, "",
                      "not valid JSON: the error is at byte " + std::to_string(error.byte));
  }
}

/// Returns the members `apiVersion` and `kind` to add to the object `text`, or "".
std::string MissingType(const TypeAndMetadata& head, std::string_view text, const Kind& kind) {
  if (!head.apiVersion.empty() || !head.kind.empty() || kind.kind.empty()) return "";
  const bool has_members = text[text.find_first_not_of(" \t\r\n", text.find('{') + 1)] != '}';
  std::string type = R"("apiVersion":")";
  type.append(kind.api_version).append(R"(","kind":")").append(kind.kind);
  return type.append(has_members ? "\"," : "\"");
}

}  // namespace

Unstructured Unstructured::FromJson(const JsonObject& json, const Kind& kind) {
  auto head = json.Decode<TypeAndMetadata>();
  const std::string type = MissingType(head, json.text(), kind);
  Unstructured object;
  object.metadata = std::move(head.metadata);
  object.text_ = json.TextWithoutManagedFields(type);
  return object;
}

Unstructured Unstructured::FromJson(std::string_view text, const Kind& kind) {
  Unstructured object;
  ParseObject(text, [&](const JsonObject& json) { object = FromJson(json, kind); });
  return object;
}

Unstructured Unstructured::FromResponse(std::string text, const Kind& kind) {
  auto head = Decode<TypeAndMetadata>(text);
  const std::string type = MissingType(head, text, kind);
  if (!type.empty()) text.insert(text.find('{') + 1, type);
  Unstructured object;
  object.metadata = std::move(head.metadata);
  object.text_ = std::move(text);
  return object;
}

nlohmann::json Unstructured::Json() const { return ParseJson(text_); }

nlohmann::json Unstructured::At(std::string_view pointer) const {
  if (pointer.empty()) return Json();
  if (pointer.front() != '/') {
    throw std::invalid_argument("\"" + std::string(pointer) +
                                "\" is not a JSON pointer: write for example /spec/replicas");
  }
  detail::ParserLease parser;
  return detail::WithDecodeErrors([&]() -> nlohmann::json {
    simdjson::ondemand::document document = parser.Parse(parser.CopyWithPadding(text_));
    simdjson::ondemand::value value;
    if (document.at_pointer(pointer).get(value) != simdjson::SUCCESS) return nullptr;
    return ParseJson(simdjson::to_json_string(value).value());
  });
}

}  // namespace kopp
