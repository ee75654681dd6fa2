#include "crd/crd_validation.hpp"
#include "crd/webhook_client_validation.hpp"
#include "schema/field_validation.hpp"

#include <set>
#include <string>
#include <utility>

namespace kopp::apiserver {
namespace {

void ValidateReviewVersions(const FieldRef& versions, FieldErrors& errors) {
  if (versions.size() == 0) {
    errors.push_back(Required(versions.path(), ""));
    return;
  }
  std::set<std::string> seen;
  bool has_known = false;
  for (const FieldRef& version : versions.items()) {
    has_known |= version.is("v1") || version.is("v1beta1");
    if (!seen.insert(version.text()).second) {
      errors.push_back(InvalidValue(version.path(), version.text(), "duplicate version"));
      continue;
    }
    if (const NameError detail = ValidateDns1035Label(version.text()))
      errors.push_back(InvalidValue(version.path(), version.text(), *detail));
  }
  if (has_known) return;
  errors.push_back(
      InvalidValue(versions.path(), versions.value(), "must include at least one of v1, v1beta1"));
}

void ValidateConversionWebhook(const FieldRef& client_config, FieldErrors& errors) {
  if (!client_config.value().is_object()) {
    errors.push_back(Required(client_config.path(), "required when strategy is set to Webhook"));
    return;
  }
  ValidateWebhookClientConfig(client_config, errors);
}

}  // namespace

void ValidateCrdConversion(const FieldRef& spec, FieldErrors& errors) {
  const FieldRef conversion = spec["conversion"];
  const FieldRef strategy = conversion["strategy"];
  // kube-apiserver reports errors at the names of apiextensions.k8s.io/v1beta1.
  const FieldRef client_config(conversion["webhook"]["clientConfig"].value(),
                               conversion["webhookClientConfig"].path());
  const FieldRef versions(conversion["webhook"]["conversionReviewVersions"].value(),
                          conversion["conversionReviewVersions"].path());
  if (ValidateRequired(strategy, errors)) ValidateTextEnum(strategy, {"None", "Webhook"}, errors);
  if (strategy.is("Webhook")) {
    if (spec["preserveUnknownFields"].is(true)) {
      errors.push_back(InvalidValue(strategy.path(), strategy.value(),
                                    "must be None if spec.preserveUnknownFields is true"));
    }
    ValidateConversionWebhook(client_config, errors);
    return ValidateReviewVersions(versions, errors);
  }
  constexpr const char* kForbidden = "should not be set when strategy is not set to Webhook";
  if (client_config.exists()) errors.push_back(ForbiddenField(client_config.path(), kForbidden));
  if (versions.size() > 0) errors.push_back(ForbiddenField(versions.path(), kForbidden));
}

}  // namespace kopp::apiserver
