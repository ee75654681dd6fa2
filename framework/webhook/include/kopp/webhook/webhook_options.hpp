#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include <kopp/informer/fields.hpp>
#include <kopp/k8s/meta/v1/label_selector.hpp>
#include <kopp/webhook/admission_operation.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// Which requests the API server sends to a webhook.
struct WebhookRule {
  /// A CEL expression that must be true.
  struct MatchCondition {
    std::string name = {};
    std::string expression = {};
  };
  enum class MatchPolicy {
    kEquivalent,  ///< also requests for other versions of the kind, converted
    kExact,
  };

  /// Such as "foos", "foos/status", "*/*". Empty: the kind, without its subresources.
  std::vector<std::string> resources = {};
  /// Empty: CREATE and UPDATE, and DELETE if there is a function for it.
  std::vector<AdmissionOperation> operations = {};
  k8s::meta::v1::LabelSelector namespace_selector = {};
  k8s::meta::v1::LabelSelector object_selector = {};
  std::vector<MatchCondition> match_conditions = {};
  MatchPolicy match_policy = MatchPolicy::kEquivalent;
};
KOPP_ENUM(WebhookRule::MatchPolicy, kEquivalent, kExact)

/// Options of the webhooks of one kind.
struct WebhookOptions {
  enum class FailurePolicy {
    kFail,    ///< the API server rejects the write if it cannot call the webhook
    kIgnore,  ///< the API server allows it
  };
  enum class SideEffects {
    kNone,
    kNoneOnDryRun,  ///< the functions respect AdmissionRequest::dryRun
  };
  enum class Reinvocation {
    kNever,
    kIfNeeded,  ///< call Default again if a later webhook has changed the object
  };

  /// The path of Default and of a mutating Handle. Empty: "/mutate-GROUP-VERSION-KIND", such as
  /// "/mutate-apps-v1-deployment", as in controller-runtime.
  std::string mutate_path{};
  /// The path of Validate, ValidateDelete and a validating Handle. Empty: "/validate-…".
  std::string validate_path{};
  /// The requests that a path handles at the same time. Each needs a thread.
  std::size_t threads = 4;
  /// The requests that a path handles, and that wait for a thread. Further ones get 429, and the
  /// API server tries again.
  std::size_t max_in_flight = 100;

  // The configurations that --print-webhooks prints.
  WebhookRule rule{};
  Duration timeout = std::chrono::seconds(10);  ///< of one call; whole seconds, at most 30
  FailurePolicy failure_policy = FailurePolicy::kFail;
  SideEffects side_effects = SideEffects::kNone;
  Reinvocation reinvocation = Reinvocation::kNever;
};
KOPP_ENUM(WebhookOptions::FailurePolicy, kFail, kIgnore)
KOPP_ENUM(WebhookOptions::SideEffects, kNone, kNoneOnDryRun)
KOPP_ENUM(WebhookOptions::Reinvocation, kNever, kIfNeeded)

}  // namespace kopp
