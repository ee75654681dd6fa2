#include "api/virtual_resources.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace kopp::apiserver {
namespace {

constexpr std::string_view kReviewSchemas = R"(
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
)";

constexpr VirtualKind kReviewKinds[] = {
    {"authentication.k8s.io", "TokenReview", "tokenreviews", false, "", ""},
    {"authorization.k8s.io", "LocalSubjectAccessReview", "localsubjectaccessreviews", true, "", ""},
    {"authorization.k8s.io", "SelfSubjectAccessReview", "selfsubjectaccessreviews", false, "", ""},
    {"authorization.k8s.io", "SubjectAccessReview", "subjectaccessreviews", false, "", ""}};

}  // namespace

VirtualKinds::VirtualKinds(std::span<const VirtualKind> kinds, std::string_view schemas)
    : kinds_(kinds), schemas_(schemas) {
  const Schema* text = Schemas::BuiltIn().Find("string");
  for (const VirtualKind& kind : kinds) {
    Schema schema = *schemas_.Find(kind.kind);
    schema.fields["apiVersion"] = {.schema = text};
    schema.fields["kind"] = {.schema = text};
    schema.fields["metadata"] = {.schema = Schemas::BuiltIn().Find("ObjectMeta"),
                                 .always_present = true};
    schemas_by_kind_.emplace(kind.kind, std::move(schema));
  }
  for (const VirtualKind& kind : kinds) {
    if (*kind.plural != '\0') resources_.push_back(MakeResource(kind));
  }
}

ResourcePtr VirtualKinds::MakeResource(const VirtualKind& kind) const {
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
  resource.schema = &schemas_by_kind_.at(resource.kind);
  resource.storage_resource = resource.group_resource();
  return std::make_shared<const Resource>(std::move(resource));
}

bool VirtualKinds::AddSubresources(Resource& resource) const {
  for (const VirtualKind& kind : kinds_) {
    if (resource.group_resource() != kind.parent) continue;
    AddSubresource(resource, kind.subresource);
    resource.virtual_subresources[kind.subresource] = MakeResource(kind);
  }
  return !resource.virtual_subresources.empty();
}

const VirtualKinds& Reviews() {
  static const VirtualKinds reviews(kReviewKinds, kReviewSchemas);
  return reviews;
}

void AddSubresource(Resource& resource, const char* name) {
  std::vector<std::string>& names = resource.subresources;
  names.emplace_back(name);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

bool IsVirtual(const Resource& resource) {
  return resource.verbs == std::vector<std::string>{"create"};
}

const Resource* FindVirtualSubresource(const Resource& resource, std::string_view subresource) {
  const auto found = resource.virtual_subresources.find(subresource);
  return found == resource.virtual_subresources.end() ? nullptr : found->second.get();
}

}  // namespace kopp::apiserver
