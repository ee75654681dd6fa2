#include "client/resource_path.hpp"
#include "client/response_check.hpp"
#include "client/write_listener.hpp"
#include "client/write_scope.hpp"
#include "json_text.hpp"
#include "written_object.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <kopp/client.hpp>

// The calls of Client that write.

namespace kopp {
namespace {

using detail::CollectionPath;
using detail::ObjectPath;
using detail::ParseJson;
using detail::WithQuery;
using nlohmann::json;

/// A subresource whose objects are of a kind of their own.
struct SubresourceType {
  std::string_view subresource;
  std::string_view api_version;
  std::string_view kind;
};
constexpr std::string_view kApplyPatch = "application/apply-patch+yaml";
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
/// unless the object has them: `has` says so.
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

std::optional<OwnerReference> ControllerToCheck(const json& object) {
  const json owners = object.value("/metadata/ownerReferences"_json_pointer, json());
  if (!owners.is_array()) return std::nullopt;
  return ControllerToCheck(owners.get<std::vector<OwnerReference>>(), MetadataOf(object, "uid"),
                           MetadataOf(object, "resourceVersion"));
}

const char* ContentType(Patch::Type type) {
  switch (type) {
    case Patch::Type::kMerge:
      return "application/merge-patch+json";
    case Patch::Type::kJson:
      return "application/json-patch+json";
    case Patch::Type::kStrategicMerge:
      break;
  }
  return "application/strategic-merge-patch+json";
}

/// Returns the value of the query parameter fieldValidation. Warn is the default of the API server.
const char* QueryValue(FieldValidation validation) {
  if (validation == FieldValidation::kWarn) return "";
  return validation == FieldValidation::kStrict ? "Strict" : "Ignore";
}

const char* PolicyName(DeletionPropagation propagation) {
  switch (propagation) {
    case DeletionPropagation::kBackground:
      return "Background";
    case DeletionPropagation::kForeground:
      return "Foreground";
    case DeletionPropagation::kOrphan:
      break;
  }
  return "Orphan";
}

/// Returns whether a CustomResourceDefinition may lack the subresource.
bool IsOptional(std::string_view subresource) {
  return subresource == "status" || subresource == "scale";
}

/// Returns `error` with what else it may mean: the API server says that the object is not found
/// also if it exists, but its CustomResourceDefinition lacks the subresource.
ApiError SubresourceNotFound(const ApiError& error, const ApiRequest& request,
                             const std::string& subresource) {
  Status status = error.status();
  status.message += ". If the object exists, its CustomResourceDefinition has no subresource " +
                    subresource + ": add " +
                    (subresource == "status" ? "StatusSubresource()" : "ScaleSubresource(…)") +
                    " to KOPP_CRD";
  return {request.method + " " + request.target, std::move(status)};
}

/// Calls the check of this thread for the write of a whole object.
void CheckWrite(const Kind& kind, const ObjectKey& key, std::string_view object,
                std::string_view subresource) {
  if (subresource.empty()) WriteScope::BeforeWrite(kind, key, object);
}

}  // namespace

/// Returns the key and the text of `object` as it is sent: with its type and, in a client for one
/// namespace, its namespace.
Client::Body Client::BodyOf(const Kind& kind, std::string_view subresource,
                            const json& object) const {
  const auto metadata = object.find("metadata");
  if (!object.is_object() || (metadata != object.end() && !metadata->is_object())) {
    throw std::invalid_argument("the " + std::string(kind.kind) +
                                " to write, or its metadata, is not a JSON object");
  }
  const ObjectKey key = KeyOf(object);
  ObjectKey sent = KeyFor(kind, key);
  auto controller = ControllerToCheck(object);
  if (sent.ns == key.ns) {
    return {std::move(sent), TextWithType(kind, subresource, object), std::move(controller)};
  }
  json with_namespace = object;
  with_namespace["metadata"]["namespace"] = sent.ns;
  return {std::move(sent), TextWithType(kind, subresource, with_namespace), std::move(controller)};
}

/// BodyOf() for the text of an object. It is not parsed into a DOM, unless its namespace is added.
Client::Body Client::BodyOfEncoded(const Kind& kind, std::string_view subresource,
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
  const EncodedIdentity::Metadata& metadata = identity.metadata;
  return {std::move(sent), std::move(text),
          ControllerToCheck(metadata.ownerReferences, metadata.uid, metadata.resourceVersion)};
}

/// Sends a write request with its options. `force` is the query parameter of an apply.
Client::Written Client::Write(const Kind& kind, const ObjectKey& key, ApiRequest request,
                              const WriteOptions& options, std::string_view force) const {
  const bool dry_run = dry_run_ || options.dry_run;
  const std::string& manager =
      options.field_manager.empty() ? field_manager_ : options.field_manager;
  request.target = WithQuery(
      std::move(request.target),
      {{"fieldManager", manager},
       {"force", force},
       {"dryRun", dry_run ? "All" : ""},
       {"fieldValidation", QueryValue(options.field_validation.value_or(field_validation_))}});
  const bool is_status = options.subresource == "status";
  try {
    return {
        .text = CallWrite(request, dry_run,
                          {.verb = request.content_type == kApplyPatch ? ClientWrite::Verb::kApply
                                                                       : ClientWrite::Verb::kUpdate,
                           .kind = kind,
                           .key = key,
                           .subresource = options.subresource,
                           .field_manager = manager}),
        .report = !dry_run && observer_ != nullptr,
        .is_object = is_status || options.subresource.empty()};
  } catch (const ApiError& error) {
    if (IsOptional(options.subresource) && error.IsNotFound()) {
      throw SubresourceNotFound(error, request, options.subresource);
    }
    throw;
  }
}

const std::string& Client::Reported(const Kind& kind, const Written& written) const {
  if (written.report) ReportWrites(kind, [&] { return WrittenObjects(kind, written.text); });
  return written.text;
}

/// Reports what `decode` has read, so that the response is parsed only once.
void Client::DecodeWritten(const Kind& kind, const Written& written, void* object,
                           const ObjectMeta* (*decode)(std::string_view text, void* to)) const {
  const ObjectMeta* metadata = nullptr;
  try {
    metadata = decode(written.text, object);
  } catch (...) {  // such as a view that does not fit; but the object was written
    static_cast<void>(Reported(kind, written));
    throw;
  }
  if (!written.report) return;
  const auto state = written.is_object ? WrittenObjectOf(*metadata) : std::nullopt;
  if (state) return observer_->OnWrite(kind, *state);
  static_cast<void>(Reported(kind, written));
}

/// Reports the objects that `decode` returns. A response that cannot be decoded is not reported:
/// the caller decodes it, too, and throws.
void Client::ReportWrites(const Kind& kind,
                          const std::function<std::vector<WrittenObject>()>& decode) const {
  if (observer_ == nullptr) return;
  try {
    for (const WrittenObject& object : decode()) observer_->OnWrite(kind, object);
  } catch (const DecodeError&) {
  }
}

Client::Written Client::WriteNew(const Kind& kind, Body body, const WriteOptions& options) const {
  if (kind.scope == Scope::kNamespaced && body.key.ns.empty()) {
    throw std::invalid_argument("the " + std::string(kind.kind) +
                                " to create has no metadata.namespace: set it");
  }
  CheckWrite(kind, body.key, body.text, options.subresource);
  return Write(
      kind, body.key,
      {.method = "POST",
       .target = options.subresource.empty() ? CollectionPath(kind, body.key.ns)
                                             : ObjectPath(kind, body.key, options.subresource),
       .body = std::move(body.text)},
      options);
}

Client::Written Client::CreateText(const Kind& kind, const json& object,
                                   const WriteOptions& options) const {
  return WriteNew(kind, BodyOf(kind, options.subresource, object), options);
}

Client::Written Client::CreateEncoded(const Kind& kind, const std::string& object,
                                      const WriteOptions& options) const {
  return WriteNew(kind, BodyOfEncoded(kind, options.subresource, object), options);
}

Client::Written Client::WriteExisting(const Kind& kind, Body body,
                                      const WriteOptions& options) const {
  CheckWrite(kind, body.key, body.text, options.subresource);
  const auto send = [&](std::string text) {
    return Write(kind, body.key,
                 {.method = "PUT",
                  .target = ObjectPath(kind, body.key, options.subresource),
                  .body = std::move(text)},
                 options);
  };
  return WriteOwned(kind, body, options, std::cref(send));  // without an allocation
}

Client::Written Client::UpdateText(const Kind& kind, const json& object,
                                   const WriteOptions& options) const {
  return WriteExisting(kind, BodyOf(kind, options.subresource, object), options);
}

Client::Written Client::UpdateEncoded(const Kind& kind, const std::string& object,
                                      const WriteOptions& options) const {
  return WriteExisting(kind, BodyOfEncoded(kind, options.subresource, object), options);
}

Client::Written Client::PatchText(const Kind& kind, const ObjectKey& key, const kopp::Patch& patch,
                                  const WriteOptions& options) const {
  const bool is_object = patch.type != Patch::Type::kJson;
  const ObjectKey target = KeyFor(kind, key);
  if (is_object) CheckWrite(kind, target, patch.text, options.subresource);
  return Write(kind, target,
               {.method = "PATCH",
                .target = ObjectPath(kind, target, options.subresource),
                .body = patch.text,
                .content_type = ContentType(patch.type)},
               options);
}

Client::Written Client::WriteApplied(const Kind& kind, Body body,
                                     const ApplyOptions& options) const {
  CheckWrite(kind, body.key, body.text, options.subresource);
  const WriteOptions write{.subresource = options.subresource,
                           .field_manager = options.field_manager,
                           .dry_run = options.dry_run,
                           .field_validation = options.field_validation,
                           .adopt = options.adopt};
  const char* const force = options.force ? "true" : "";
  const bool may_take_over =
      former_ && options.field_manager.empty() && !dry_run_ && !options.dry_run;
  const auto send = [&](std::string text) {
    ApiRequest request{.method = "PATCH",
                       .target = ObjectPath(kind, body.key, options.subresource),
                       .body = std::move(text),
                       .content_type = std::string(kApplyPatch)};
    return may_take_over ? ApplyAndTakeOver(kind, body.key, request, write, force)
                         : Write(kind, body.key, std::move(request), write, force);
  };
  return WriteOwned(kind, body, write, std::cref(send));
}

Client::Written Client::ApplyText(const Kind& kind, const json& object,
                                  const ApplyOptions& options) const {
  return WriteApplied(kind, BodyOf(kind, options.subresource, object), options);
}

Client::Written Client::ApplyEncoded(const Kind& kind, const std::string& object,
                                     const ApplyOptions& options) const {
  return WriteApplied(kind, BodyOfEncoded(kind, options.subresource, object), options);
}

Client::Written Client::ApplyStatusText(const Kind& kind, const ObjectMeta& metadata,
                                        const std::string& status, ApplyOptions options) const {
  ObjectMeta identity;
  identity.name = metadata.name;
  identity.ns = metadata.ns;
  identity.uid = metadata.uid;
  options.subresource = "status";
  return ApplyText(kind, {{"metadata", identity}, {"status", json::parse(status)}}, options);
}

std::string Client::DeleteBody(const DeleteOptions& options) const {
  json body{{"apiVersion", "v1"}, {"kind", "DeleteOptions"}};
  if (!options.uid.empty()) body["preconditions"]["uid"] = options.uid;
  if (!options.resource_version.empty()) {
    body["preconditions"]["resourceVersion"] = options.resource_version;
  }
  if (options.propagation) body["propagationPolicy"] = PolicyName(*options.propagation);
  if (options.grace_period) body["gracePeriodSeconds"] = options.grace_period->count();
  if (dry_run_ || options.dry_run) body["dryRun"] = {"All"};
  return body.dump();
}

bool Client::Delete(const Kind& kind, const ObjectKey& key, const DeleteOptions& options) const {
  try {
    const ObjectKey target = KeyFor(kind, key);
    const bool dry_run = dry_run_ || options.dry_run;
    const std::string body = CallWrite(
        {.method = "DELETE", .target = ObjectPath(kind, target), .body = DeleteBody(options)},
        dry_run, {.verb = ClientWrite::Verb::kDelete, .kind = kind, .key = target});
    if (!dry_run) {
      ReportWrites(kind, [&] { return DeletedObjects(kind, target, body); });
    }
    return true;
  } catch (const ApiError& error) {
    if (detail::IsNotFoundByServer(error)) return false;
    throw;
  }
}

void Client::DeleteAllOf(const Kind& kind, const Selector& selector,
                         const DeleteOptions& options) const {
  if (kind.scope == Scope::kCluster && !selector.ns.empty()) {
    throw std::invalid_argument(std::string(kind.kind) +
                                " is cluster-scoped: DeleteAllOf in namespace \"" + selector.ns +
                                "\" would delete the objects of the whole cluster");
  }
  const std::string ns = NamespaceFor(kind, selector.ns);
  if (kind.scope == Scope::kNamespaced && ns.empty()) {
    throw std::invalid_argument("DeleteAllOf for " + std::string(kind.kind) +
                                " needs a namespace: set Selector::ns");
  }
  const bool dry_run = dry_run_ || options.dry_run;
  const std::string body = CallWrite(
      {.method = "DELETE",
       .target =
           WithQuery(CollectionPath(kind, ns), {{"labelSelector", selector.labels.ToString()},
                                                {"fieldSelector", selector.fields.ToString()}}),
       .body = DeleteBody(options)},
      dry_run, {.verb = ClientWrite::Verb::kDeleteCollection, .kind = kind, .key = {ns, ""}});
  if (!dry_run) {
    ReportWrites(kind, [&] { return DeletedCollection(body); });
  }
}

Scale Client::UpdateScale(const Kind& kind, const Scale& scale, const WriteOptions& options) const {
  WriteOptions scale_options = options;
  scale_options.subresource = "scale";
  return Decode<Scale>(Reported(kind, UpdateText(kind, scale, scale_options)));
}

json Client::Create(const Kind& kind, const json& object, const WriteOptions& options) const {
  return ParseJson(Reported(kind, CreateText(kind, object, options)));
}
json Client::Update(const Kind& kind, const json& object, const WriteOptions& options) const {
  return ParseJson(Reported(kind, UpdateText(kind, object, options)));
}
json Client::UpdateStatus(const Kind& kind, const json& object, const WriteOptions& options) const {
  return Update(kind, object, OfStatus(options));
}
json Client::Patch(const Kind& kind, const ObjectKey& key, const kopp::Patch& patch,
                   const WriteOptions& options) const {
  return ParseJson(Reported(kind, PatchText(kind, key, patch, options)));
}
json Client::PatchStatus(const Kind& kind, const ObjectKey& key, const kopp::Patch& patch,
                         const WriteOptions& options) const {
  return Patch(kind, key, patch, OfStatus(options));
}
json Client::Apply(const Kind& kind, const json& object, const ApplyOptions& options) const {
  return ParseJson(Reported(kind, ApplyText(kind, object, options)));
}

}  // namespace kopp
