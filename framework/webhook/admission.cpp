#include "base/ascii.hpp"
#include "schema/field_error.hpp"
#include "schema/go_quoted.hpp"
#include "webhook/change_patch.hpp"
#include "webhook/limited_json.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include <kopp/webhook/admission.hpp>
#include <kopp/webhook/webhook_builder.hpp>

namespace kopp {
namespace {

using nlohmann::json;

/// Returns the denial of an object with errors, as the API server formats it for its own rules.
AdmissionResponse Invalid(const AdmissionRequest& request, const FieldErrors& errors) {
  AdmissionResponse response{.allowed = false};
  response.status = {.reason = "Invalid", .code = 422};
  response.status.details = {
      .name = request.name, .group = request.kind.group, .kind = request.kind.kind};
  schema::FieldErrors messages;
  for (const FieldError& error : errors) {
    response.status.details.causes.push_back(
        {.reason = error.reason, .message = error.message, .field = error.field});
    messages.push_back({.reason = error.reason, .message = error.message, .field = error.field});
  }
  const std::string& group = request.kind.group;
  response.status.message = request.kind.kind + (group.empty() ? "" : '.' + group) + ' ' +
                            schema::GoQuoted(request.name) +
                            " is invalid: " + schema::ToString(messages);
  return response;
}

/// Returns the reason that Kubernetes has for a status code, or "".
std::string ReasonOf(int code) {
  constexpr std::pair<int, const char*> kReasons[] = {{400, "BadRequest"},
                                                      {401, "Unauthorized"},
                                                      {403, "Forbidden"},
                                                      {404, "NotFound"},
                                                      {409, "Conflict"},
                                                      {410, "Gone"},
                                                      {413, "RequestEntityTooLarge"},
                                                      {422, "Invalid"},
                                                      {429, "TooManyRequests"},
                                                      {500, "InternalError"},
                                                      {503, "ServiceUnavailable"},
                                                      {504, "Timeout"}};
  const auto* const found = std::ranges::find(kReasons, code, &std::pair<int, const char*>::first);
  return found == std::end(kReasons) ? "" : found->second;
}

}  // namespace

KOPP_DEFINE_FIELDS(UserInfo, username, uid, groups, extra)
KOPP_DEFINE_FIELDS(AdmissionRequest::GroupVersionKind, group, version, kind)
KOPP_DEFINE_FIELDS(AdmissionRequest::GroupVersionResource, group, version, resource)
KOPP_DEFINE_FIELDS(AdmissionRequest, uid, kind, resource, subResource, requestKind, requestResource,
                   requestSubResource, name, KOPP_FIELD(ns, "namespace"), operation, userInfo,
                   object, oldObject, dryRun, options)

AdmissionResponse AdmissionResponse::Denied(std::string message, int code) {
  AdmissionResponse response{.allowed = false};
  response.status = {.message = std::move(message), .reason = ReasonOf(code), .code = code};
  return response;
}

AdmissionResponse AdmissionResponse::Changed(std::string_view object, std::string_view changed) {
  const json patch = json::diff(ParseLimited(object), ParseLimited(changed));
  return {.patch = patch.empty() ? std::string() : patch.dump()};
}

AdmissionResponse detail::AnswerWithChange(
    const AdmissionRequest& request,
    const std::function<EncodedChange(std::string_view object)>& change) {
  if (request.operation == AdmissionOperation::kDelete ||
      request.operation == AdmissionOperation::kConnect) {
    return {};
  }
  const EncodedChange encoded = change(request.object.text);
  try {
    return {.patch = ChangePatch(request.object.text, encoded.before, encoded.after)};
  } catch (const DecodeError& error) {
    throw AdmissionDenied(std::string("cannot decode object: ") + error.what(), 400);
  }
}

std::vector<AdmissionOperation> detail::ValidatingFunctions::Operations() const {
  std::vector<AdmissionOperation> all;
  if (validate) all = {AdmissionOperation::kCreate, AdmissionOperation::kUpdate};
  if (validate_delete) all.push_back(AdmissionOperation::kDelete);
  return all;
}

AdmissionHandler detail::ValidatingHandler(std::shared_ptr<const ValidatingFunctions> functions) {
  return [functions = std::move(functions)](const AdmissionRequest& request,
                                            AdmissionContext& context) {
    if (request.operation == AdmissionOperation::kConnect) return AdmissionResponse{};
    const bool is_delete = request.operation == AdmissionOperation::kDelete;
    const auto& function = is_delete ? functions->validate_delete : functions->validate;
    const FieldErrors errors = function ? function(request, context) : FieldErrors{};
    return errors.empty() ? AdmissionResponse{} : Invalid(request, errors);
  };
}

std::string detail::WebhookPath(WebhookType type, const Kind& kind) {
  std::string path = std::string(type == WebhookType::kMutating ? "/mutate-" : "/validate-") +
                     std::string(kind.group()) + '-' + std::string(kind.version()) + '-' +
                     detail::ToLowerAscii(kind.kind);
  std::ranges::replace(path, '.', '-');
  return path;
}

}  // namespace kopp
