#include "virtual/virtual_kinds.hpp"

#include "api/request.hpp"
#include "api/status.hpp"
#include "auth/authorizer.hpp"
#include "schema/accessors.hpp"
#include "storage/object_attributes.hpp"

#include <algorithm>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr VirtualKind kKinds[] = {
    {"", "Binding", "bindings", true, "", ""},
    {"authentication.k8s.io", "SelfSubjectReview", "selfsubjectreviews", false, "", ""},
    {"authorization.k8s.io", "SelfSubjectRulesReview", "selfsubjectrulesreviews", false, "", ""},
    {"", "Binding", "", true, "pods", "binding"},
    {"policy", "Eviction", "", true, "pods", "eviction"},
    {"authentication.k8s.io", "TokenRequest", "", true, "serviceaccounts", "token"}};

}  // namespace

const VirtualKinds& FurtherVirtualKinds() {
  static const VirtualKinds kinds(kKinds);
  return kinds;
}

std::map<std::string, VirtualKindHandler> FurtherVirtualKindHandlers() {
  return {{"Binding", &Bind},
          {"Eviction", &Evict},
          {"TokenRequest", &RequestToken},
          {"SelfSubjectReview", &ReviewSelf},
          {"SelfSubjectRulesReview", &ReviewRules}};
}

json ReviewSelf(const VirtualRequest& request) {
  return {{"metadata", {{"creationTimestamp", request.context.Now()}}},
          {"status", {{"userInfo", UserToJson(request.write.user)}}}};
}

json ReviewRules(const VirtualRequest& request) {
  const std::string ns = StringAt(request.object, "/spec/namespace");
  if (ns.empty()) throw BadRequest("no namespace on request");
  return {{"metadata", json::object()},
          {"spec", json::object()},
          {"status", RulesOfUser(request.context, request.write.user, ns)}};
}

json UpdateStoredPod(ServerContext& context, const Resource& pods, const ObjectKey& key,
                     const std::function<void(json& pod)>& update) {
  for (;;) {
    const StoredObjectPtr seen = context.store().Get(pods.storage_resource, key);
    if (seen == nullptr) throw NotFound(pods, key.name);
    const json before = json::parse(seen->text);
    json pod = before;
    update(pod);
    if (pod == before) return pod;
    if (context.store().Put(pods.storage_resource, key, seen, pod, ObjectAttributesOf(pods, pod)) !=
        nullptr) {
      return pod;
    }
  }
}

}  // namespace kopp::apiserver
