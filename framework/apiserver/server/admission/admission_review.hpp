#pragma once

#include "admission/admission_attributes.hpp"
#include "admission/webhook_configuration.hpp"
#include "api/status.hpp"

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// A webhook that could not be called, or whose response is not valid: its failure policy applies.
class WebhookCallError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The response of a webhook to an AdmissionReview.
struct WebhookResponse {
  std::optional<StatusError> denial{};  ///< the error of the client, if the webhook denies
  nlohmann::json patch = nullptr;       ///< the operations of a JSON patch, or null
  std::vector<std::string> warnings{};
};

/// The objects of a write as a webhook gets them, as JSON text: in `version`, with apiVersion and
/// kind, or null.
struct ReviewedObjects {
  const Resource& version;
  std::string object{};
  std::string old_object{};
};

/// Returns the JSON text of an object with the type `kind`, or of null. Invalid UTF-8 is replaced.
[[nodiscard]] std::string ObjectText(const nlohmann::json& object, const Resource& kind);

/// Returns the review of a write, as JSON text. Its uid is `uid`.
[[nodiscard]] std::string ReviewText(const ConfiguredWebhook& webhook,
                                     const AdmissionAttributes& attributes,
                                     const ReviewedObjects& objects, const std::string& uid);

/// Decodes the body of a response. Only a mutating webhook may change the object. Throws
/// WebhookCallError if the response does not fit the review.
[[nodiscard]] WebhookResponse DecodeResponse(const ConfiguredWebhook& webhook,
                                             const std::string& body, const std::string& uid,
                                             bool is_mutating);

}  // namespace kopp::apiserver
