#include "review_text.hpp"

#include "base/ascii.hpp"
#include "base/base64.hpp"
#include "base/quoted.hpp"

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include <kopp/informer/decode_error.hpp>
#include <kopp/informer/fields.hpp>

namespace kopp {

namespace {

constexpr std::string_view kAdmissionGroup = "admission.k8s.io/";
constexpr std::string_view kAuthenticationGroup = "authentication.k8s.io/";
constexpr std::size_t kMaxTokenReview = 1 << 20;

/// A review as it is received.
struct ReceivedAdmission {
  std::string apiVersion{};
  std::string kind{};
  std::optional<AdmissionRequest> request{};
};
KOPP_FIELDS(ReceivedAdmission, apiVersion, kind, request)

/// metav1.Status, as a webhook sends it.
struct SentStatus {
  std::string status{};
  std::string message{};
  std::string reason{};
  int code = 0;
  std::optional<Status::Details> details{};
};
KOPP_FIELDS(SentStatus, status, message, reason, code, details)

struct SentResponse {
  std::string uid{};
  bool allowed = false;
  std::optional<SentStatus> status{};
  std::string patch{};  // base64
  std::string patchType{};
  std::map<std::string, std::string> auditAnnotations{};
  std::vector<std::string> warnings{};
};
KOPP_FIELDS(SentResponse, uid, allowed, status, patch, patchType, auditAnnotations, warnings)

struct SentAdmission {
  std::string apiVersion{};
  std::string kind = "AdmissionReview";
  SentResponse response{};
};
KOPP_FIELDS(SentAdmission, apiVersion, kind, response)

struct ReceivedToken {
  struct Spec {
    std::string token{};
    std::vector<std::string> audiences{};
  };
  std::string apiVersion{};
  std::string kind{};
  Spec spec{};
};
KOPP_FIELDS(ReceivedToken::Spec, token, audiences)
KOPP_FIELDS(ReceivedToken, apiVersion, kind, spec)

struct SentToken {
  struct Result {
    bool authenticated = false;
    std::optional<UserInfo> user{};
    std::vector<std::string> audiences{};
    std::string error{};
  };
  std::string apiVersion{};
  std::string kind = "TokenReview";
  Result status{};
};
KOPP_FIELDS(SentToken::Result, authenticated, user, audiences, error)
KOPP_FIELDS(SentToken, apiVersion, kind, status)

void RequireJsonBody(const HttpRequest& request) {
  if (request.body.empty()) throw BadReview(400, "request body is empty");
  const std::string_view header = request.Header("content-type");
  std::string type = detail::ToLowerAscii(header.substr(0, header.find(';')));
  while (!type.empty() && type.back() == ' ') type.pop_back();
  if (type == "application/json") return;
  throw BadReview(
      400, "contentType=" + detail::Escaped(header.substr(0, 100)) + ", expected application/json");
}

/// Decodes a review of a version of `group`. Throws BadReview.
template <typename T>
T DecodeReview(std::string_view body, const char* kind, std::string_view group) {
  T review;
  try {
    review = Decode<T>(body);
  } catch (const DecodeError& error) {
    throw BadReview(400, std::string("cannot decode the ") + kind + ": " + error.what());
  }
  const bool is_known = review.apiVersion == std::string(group) + "v1" ||
                        review.apiVersion == std::string(group) + "v1beta1";
  if (is_known && review.kind == kind) return review;
  throw BadReview(400, "expected " + std::string(kind) + " of " + std::string(group) +
                           "v1 or v1beta1, got " + detail::Quoted(review.kind) + " of " +
                           detail::Quoted(review.apiVersion));
}

HttpResponse JsonResponse(int code, std::string body) {
  return {.status = code, .body = std::move(body), .content_type = "application/json"};
}

SentStatus ToSentStatus(const Status& status) {
  SentStatus sent{.status = "Failure",
                  .message = status.message,
                  .reason = status.reason,
                  .code = status.code == 0 ? 403 : status.code};
  const Status::Details& details = status.details;
  if (!details.name.empty() || !details.kind.empty() || !details.causes.empty() ||
      details.retryAfterSeconds) {
    sent.details = details;
  }
  return sent;
}

}  // namespace

AdmissionReview DecodeAdmissionReview(const HttpRequest& request) {
  RequireJsonBody(request);
  auto received = DecodeReview<ReceivedAdmission>(request.body, "AdmissionReview", kAdmissionGroup);
  if (!received.request) throw BadReview(400, "the AdmissionReview has no request");
  return {.api_version = std::move(received.apiVersion), .request = std::move(*received.request)};
}

HttpResponse ToHttpResponse(const AdmissionReview& review, const AdmissionResponse& response,
                            const AdmissionContext& context) {
  SentAdmission sent{.apiVersion = review.api_version};
  sent.response = {.uid = review.request.uid,
                   .allowed = response.allowed,
                   .auditAnnotations = context.audit_annotations,
                   .warnings = context.warnings};
  if (!response.allowed) sent.response.status = ToSentStatus(response.status);
  if (response.allowed && !response.patch.empty()) {
    sent.response.patch = detail::EncodeBase64(response.patch);
    sent.response.patchType = "JSONPatch";
  }
  return JsonResponse(200, Encode(sent));
}

HttpResponse ToStoppedResponse(const AdmissionReview& review, const std::string& message) {
  SentAdmission sent{.apiVersion = review.api_version, .response = {.uid = review.request.uid}};
  sent.response.status = ToSentStatus({.message = message, .code = 503});
  return JsonResponse(503, Encode(sent));
}

HttpResponse ToAdmissionResponse(const BadReview& error) {
  SentAdmission sent{.apiVersion = std::string(kAdmissionGroup) + "v1"};
  sent.response.status = ToSentStatus({.message = error.what(), .code = error.code()});
  return JsonResponse(error.code(), Encode(sent));
}

DecodedTokenReview DecodeTokenReview(const HttpRequest& request) {
  if (request.body.size() > kMaxTokenReview) {
    throw BadReview(
        413, "request entity is too large; limit is " + std::to_string(kMaxTokenReview) + " bytes");
  }
  RequireJsonBody(request);
  auto received = DecodeReview<ReceivedToken>(request.body, "TokenReview", kAuthenticationGroup);
  return {.api_version = std::move(received.apiVersion),
          .review = {.token = std::move(received.spec.token),
                     .audiences = std::move(received.spec.audiences)}};
}

HttpResponse ToTokenReviewResponse(const std::string& api_version,
                                   const std::optional<UserInfo>& user,
                                   const std::vector<std::string>& audiences,
                                   const std::string& error, int code) {
  SentToken sent{.apiVersion =
                     api_version.empty() ? std::string(kAuthenticationGroup) + "v1" : api_version};
  sent.status = {.authenticated = user.has_value(), .user = user, .error = error};
  if (user) sent.status.audiences = audiences;
  return JsonResponse(code, Encode(sent));
}

}  // namespace kopp
