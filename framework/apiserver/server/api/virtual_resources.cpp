#include "api/virtual_resources.hpp"

#include "decoding/data.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace kopp::apiserver {
namespace {

const Schemas& VirtualSchemas() {
  static const Schemas schemas(data::virtual_schemas);
  return schemas;
}

constexpr VirtualKind kReviewKinds[] = {
    {"authentication.k8s.io", "TokenReview", "tokenreviews", false, "", ""},
    {"authorization.k8s.io", "LocalSubjectAccessReview", "localsubjectaccessreviews", true, "", ""},
    {"authorization.k8s.io", "SelfSubjectAccessReview", "selfsubjectaccessreviews", false, "", ""},
    {"authorization.k8s.io", "SubjectAccessReview", "subjectaccessreviews", false, "", ""}};

ResourcePtr MakeResource(const VirtualKind& kind) {
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
  resource.schema = VirtualSchemas().Find(kind.kind);
  resource.storage_resource = resource.group_resource();
  return std::make_shared<const Resource>(std::move(resource));
}

}  // namespace

VirtualKinds::VirtualKinds(std::span<const VirtualKind> kinds) : kinds_(kinds) {
  for (const VirtualKind& kind : kinds) {
    if (*kind.plural != '\0') resources_.push_back(MakeResource(kind));
  }
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
  static const VirtualKinds reviews(kReviewKinds);
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
