#include "kubectl/virtual/virtual_kinds.hpp"

#include <string_view>

namespace kopp::apiserver {
namespace {

constexpr std::string_view kSchemas = R"(
TokenRequest
 spec TokenRequestSpec ={}
 status TokenRequestStatus
TokenRequestSpec
 audiences [string]
 boundObjectRef BoundObjectReference
 expirationSeconds int64
TokenRequestStatus
 expirationTimestamp time
 token string
BoundObjectReference
 apiVersion string
 kind string
 name string
 uid string
SelfSubjectReview
 status SelfSubjectReviewStatus
SelfSubjectReviewStatus
 userInfo UserInfo
UserInfo
 extra {[string]}
 groups [string]
 uid string
 username string
SelfSubjectRulesReview
 spec SelfSubjectRulesReviewSpec ={}
 status SubjectRulesReviewStatus
SelfSubjectRulesReviewSpec
 namespace string
SubjectRulesReviewStatus
 evaluationError string
 incomplete bool
 nonResourceRules [NonResourceRule]
 resourceRules [ResourceRule]
NonResourceRule
 nonResourceURLs [string]
 verbs [string]
ResourceRule
 apiGroups [string]
 resourceNames [string]
 resources [string]
 verbs [string]
Eviction
 deleteOptions DeleteOptions
DeleteOptions
 apiVersion string
 dryRun [string]
 gracePeriodSeconds int64
 ignoreStoreReadErrorWithClusterBreakingPotential bool
 kind string
 orphanDependents bool
 preconditions Preconditions
 propagationPolicy string
Preconditions
 resourceVersion string
 uid string
Binding
 target ObjectReference ={}
ObjectReference
 apiVersion string
 fieldPath string
 kind string
 name string
 namespace string
 resourceVersion string
 uid string
)";

constexpr VirtualKind kKinds[] = {
    {"", "Binding", "bindings", true, "", ""},
    {"authentication.k8s.io", "SelfSubjectReview", "selfsubjectreviews", false, "", ""},
    {"authorization.k8s.io", "SelfSubjectRulesReview", "selfsubjectrulesreviews", false, "", ""},
    {"", "Binding", "", true, "pods", "binding"},
    {"policy", "Eviction", "", true, "pods", "eviction"},
    {"authentication.k8s.io", "TokenRequest", "", true, "serviceaccounts", "token"}};

}  // namespace

const VirtualKinds& FurtherVirtualKinds() {
  static const VirtualKinds kinds(kKinds, kSchemas);
  return kinds;
}

std::map<std::string, VirtualKindHandler> FurtherVirtualKindHandlers() {
  return {{"Binding", &Bind},
          {"Eviction", &Evict},
          {"TokenRequest", &RequestToken},
          {"SelfSubjectReview", &ReviewSelf},
          {"SelfSubjectRulesReview", &ReviewRules}};
}

}  // namespace kopp::apiserver
