#include "admission/admission_review.hpp"

#include "json/base64.hpp"
#include "json/parse.hpp"
#include "schema/accessors.hpp"
#include "schema/go_quoted.hpp"

#include <cstdint>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

json KindOf(const Resource& resource) {
  return {{"group", resource.group}, {"version", resource.version}, {"kind", resource.kind}};
}

json ResourceOf(const Resource& resource) {
  return {{"group", resource.group}, {"version", resource.version}, {"resource", resource.plural}};
}

/// Returns the JSON text of a value. Invalid UTF-8 is replaced.
std::string TextOf(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

[[noreturn]] void RejectResponse(const std::string& problem) {
  throw WebhookCallError("received invalid webhook response: " + problem);
}

/// Returns the error of a client whose write a webhook denies.
StatusError DenialOf(const ConfiguredWebhook& webhook, const json& status) {
  const std::int64_t code = IntegerAt(status, "/code");
  const std::string message = StringField(status, "message");
  const std::string reason = StringField(status, "reason");
  std::string text = "admission webhook " + GoQuoted(webhook.name) + " denied the request";
  if (message.empty() && reason.empty()) {
    text += " without explanation";
  } else {
    text += ": " + (message.empty() ? reason : message);
  }
  return {code < 400 || code > 599 ? 400 : static_cast<int>(code), reason, text,
          Field(status, "details")};
}

/// Checks that a response has a patch and its type, or neither. v1beta1 has no such rule.
void RequirePatchWithType(bool has_patch, const json& type, bool is_mutating) {
  if (!is_mutating) {
    if (has_patch) RejectResponse("validating webhook may not return response.patch");
    if (type.is_null()) return;
    RejectResponse("validating webhook may not return response.patchType");
  }
  if (has_patch && type.is_null()) {
    RejectResponse("webhook returned response.patch but not response.patchType");
  }
  if (!has_patch && !type.is_null()) {
    RejectResponse("webhook returned response.patchType but not response.patch");
  }
}

/// Returns the operations of a patch, or null for an empty one.
json OperationsOf(const std::string& patch, const std::string& type) {
  try {
    json operations = ParseJsonOrYaml(Base64Decode(patch), "application/json");
    if (!operations.is_array()) throw std::invalid_argument("it is not a list of operations");
    if (operations.empty()) return nullptr;
    if (type == "JSONPatch") return operations;
    throw WebhookCallError("unsupported patch type " + GoQuoted(type));
  } catch (const std::invalid_argument& error) {
    throw WebhookCallError(std::string("received undecodable patch in webhook response: ") +
                           error.what());
  }
}

/// Parses the body of a response. Throws WebhookCallError.
json ParseReview(const std::string& body) {
  try {
    return ParseJsonOrYaml(body, "application/json");
  } catch (const std::invalid_argument& error) {
    throw WebhookCallError(std::string("failed to call webhook: ") + error.what());
  }
}

}  // namespace

std::string ObjectText(const json& object, const Resource& kind) {
  if (object.is_null()) return "null";
  std::string text = TextOf({{"kind", kind.kind}, {"apiVersion", kind.api_version()}});
  text.back() = ',';
  return text.append(TextOf(object), 1);  // an object has metadata, so it is not empty
}

std::string ReviewText(const ConfiguredWebhook& webhook, const AdmissionAttributes& attributes,
                       const ReviewedObjects& objects, const std::string& uid) {
  const RequestInfo& target = attributes.target;
  const bool is_namespace = attributes.resource.storage_resource == "namespaces";
  const std::string& ns = is_namespace ? attributes.name : target.ns;
  const Resource& kind =
      attributes.subresource_kind == nullptr ? objects.version : *attributes.subresource_kind;
  json request{{"uid", uid},
               {"kind", KindOf(kind)},
               {"resource", ResourceOf(objects.version)},
               {"requestKind", KindOf(attributes.kind())},
               {"requestResource", ResourceOf(attributes.resource)},
               {"operation", attributes.operation},
               {"userInfo", UserToJson(attributes.user)},
               {"dryRun", attributes.dry_run},
               {"options", attributes.options}};
  if (!attributes.name.empty()) request["name"] = attributes.name;
  if (!ns.empty()) request["namespace"] = ns;
  if (!target.subresource.empty()) {
    request["subResource"] = request["requestSubResource"] = target.subresource;
  }
  std::string text = R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/)" +
                     webhook.review_version + R"(","request":)" + TextOf(request);
  text.back() = ',';
  return text.append(R"("object":)")
      .append(objects.object)
      .append(R"(,"oldObject":)")
      .append(objects.old_object)
      .append("}}");
}

WebhookResponse DecodeResponse(const ConfiguredWebhook& webhook, const std::string& body,
                               const std::string& uid, bool is_mutating) {
  const json review = ParseReview(body);
  const json& response = Field(review, "response");
  if (response.is_null()) RejectResponse("webhook response was absent");
  const std::string& version = webhook.review_version;
  if (version == "v1") {  // v1beta1 does not check them
    if (const std::string answered = StringField(response, "uid"); answered != uid) {
      RejectResponse("expected response.uid=" + GoQuoted(uid) + ", got " + GoQuoted(answered));
    }
    const std::string kind = StringField(review, "kind");
    const std::string api_version = StringField(review, "apiVersion");
    if (kind != "AdmissionReview" || api_version != "admission.k8s.io/v1") {
      RejectResponse(
          "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got " +
          (api_version.empty() ? "/" : api_version) + ", Kind=" + kind);
    }
  }
  const std::string patch = StringField(response, "patch");
  const json& type = Field(response, "patchType");
  if (version == "v1") RequirePatchWithType(!patch.empty(), type, is_mutating);
  WebhookResponse decoded{.warnings = StringListField(response, "warnings")};
  if (!IsTrueAt(response, "/allowed")) {
    decoded.denial = DenialOf(webhook, Field(response, "status"));
  } else if (is_mutating && !patch.empty()) {
    decoded.patch =
        OperationsOf(patch, version == "v1" ? StringField(response, "patchType") : "JSONPatch");
  }
  return decoded;
}

}  // namespace kopp::apiserver
