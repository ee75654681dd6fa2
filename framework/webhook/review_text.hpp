#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <kopp/http_server.hpp>
#include <kopp/informer/fields.hpp>
#include <kopp/webhook/admission.hpp>
#include <kopp/webhook/token_review.hpp>

// The JSON texts of reviews, which the API server sends to webhooks and gets back.

namespace kopp {

/// A request that contains no review. The client gets `code` and a review with the same code.
class BadReview : public std::runtime_error {
 public:
  BadReview(int code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] int code() const { return code_; }

 private:
  int code_;
};

/// A decoded AdmissionReview of admission.k8s.io/v1 or v1beta1.
struct AdmissionReview {
  std::string api_version{};  ///< the response has the same
  AdmissionRequest request{};
};

/// Throws BadReview.
[[nodiscard]] AdmissionReview DecodeAdmissionReview(const HttpRequest& request);
[[nodiscard]] HttpResponse ToHttpResponse(const AdmissionReview& review,
                                          const AdmissionResponse& response,
                                          const AdmissionContext& context);
/// Returns the response to a call that was stopped: an HTTP error, so that the failure policy of
/// the webhook applies.
[[nodiscard]] HttpResponse ToStoppedResponse(const AdmissionReview& review,
                                             const std::string& message);
[[nodiscard]] HttpResponse ToAdmissionResponse(const BadReview& error);

/// A decoded TokenReview of authentication.k8s.io/v1 or v1beta1.
struct DecodedTokenReview {
  std::string api_version{};
  TokenReview review{};
};

/// Throws BadReview, also if the body is larger than 1 MiB.
[[nodiscard]] DecodedTokenReview DecodeTokenReview(const HttpRequest& request);
/// Returns the response with the user; none: the token is not valid. `error` says why, or is empty.
[[nodiscard]] HttpResponse ToTokenReviewResponse(const std::string& api_version,
                                                 const std::optional<UserInfo>& user,
                                                 const std::vector<std::string>& audiences,
                                                 const std::string& error, int code = 200);

}  // namespace kopp
