#include "admission/admission_webhooks.hpp"

#include "api/json_patch.hpp"
#include "api/request_body.hpp"
#include "schema/accessors.hpp"
#include "schema/go_quoted.hpp"
#include "strategy/kind_strategy.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr const char* kWebhookGroup = "admissionregistration.k8s.io";
/// kube-apiserver's limit for a write that does not ask for less.
constexpr Duration kRequestTimeLimit = std::chrono::seconds(34);

StatusError CallFailure(const std::string& text) {
  const json details{{"causes", {{{"message", text}}}}};
  return {500, "InternalError", "Internal error occurred: " + text, details};
}

/// Returns an object with its type.
json WithType(json object, const Resource& resource) {
  object["kind"] = resource.kind;
  object["apiVersion"] = resource.api_version();
  return object;
}

/// Restores managedFields of `before` in `after`, because webhooks cannot change it.
void KeepManagedFields(const json& before, json& after) {
  json& metadata = after["metadata"];
  metadata.erase("managedFields");
  const json& managers = ValueAt(before, "/metadata/managedFields");
  if (!managers.is_null()) metadata["managedFields"] = managers;
}

StatusError RequestTimeout() {
  return {504, "Timeout",
          "Timeout: request did not complete within requested timeout - context deadline exceeded",
          json::object()};
}

}  // namespace

bool AdmissionWebhooks::HasMutating(const Resource& resource) {
  return resource.group != kWebhookGroup && !mutating_.empty();
}

bool AdmissionWebhooks::HasValidating(const Resource& resource) {
  return resource.group != kWebhookGroup && !validating_.empty();
}

bool AdmissionWebhooks::Mutates(const AdmissionAttributes& attributes, const json& object) {
  const auto webhooks = mutating_.Get();
  return std::ranges::any_of(*webhooks, [&](const ConfiguredWebhook& webhook) {
    return VersionFor(context_, webhook, attributes, object) != nullptr;
  });
}

json AdmissionWebhooks::Mutate(const AdmissionAttributes& attributes, json object,
                               Warnings& warnings) {
  const auto webhooks = mutating_.Get();
  std::set<const ConfiguredWebhook*> called;  // in the first round, and may be called again
  std::set<const ConfiguredWebhook*> again;
  for (const bool is_first : {true, false}) {
    for (const ConfiguredWebhook& webhook : *webhooks) {
      if (!is_first && !again.contains(&webhook)) continue;
      const ResourcePtr version = VersionFor(context_, webhook, attributes, object);
      if (version == nullptr) continue;
      const Review review{webhook, attributes, *version, /*is_mutating=*/true};
      if (const json patch = Call(review, object, warnings); !patch.is_null()) {
        json patched = Patched(review, patch, object);
        if (is_first && patched != object) again.insert(called.begin(), called.end());
        object = std::move(patched);
      }
      if (is_first && webhook.reinvoked) called.insert(&webhook);
    }
  }
  return object;
}

void AdmissionWebhooks::Validate(const AdmissionAttributes& attributes, const json& object,
                                 Warnings& warnings) {
  std::optional<StatusError> first_error;
  const auto webhooks = validating_.Get();
  for (const ConfiguredWebhook& webhook : *webhooks) {
    const ResourcePtr version = VersionFor(context_, webhook, attributes, object);
    if (version == nullptr) continue;
    try {
      static_cast<void>(Call({webhook, attributes, *version}, object, warnings));
    } catch (const StatusError& error) {
      if (!first_error) first_error = error;
    }
  }
  if (first_error) throw *first_error;
}

json AdmissionWebhooks::Call(const Review& review, const json& object, Warnings& warnings) {
  const ConfiguredWebhook& webhook = review.webhook;
  std::optional<TimePoint>& deadline = review.attributes.deadline;
  if (!deadline) deadline = SaturatingAdd(context_.clock().Now(), kRequestTimeLimit);
  try {
    const std::string uid = context_.NewUid();
    const std::string body = Send(review, object, uid);
    WebhookResponse response = DecodeResponse(webhook, body, uid, review.is_mutating);
    for (std::string& warning : response.warnings) warnings.push_back(std::move(warning));
    if (response.denial) throw *response.denial;
    return std::move(response.patch);
  } catch (const WebhookCallError& error) {
    if (context_.clock().Now() >= *deadline) throw RequestTimeout();
    if (webhook.fails_open) return nullptr;
    throw CallFailure("failed calling webhook " + GoQuoted(webhook.name) + ": " + error.what());
  }
}

json AdmissionWebhooks::Patched(const Review& review, const json& operations, const json& object) {
  const AdmissionAttributes& attributes = review.attributes;
  if (object.is_null()) {
    throw CallFailure("admission webhook " + GoQuoted(review.webhook.name) +
                      " attempted to modify the object, which is not supported for this "
                      "operation");
  }
  const Resource& kind = attributes.kind();
  const Resource& version = attributes.subresource_kind == nullptr ? review.version : kind;
  const WriteOptions options{.field_validation = WriteOptions::FieldValidation::kIgnore};
  Warnings ignored;
  try {
    json patched = ApplyJsonPatch(WithType(object, version), operations);
    if (patched.is_object()) patched["apiVersion"] = kind.api_version();
    patched = DecodePatchedObject(std::move(patched), kind, options, ignored);
    if (const auto& apply_defaults = StrategyOf(kind).apply_defaults) apply_defaults(patched);
    KeepManagedFields(object, patched);
    return patched;
  } catch (const std::exception& error) {
    throw CallFailure(error.what());
  }
}

std::string AdmissionWebhooks::Send(const Review& review, const json& object,
                                    const std::string& uid) {
  const ConfiguredWebhook& webhook = review.webhook;
  const AdmissionAttributes& attributes = review.attributes;
  testing::WebhookCall call = webhook.call;
  call.timeout = std::min(call.timeout, *attributes.deadline - context_.clock().Now());
  if (call.timeout <= Duration::zero()) throw RequestTimeout();
  const Resource& kind =
      attributes.subresource_kind == nullptr ? review.version : attributes.kind();
  call.body = ReviewText(
      webhook, attributes,
      {review.version, ObjectText(object, kind), ObjectText(attributes.old_object(), kind)}, uid);
  try {
    return context_.call_webhook()(call);
  } catch (const std::exception& error) {
    throw WebhookCallError(std::string("failed to call webhook: ") + error.what());
  }
}

}  // namespace kopp::apiserver
