#pragma once

#include "admission/admission_review.hpp"
#include "admission/webhook_configuration.hpp"
#include "admission/webhook_matching.hpp"
#include "api/response.hpp"
#include "storage/server_context.hpp"

#include <string>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Calls the webhooks of the stored configurations. It runs in the thread of the write, and holds
/// no lock. Thread-safe. `context` must outlive it.
class AdmissionWebhooks {
 public:
  explicit AdmissionWebhooks(ServerContext& context)
      : context_(context),
        mutating_(context, kMutatingConfigurations),
        validating_(context, kValidatingConfigurations) {}

  /// Returns whether there may be a webhook for objects of `resource`. Without configurations, this
  /// is all that a write costs.
  [[nodiscard]] bool HasMutating(const Resource& resource);
  [[nodiscard]] bool HasValidating(const Resource& resource);
  /// Returns whether Mutate calls a webhook.
  [[nodiscard]] bool Mutates(const AdmissionAttributes& attributes, const nlohmann::json& object);

  /// Returns `object`, which has its defaults and managedFields, after the mutating webhooks: one
  /// after the other, and once more those that ask for it if a later one has changed the object.
  /// They cannot change managedFields. Throws StatusError if one denies the write, or cannot be
  /// called and has the failure policy Fail, or if all calls of a request take more than 34
  /// seconds.
  [[nodiscard]] nlohmann::json Mutate(const AdmissionAttributes& attributes, nlohmann::json object,
                                      Warnings& warnings);
  /// Calls all validating webhooks, one after the other. Throws StatusError as Mutate does, for the
  /// first of those that reject the write.
  void Validate(const AdmissionAttributes& attributes, const nlohmann::json& object,
                Warnings& warnings);

 private:
  /// One call of a webhook, which gets the objects in `version`.
  struct Review {
    const ConfiguredWebhook& webhook;
    const AdmissionAttributes& attributes;
    const Resource& version;
    bool is_mutating = false;
  };

  /// Returns the operations of the patch, or null. Throws StatusError if the webhook denies the
  /// write, or has failed and does not fail open.
  [[nodiscard]] nlohmann::json Call(const Review& review, const nlohmann::json& object,
                                    Warnings& warnings);
  /// Returns the body of the response. Throws WebhookCallError.
  [[nodiscard]] std::string Send(const Review& review, const nlohmann::json& object,
                                 const std::string& uid);
  /// Returns `object` after a patch of the webhook. Throws StatusError (500) if the patch does not
  /// apply.
  [[nodiscard]] static nlohmann::json Patched(const Review& review,
                                              const nlohmann::json& operations,
                                              const nlohmann::json& object);

  ServerContext& context_;
  WebhookConfigurations mutating_;
  WebhookConfigurations validating_;
};

}  // namespace kopp::apiserver
