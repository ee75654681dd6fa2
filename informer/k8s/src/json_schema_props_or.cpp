#include <string>
#include <string_view>
#include <vector>

#include <kopp/informer/fields.hpp>
#include <kopp/k8s/apiextensions/v1/custom_resource_definition.hpp>
#include <kopp/k8s/apiextensions/v1/json_schema_props_or.hpp>

namespace kopp::k8s::apiextensions::v1 {
namespace {

/// Decodes and encodes a list that is not a field of an object.
template <typename Element>
struct ListField {
  std::vector<Element> items = {};
};
KOPP_FIELDS(ListField<JSONSchemaProps>, items)
KOPP_FIELDS(ListField<std::string>, items)

constexpr std::string_view kListHead = R"({"items":)";

template <typename Element>
std::vector<Element> DecodeList(std::string_view json) {
  return Decode<ListField<Element>>(std::string(kListHead) + std::string(json) + '}').items;
}

template <typename Element>
std::string EncodeList(const std::vector<Element>& items) {
  if (items.empty()) return "[]";
  std::string text = Encode(ListField<Element>{items});
  text.pop_back();
  return text.substr(kListHead.size());
}

/// Decodes a schema. Returns false if `json` is something else.
bool DecodeSchema(std::string_view json, Optional<JSONSchemaProps>& schema) {
  schema.reset();
  if (json.starts_with('{')) schema = Decode<JSONSchemaProps>(json);
  return schema.has_value();
}

}  // namespace

void KoppDecode(std::string_view json, JSONSchemaPropsOrBool& value) {
  if (DecodeSchema(json, value.schema)) return;
  if (json != "true" && json != "false") {
    throw DecodeError(DecodeError::Kind::kTypeMismatch, "", "expected an object or a boolean");
  }
  value.allows = json == "true";
}

std::string KoppEncode(const JSONSchemaPropsOrBool& value) {
  if (value.schema) return Encode(*value.schema);
  return value.allows ? "true" : "false";
}

void KoppDecode(std::string_view json, JSONSchemaPropsOrArray& value) {
  if (!DecodeSchema(json, value.schema)) value.schemas = DecodeList<JSONSchemaProps>(json);
}

std::string KoppEncode(const JSONSchemaPropsOrArray& value) {
  return value.schema ? Encode(*value.schema) : EncodeList<JSONSchemaProps>(value.schemas);
}

void KoppDecode(std::string_view json, JSONSchemaPropsOrStringArray& value) {
  if (!DecodeSchema(json, value.schema)) value.properties = DecodeList<std::string>(json);
}

std::string KoppEncode(const JSONSchemaPropsOrStringArray& value) {
  return value.schema ? Encode(*value.schema) : EncodeList<std::string>(value.properties);
}

}  // namespace kopp::k8s::apiextensions::v1
