#include "protobuf/message_types.hpp"

#include "json/schema_names.hpp"
#include "kubectl_data.hpp"
#include "schema/consume_until.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <utility>
#include <vector>

#include <google/protobuf/descriptor.pb.h>

namespace kopp::apiserver {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorProto;
using google::protobuf::FieldDescriptorProto;
using google::protobuf::FileDescriptorProto;
using JsonForm = MessageTypes::Form;

constexpr std::pair<const char*, JsonForm> kJsonForms[] = {
    {"meta.v1.Time", JsonForm::kTime},
    {"meta.v1.MicroTime", JsonForm::kMicroTime},
    {"intstr.IntOrString", JsonForm::kIntOrString},
    {"resource.Quantity", JsonForm::kWrapper},
    {"meta.v1.Verbs", JsonForm::kWrapper},
    {"certificates.v1.ExtraValue", JsonForm::kWrapper},
    {"authentication.v1.ExtraValue", JsonForm::kWrapper},
    {"authorization.v1.ExtraValue", JsonForm::kWrapper},
    {"meta.v1.FieldsV1", JsonForm::kJson},
    {"runtime.RawExtension", JsonForm::kJson},
    {"apiextensions.v1.JSON", JsonForm::kJson},
    {"apiextensions.v1.JSONSchemaPropsOrArray", JsonForm::kObjectOrItems},
    {"apiextensions.v1.JSONSchemaPropsOrBool", JsonForm::kObjectOrBool},
    {"apiextensions.v1.JSONSchemaPropsOrStringArray", JsonForm::kObjectOrItems}};

/// Returns the name of a message in the descriptors: it may not contain dots there.
std::string DescriptorName(std::string_view name) {
  std::string result(name);
  std::replace(result.begin(), result.end(), '.', '_');
  return result;
}

void SetType(FieldDescriptorProto& field, std::string_view type, std::string_view package) {
  constexpr std::pair<std::string_view, FieldDescriptorProto::Type> kScalars[] = {
      {"string", FieldDescriptorProto::TYPE_STRING}, {"bytes", FieldDescriptorProto::TYPE_BYTES},
      {"bool", FieldDescriptorProto::TYPE_BOOL},     {"int32", FieldDescriptorProto::TYPE_INT32},
      {"int64", FieldDescriptorProto::TYPE_INT64},   {"double", FieldDescriptorProto::TYPE_DOUBLE}};
  for (const auto& [name, scalar] : kScalars) {
    if (type == name) return field.set_type(scalar);
  }
  const bool is_qualified = type.find('.') != std::string_view::npos;
  const std::string name =
      is_qualified ? std::string(type) : std::string(package) + '.' + std::string(type);
  field.set_type(FieldDescriptorProto::TYPE_MESSAGE);
  field.set_type_name('.' + DescriptorName(name));
}

FieldDescriptorProto& AddMessageField(DescriptorProto& message, int number, const char* prefix) {
  FieldDescriptorProto& field = *message.add_field();
  field.set_name(prefix + std::to_string(number));
  field.set_number(number);
  field.set_label(FieldDescriptorProto::LABEL_OPTIONAL);
  return field;
}

/// Adds the message of the entries of the map `field`, as the protobuf compiler does.
void AddMapEntry(DescriptorProto& message, FieldDescriptorProto& field, std::string_view value_type,
                 std::string_view package) {
  DescriptorProto& entry = *message.add_nested_type();
  entry.set_name("F" + std::to_string(field.number()) + "Entry");
  entry.mutable_options()->set_map_entry(true);
  AddMessageField(entry, 1, "").set_name("key");
  SetType(*entry.mutable_field(0), "string", package);
  AddMessageField(entry, 2, "").set_name("value");
  SetType(*entry.mutable_field(1), value_type, package);
  field.set_type(FieldDescriptorProto::TYPE_MESSAGE);
  field.set_type_name('.' + message.name() + '.' + entry.name());
}

/// Adds the field that a line such as "3 ports [ContainerPort]" describes.
void AddField(DescriptorProto& message, std::string_view line, std::string_view package) {
  const std::string_view number_text = ConsumeUntil(line, ' ');
  const std::string_view name = ConsumeUntil(line, ' ');
  std::string_view type = ConsumeUntil(line, ' ');
  int number = 0;
  std::from_chars(number_text.data(), number_text.data() + number_text.size(), number);
  if (type.empty()) throw std::invalid_argument("invalid field in messages: " + std::string(name));
  FieldDescriptorProto& field = AddMessageField(message, number, "f");
  field.set_json_name(std::string(name));
  const bool is_map = type.front() == '{';
  if (is_map || type.front() == '[') {
    field.set_label(FieldDescriptorProto::LABEL_REPEATED);
    type = type.substr(1, type.size() - 2);
  }
  if (is_map) return AddMapEntry(message, field, type, package);
  SetType(field, type, package);
}

}  // namespace

MessageTypes::MessageTypes(std::string_view text) {
  FileDescriptorProto file;
  file.set_name("messages");
  DescriptorProto* message = nullptr;
  std::string_view package;
  std::vector<std::pair<int, int>> omits_zero;  // indices of a message and of its field
  while (!text.empty()) {
    std::string_view line = ConsumeUntil(text, '\n');
    if (line.empty() || line.front() == '#') continue;
    if (line.front() != ' ') {
      message = file.add_message_type();
      message->set_name(DescriptorName(line));
      package = line.substr(0, line.rfind('.'));
      continue;
    }
    if (message == nullptr) throw std::invalid_argument("the messages begin with a field");
    AddField(*message, line.substr(1), package);
    if (line.ends_with(" -")) {
      omits_zero.emplace_back(file.message_type_size() - 1, message->field_size() - 1);
    }
  }
  const google::protobuf::FileDescriptor* built = pool_.BuildFile(file);
  if (built == nullptr) throw std::invalid_argument("the messages are not complete");
  for (const auto& [type, field] : omits_zero) {
    omits_zero_.insert(built->message_type(type)->field(field));
  }
  for (const auto& [name, form] : kJsonForms) {
    if (const Descriptor* type = Find(name)) forms_[type] = form;
  }
}

const MessageTypes& MessageTypes::BuiltIn() {
  static const MessageTypes types(data::messages);
  return types;
}

const Descriptor* MessageTypes::Find(std::string_view name) const {
  return pool_.FindMessageTypeByName(DescriptorName(name));
}

const Descriptor* MessageTypes::FindKind(std::string_view api_version,
                                         std::string_view kind) const {
  const std::size_t slash = api_version.find('/');
  const std::string_view group =
      slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
  const std::string_view version = api_version.substr(api_version.find('/') + 1);
  const std::string meta_name = "meta.v1." + std::string(kind);
  if (kind == "DeleteOptions" || group == "meta.k8s.io") return Find(meta_name);
  const bool may_be_built_in =
      group.find('.') == std::string_view::npos || group.ends_with(".k8s.io");
  if (!may_be_built_in) return nullptr;
  const std::string package =
      (group.empty() ? "core" : std::string(group.substr(0, group.find('.')))) + '.' +
      std::string(version);
  const Descriptor* type = Find(package + '.' + std::string(kind));
  return type == nullptr && group.empty() ? Find(meta_name) : type;
}

std::unique_ptr<google::protobuf::Message> MessageTypes::New(const Descriptor& type) const {
  return std::unique_ptr<google::protobuf::Message>(factory_.GetPrototype(&type)->New());
}

JsonForm MessageTypes::FormOf(const Descriptor& type) const {
  const auto found = forms_.find(&type);
  return found == forms_.end() ? JsonForm::kObject : found->second;
}

}  // namespace kopp::apiserver
