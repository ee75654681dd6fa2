#include <algorithm>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include <kopp/crd/schema_node.hpp>
#include <kopp/markers.hpp>

namespace kopp::detail {
namespace {

using nlohmann::json;

json JsonOf(const Literal& value) {
  switch (value.type) {
    case Literal::Type::kBoolean:
      return value.boolean;
    case Literal::Type::kInteger:
      return value.integer;
    case Literal::Type::kNumber:
      return value.number;
    case Literal::Type::kText:
      return std::string(value.text);
    case Literal::Type::kNone:
      break;
  }
  return nullptr;
}

json ParseMarker(std::string_view text, const std::string& path, const char* what) {
  json value = json::parse(text, nullptr, false);
  if (!value.is_discarded()) return value;
  throw std::logic_error("the " + std::string(what) + " of the field " + path +
                         " is not JSON: " + std::string(text));
}

}  // namespace

void SchemaNode::SetType(std::string_view type, std::string_view format) const {
  (*schema_)["type"] = type;
  if (!format.empty()) (*schema_)["format"] = format;
}

void SchemaNode::Set(std::string_view keyword, const Literal& value) const {
  (*schema_)[std::string(keyword)] = JsonOf(value);
}

void SchemaNode::Set(const KeywordMarker& marker) const {
  for (const Keyword& keyword : {marker.first, marker.second}) {
    if (!keyword.name.empty()) Set(keyword.name, keyword.value);
  }
}

void SchemaNode::SetDefault(const Literal& value) const {
  const std::string type = schema_->value("type", "");
  const bool is_structure =
      type == "object" || type == "array" || (type.empty() && !schema_->contains("anyOf"));
  const bool is_json = is_structure && value.type == Literal::Type::kText;
  (*schema_)["default"] =
      is_json ? ParseMarker(value.text, path_, "marker Default") : JsonOf(value);
}

void SchemaNode::Append(std::string_view keyword, const Literal& value) const {
  (*schema_)[std::string(keyword)].push_back(JsonOf(value));
}

void SchemaNode::Require(std::string_view name) const {
  json& required = (*schema_)["required"];
  required.push_back(name);
  std::sort(required.begin(), required.end());
}

void SchemaNode::AppendRule(const markers::Validation& validation) const {
  json rule{{"rule", validation.rule}};
  const auto set = [&](const char* name, std::string_view text) {
    if (!text.empty()) rule[name] = text;
  };
  set("message", validation.message);
  set("messageExpression", validation.options.message_expression);
  set("reason", validation.options.reason);
  set("fieldPath", validation.options.field_path);
  if (validation.options.optional_old_self) rule["optionalOldSelf"] = true;
  (*schema_)["x-kubernetes-validations"].push_back(std::move(rule));
}

void SchemaNode::Replace(std::string_view json_text) const {
  *schema_ = ParseMarker(json_text, path_, "schema of the type");
}

SchemaNode SchemaNode::Property(std::string_view name) const {
  std::string path = path_.empty() ? std::string(name) : path_ + '.' + std::string(name);
  json& property = (*schema_)["properties"][std::string(name)];
  property = json::object();
  return {property, *this, std::move(path)};
}

SchemaNode SchemaNode::Child(std::string_view keyword) const {
  json& child = (*schema_)[std::string(keyword)];
  if (!child.is_object()) child = json::object();
  return {child, *this, path_ + (keyword == "items" ? "[*]" : ".*")};
}

void SchemaNode::Enter(const void* type) {
  for (const SchemaNode* node = parent_; node != nullptr; node = node->parent_) {
    if (node->type_ != type) continue;
    throw std::logic_error(
        "the type of the field " + path_ +
        " contains itself, which the schema of a CustomResourceDefinition cannot express: give "
        "the field the markers Schemaless() and PreserveUnknownFields()");
  }
  type_ = type;
}

}  // namespace kopp::detail
