#include "api/virtual_resources.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace kopp::apiserver {
namespace {

// In the format of schemas.txt, without apiVersion, kind and metadata. The server ignores the
// status that a client sends.
constexpr std::string_view kVirtualSchemas = R"(
TokenReview
 spec TokenReviewSpec ={}
 status TokenReviewStatus
TokenReviewSpec
 audiences [string]
 token string
TokenReviewStatus
 audiences [string]
 authenticated bool
 error string
 user UserInfo
UserInfo
 extra {[string]}
 groups [string]
 uid string
 username string
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
SubjectAccessReview
 spec SubjectAccessReviewSpec ={}
 status SubjectAccessReviewStatus
LocalSubjectAccessReview
 spec SubjectAccessReviewSpec ={}
 status SubjectAccessReviewStatus
SelfSubjectAccessReview
 spec SelfSubjectAccessReviewSpec ={}
 status SubjectAccessReviewStatus
SubjectAccessReviewSpec
 extra {[string]}
 groups [string]
 nonResourceAttributes NonResourceAttributes
 resourceAttributes ResourceAttributes
 uid string
 user string
SelfSubjectAccessReviewSpec
 nonResourceAttributes NonResourceAttributes
 resourceAttributes ResourceAttributes
SubjectAccessReviewStatus
 allowed bool
 denied bool
 evaluationError string
 reason string
NonResourceAttributes
 path string
 verb string
ResourceAttributes
 fieldSelector SelectorAttributes
 group string
 labelSelector SelectorAttributes
 name string
 namespace string
 resource string
 subresource string
 verb string
 version string
SelectorAttributes
 rawSelector string
 requirements [SelectorRequirement]
SelectorRequirement
 key string
 operator string
 values [string]
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

/// The group and version of the kind of a virtual resource, and where clients create it.
struct VirtualKind {
  const char* group;
  const char* kind;
  const char* plural;
  bool namespaced;
  const char* parent;       ///< the plural of the resource with the subresource, or ""
  const char* subresource;  ///< or ""
};

constexpr VirtualKind kVirtualKinds[] = {
    {"", "Binding", "bindings", true, "", ""},
    {"authentication.k8s.io", "SelfSubjectReview", "selfsubjectreviews", false, "", ""},
    {"authentication.k8s.io", "TokenReview", "tokenreviews", false, "", ""},
    {"authorization.k8s.io", "LocalSubjectAccessReview", "localsubjectaccessreviews", true, "", ""},
    {"authorization.k8s.io", "SelfSubjectAccessReview", "selfsubjectaccessreviews", false, "", ""},
    {"authorization.k8s.io", "SelfSubjectRulesReview", "selfsubjectrulesreviews", false, "", ""},
    {"authorization.k8s.io", "SubjectAccessReview", "subjectaccessreviews", false, "", ""},
    {"", "Binding", "", true, "pods", "binding"},
    {"policy", "Eviction", "", true, "pods", "eviction"},
    {"authentication.k8s.io", "TokenRequest", "", true, "serviceaccounts", "token"}};

/// Returns the schema of a kind, with the fields of each object.
const Schema* VirtualSchemaOf(const std::string& kind) {
  static const Schemas parsed(kVirtualSchemas);
  static const std::map<std::string, Schema> by_kind = [] {
    std::map<std::string, Schema> schemas;
    const Schema* text = Schemas::BuiltIn().Find("string");
    for (const VirtualKind& each : kVirtualKinds) {
      Schema schema = *parsed.Find(each.kind);
      schema.fields["apiVersion"] = {.schema = text};
      schema.fields["kind"] = {.schema = text};
      schema.fields["metadata"] = {.schema = Schemas::BuiltIn().Find("ObjectMeta"),
                                   .always_present = true};
      schemas.emplace(each.kind, std::move(schema));
    }
    return schemas;
  }();
  return &by_kind.at(kind);
}

Resource ToVirtualResource(const VirtualKind& kind) {
  Resource resource;
  resource.group = kind.group;
  resource.version = "v1";
  resource.kind = kind.kind;
  resource.list_kind = resource.kind + "List";
  resource.plural = kind.plural;
  if (!resource.plural.empty())
    resource.singular = resource.plural.substr(0, resource.plural.size() - 1);
  resource.namespaced = kind.namespaced;
  resource.verbs = {"create"};
  resource.schema = VirtualSchemaOf(resource.kind);
  resource.storage_resource = resource.group_resource();
  return resource;
}

}  // namespace

std::vector<Resource> VirtualResources() {
  std::vector<Resource> resources;
  for (const VirtualKind& kind : kVirtualKinds) {
    if (*kind.plural != '\0') resources.push_back(ToVirtualResource(kind));
  }
  return resources;
}

void AddVirtualSubresources(Resource& resource) {
  std::vector<std::string>& names = resource.subresources;
  if (resource.group_resource() == "pods") names.emplace_back("ephemeralcontainers");
  for (const VirtualKind& kind : kVirtualKinds) {
    if (resource.group_resource() == kind.parent) names.emplace_back(kind.subresource);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

bool IsVirtual(const Resource& resource) {
  return resource.verbs == std::vector<std::string>{"create"};
}

const Resource* FindVirtualSubresource(const Resource& resource, std::string_view subresource) {
  static const std::map<std::pair<std::string, std::string>, Resource> by_name = [] {
    std::map<std::pair<std::string, std::string>, Resource> kinds;
    for (const VirtualKind& kind : kVirtualKinds) {
      if (*kind.parent == '\0') continue;
      kinds.emplace(std::pair(kind.parent, kind.subresource), ToVirtualResource(kind));
    }
    return kinds;
  }();
  const auto found = by_name.find({resource.group_resource(), std::string(subresource)});
  return found == by_name.end() ? nullptr : &found->second;
}

}  // namespace kopp::apiserver
