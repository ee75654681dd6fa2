// The bodies of the writes of Client.
#include "json_text.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <kopp/detail/any_client.hpp>

namespace kopp {
namespace {

using nlohmann::json;

/// A subresource whose objects are of a kind of their own.
struct SubresourceType {
  std::string_view subresource;
  std::string_view api_version;
  std::string_view kind;
};
constexpr std::array kSubresourceTypes{
    SubresourceType{"scale", "autoscaling/v1", "Scale"},
    SubresourceType{"eviction", "policy/v1", "Eviction"},
    SubresourceType{"token", "authentication.k8s.io/v1", "TokenRequest"},
    SubresourceType{"binding", "v1", "Binding"}};

/// The part of an encoded object that identifies it.
struct EncodedIdentity {
  struct Metadata {
    std::string name;
    std::string ns;
    std::string uid;
    std::string resourceVersion;
    std::vector<OwnerReference> ownerReferences;
  };
  std::optional<std::string> apiVersion;
  std::optional<std::string> kind;
  Metadata metadata;
};
KOPP_FIELDS(EncodedIdentity::Metadata, name, KOPP_FIELD(ns, "namespace"), uid, resourceVersion,
            ownerReferences)
KOPP_FIELDS(EncodedIdentity, apiVersion, kind, metadata)

/// Returns "{" and the members `apiVersion` and `kind`, which the API server requires in each body,
/// unless `has(member)` returns true.
template <typename Has>
std::string BeginWithType(const Kind& kind, std::string_view subresource, Has has) {
  const auto* const type =
      std::find_if(kSubresourceTypes.begin(), kSubresourceTypes.end(),
                   [&](const auto& each) { return each.subresource == subresource; });
  const bool is_own_kind = type == kSubresourceTypes.end();
  std::string text = "{";
  const auto add_missing = [&](const char* key, std::string_view value) {
    if (has(key)) return;
    detail::AppendJsonKey(text, key);
    detail::AppendJsonString(text, value);
  };
  add_missing("apiVersion", is_own_kind ? kind.api_version : type->api_version);
  add_missing("kind", is_own_kind ? kind.kind : type->kind);
  return text;
}

/// Returns the text of `object` with its type. The object is not copied.
std::string TextWithType(const Kind& kind, std::string_view subresource, const json& object) {
  std::string text =
      BeginWithType(kind, subresource, [&](const char* key) { return object.contains(key); });
  for (const auto& [key, value] : object.get_ref<const json::object_t&>()) {
    detail::AppendJsonKey(text, key);
    detail::AppendJson(text, value);
  }
  return text.append("}");
}

std::string MetadataOf(const json& object, const char* field) {
  const auto metadata = object.find("metadata");
  if (metadata == object.end()) return "";
  const auto value = metadata->find(field);
  return value != metadata->end() && value->is_string() ? value->get<std::string>() : "";
}

ObjectKey KeyOf(const json& object) {
  return {MetadataOf(object, "namespace"), MetadataOf(object, "name")};
}

/// Returns the controller among the owners of an object, if the API server can find the object by
/// its name only.
std::optional<OwnerReference> ControllerToCheck(const std::vector<OwnerReference>& owners,
                                                const std::string& uid,
                                                const std::string& version) {
  const auto controller = std::ranges::find_if(owners, &OwnerReference::controller);
  const bool is_checked = controller != owners.end() && !controller->uid.empty();
  return is_checked && uid.empty() && version.empty() ? std::optional(*controller) : std::nullopt;
}

std::optional<OwnerReference> ControllerToCheck(const json& object, const std::string& version) {
  const auto metadata = object.find("metadata");
  if (metadata == object.end()) return std::nullopt;
  const auto owners = metadata->find("ownerReferences");
  if (owners == metadata->end() || !owners->is_array()) return std::nullopt;
  return ControllerToCheck(owners->get<std::vector<OwnerReference>>(), MetadataOf(object, "uid"),
                           version);
}

}  // namespace

/// Returns the key and the text of `object` as it is sent: with its type and, in a client for one
/// namespace, its namespace.
AnyClient::Body AnyClient::BodyOf(const Kind& kind, std::string_view subresource,
                                  const json& object) const {
  const auto metadata = object.find("metadata");
  if (!object.is_object() || (metadata != object.end() && !metadata->is_object())) {
    throw std::invalid_argument("the " + std::string(kind.kind) +
                                " to write, or its metadata, is not a JSON object");
  }
  const ObjectKey key = KeyOf(object);
  ObjectKey sent = KeyFor(kind, key);
  std::string version = MetadataOf(object, "resourceVersion");
  auto controller = ControllerToCheck(object, version);
  if (sent.ns == key.ns) {
    return {{std::move(sent), std::move(version)},
            TextWithType(kind, subresource, object),
            std::move(controller)};
  }
  json with_namespace = object;
  with_namespace["metadata"]["namespace"] = sent.ns;
  return {{std::move(sent), std::move(version)},
          TextWithType(kind, subresource, with_namespace),
          std::move(controller)};
}

/// BodyOf() for the text of an object. It is not parsed into a DOM, unless its namespace is added.
AnyClient::Body AnyClient::BodyOfEncoded(const Kind& kind, std::string_view subresource,
                                         const std::string& object) const {
  auto identity = Decode<EncodedIdentity>(object);
  const ObjectKey key{std::move(identity.metadata.ns), std::move(identity.metadata.name)};
  ObjectKey sent = KeyFor(kind, key);
  if (sent.ns != key.ns) return BodyOf(kind, subresource, json::parse(object));
  std::string text = BeginWithType(kind, subresource, [&](std::string_view member) {
    return (member == "kind" ? identity.kind : identity.apiVersion).has_value();
  });
  if (text.size() > 1 && object.size() > 2) text += ',';
  text.append(object, 1);  // what Encode writes begins with the brace
  EncodedIdentity::Metadata& metadata = identity.metadata;
  auto controller =
      ControllerToCheck(metadata.ownerReferences, metadata.uid, metadata.resourceVersion);
  return {{std::move(sent), std::move(metadata.resourceVersion)},
          std::move(text),
          std::move(controller)};
}

}  // namespace kopp
