#include "json_document.hpp"

#include <stdexcept>

#include <nlohmann/json.hpp>

#include <kopp/informer/unstructured.hpp>

namespace kopp {
namespace {

/// What FromJson decodes.
struct KindAndMetadata {
  std::string kind;
  ObjectMeta metadata;
};
KOPP_FIELDS(KindAndMetadata, kind, metadata)

}  // namespace

Unstructured Unstructured::FromJson(const JsonObject& json, const Kind& kind) {
  auto head = json.Decode<KindAndMetadata>();
  const std::string text = json.TextWithoutManagedFields();
  std::string type;
  if (head.kind.empty() && !kind.kind.empty()) {
    type.append(R"("apiVersion":")").append(kind.api_version);
    type.append(R"(","kind":")").append(kind.kind).append("\",");
  }
  Unstructured object;
  object.metadata = std::move(head.metadata);
  object.text_.reserve(type.size() + text.size());  // exactly what is kept
  object.text_.assign("{").append(type).append(text, text.find('{') + 1);
  return object;
}

Unstructured Unstructured::FromJson(std::string_view text, const Kind& kind) {
  Unstructured object;
  ParseObject(text, [&](const JsonObject& json) { object = FromJson(json, kind); });
  return object;
}

nlohmann::json Unstructured::Json() const { return nlohmann::json::parse(text_); }

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
    return nlohmann::json::parse(simdjson::to_json_string(value).value());
  });
}

}  // namespace kopp
