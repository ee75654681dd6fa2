#include "admission/admission_review.hpp"

#include "json/base64.hpp"
#include "json/parse.hpp"
#include "schema/accessors.hpp"
#include "schema/go_quoted.hpp"

#include <algorithm>
#include <cstdint>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

/// Returns the JSON text of a value. Invalid UTF-8 is replaced.
std::string TextOf(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// Returns the JSON text of a GroupVersionKind or GroupVersionResource, as `member` says. Names of
/// kinds need no escapes.
std::string TypeText(const Resource& resource, const char* member, const std::string& value) {
  return R"({"group":")" + resource.group + R"(","version":")" + resource.version + R"(",")" +
         member + R"(":")" + value + R"("})";
}

[[noreturn]] void RejectResponse(const std::string& problem) {
  throw WebhookCallError("received invalid webhook response: " + problem);
}

/// Returns the error of a client whose write a webhook denies.
StatusError DenialOf(const ConfiguredWebhook& webhook, const json& status) {
  const std::int64_t code = IntegerAt(status, "/code");
  const std::string message = StringField(status, "message");
  const std::string reason = StringField(status, "reason");
  const std::string& explanation = message.empty() ? reason : message;
  const std::string text = "admission webhook " + GoQuoted(webhook.name) + " denied the request" +
                           (explanation.empty() ? " without explanation" : ": " + explanation);
  return {code < 400 || code > 599 ? 400 : static_cast<int>(code), reason, text,
          Field(status, "details")};
}

/// Checks that the response of a mutating webhook has a patch and its type, or neither, and that of
/// a validating one neither. v1beta1 has no such rule.
void RequirePatchWithType(bool has_patch, bool has_type, bool is_mutating) {
  const std::string validating = "validating webhook may not return response.";
  if (!is_mutating && has_patch) RejectResponse(validating + "patch");
  if (!is_mutating && has_type) RejectResponse(validating + "patchType");
  const std::string returned = "webhook returned response.";
  if (has_patch && !has_type) RejectResponse(returned + "patch but not response.patchType");
  if (!has_patch && has_type) RejectResponse(returned + "patchType but not response.patch");
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

/// Throws WebhookCallError if a field of a response has a wrong type, as Go's decoder does.
void RequireTypes(const json& response) {
  const json& warnings = Field(response, "warnings");
  const bool has_types =
      response.is_object() && (warnings.is_null() || warnings.is_array()) &&
      std::ranges::all_of(warnings, [](const json& warning) { return warning.is_string(); }) &&
      (!response.contains("allowed") || Field(response, "allowed").is_boolean()) &&
      (!response.contains("patch") || Field(response, "patch").is_string()) &&
      (!response.contains("status") || Field(response, "status").is_object());
  if (!has_types) throw WebhookCallError("failed to call webhook: a field has a wrong type");
}

}  // namespace

std::string ObjectText(const json& object, const Resource& kind) {
  if (object.is_null()) return "null";
  const std::string type = R"({"kind":")" + kind.kind + R"(","apiVersion":")" + kind.api_version();
  return (type + R"(",)").append(TextOf(object), 1);  // an object has metadata, so it is not empty
}

std::string ReviewText(const ConfiguredWebhook& webhook, const AdmissionAttributes& attributes,
                       const ReviewedObjects& objects, const std::string& uid) {
  const RequestInfo& target = attributes.target;
  const bool is_namespace = attributes.resource.storage_resource == "namespaces";
  const std::string& ns = is_namespace ? attributes.name : target.ns;
  const Resource& kind =
      attributes.subresource_kind == nullptr ? objects.version : *attributes.subresource_kind;
  // This writes text directly: building a json value took a third of the instructions of a call.
  std::string text = R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/)" +
                     webhook.review_version + R"(","request":{"uid":)" + TextOf(uid);
  const auto add = [&text](const char* name, const std::string& value) {
    text.append(R"(,")").append(name).append(R"(":)").append(value);
  };
  add("kind", TypeText(kind, "kind", kind.kind));
  add("resource", TypeText(objects.version, "resource", objects.version.plural));
  add("requestKind", TypeText(attributes.kind(), "kind", attributes.kind().kind));
  add("requestResource", TypeText(attributes.resource, "resource", attributes.resource.plural));
  add("operation", TextOf(attributes.operation));
  add("userInfo", TextOf(UserToJson(attributes.user)));
  add("dryRun", TextOf(attributes.dry_run));
  add("options", TextOf(attributes.options));
  if (!attributes.name.empty()) add("name", TextOf(attributes.name));
  if (!ns.empty()) add("namespace", TextOf(ns));
  if (!target.subresource.empty()) {
    add("subResource", TextOf(target.subresource));
    add("requestSubResource", TextOf(target.subresource));
  }
  add("object", objects.object);
  add("oldObject", objects.old_object);
  return text.append("}}");
}

WebhookResponse DecodeResponse(const ConfiguredWebhook& webhook, const std::string& body,
                               const std::string& uid, bool is_mutating) {
  const json review = json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (review.is_discarded())
    throw WebhookCallError("failed to call webhook: the response is not JSON");
  const json& response = Field(review, "response");
  if (response.is_null()) RejectResponse("webhook response was absent");
  RequireTypes(response);
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
  const bool has_type = !Field(response, "patchType").is_null();
  if (version == "v1") RequirePatchWithType(!patch.empty(), has_type, is_mutating);
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
