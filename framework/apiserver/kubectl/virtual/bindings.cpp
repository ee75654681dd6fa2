// Bindings of Pods to nodes.
#include "api/conditions.hpp"
#include "api/status.hpp"
#include "schema/accessors.hpp"
#include "schema/field_ref.hpp"
#include "schema/field_validation.hpp"
#include "schema/finalizers.hpp"
#include "schema/go_quoted.hpp"
#include "virtual/virtual_kinds.hpp"

#include <utility>

#include <fmt/format.h>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

void ValidateBinding(const json& binding) {
  FieldErrors errors;
  const FieldRef target = FieldRef(binding)["target"];
  if (const std::string kind = target["kind"].text(); !kind.empty() && kind != "Node") {
    errors.push_back(
        NotSupportedFormatted(target["kind"].path(), GoQuoted(kind), {"Node", "<empty>"}));
  }
  ValidateRequired(target["name"], errors);
  if (errors.empty()) return;
  throw StatusError(500, "", ToString(errors));
}

/// Throws StatusError (409) if the Pod cannot be bound.
void CheckPodIsUnbound(const json& pod, const ObjectKey& key, const json& precondition) {
  Resource pods;
  pods.plural = "pods";
  const json& metadata = pod.at("metadata");
  for (const auto& [field, name] :
       {std::pair{"uid", "UID"}, {"resourceVersion", "ResourceVersion"}}) {
    const std::string expected = StringField(precondition, field);
    const std::string actual = StringField(metadata, field);
    if (expected.empty() || expected == actual) continue;
    throw Conflict(pods, key.name,
                   fmt::format("StorageError: invalid object, Code: 4, Key: /registry/pods/{}/{}, "
                               "ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: "
                               "{} in precondition: {}, {} in object meta: {}",
                               key.ns, key.name, name, expected, name, actual));
  }
  pods.plural = "pods/binding";
  const std::string prefix = "pod " + key.name;
  if (IsBeingDeleted(pod)) {
    throw Conflict(pods, key.name, prefix + " is being deleted, cannot be assigned to a host");
  }
  if (const std::string node = StringAt(pod, "/spec/nodeName"); !node.empty()) {
    throw Conflict(pods, key.name, prefix + " is already assigned to node \"" + node + '"');
  }
  if (!ValueAt(pod, "/spec/schedulingGates").empty()) {
    throw Conflict(pods, key.name, prefix + " has non-empty .spec.schedulingGates");
  }
}

}  // namespace

json Bind(const VirtualRequest& params) {
  const json& binding = params.object;
  const RequestInfo& target = params.write.target;
  const std::string name = StringAt(binding, "/metadata/name");
  if (target.subresource.empty() && name.empty()) throw BadRequest("Name parameter required.");
  if (!target.subresource.empty() && name != target.name) {
    throw BadRequest("name in URL does not match name in Binding object");
  }
  ValidateBinding(binding);
  const ObjectKey key{target.ns, name};
  const ResourcePtr pods = params.context.catalog()->Find("", "v1", "pods");
  const auto bind = [&](json& pod) {
    CheckPodIsUnbound(pod, key, binding.at("metadata"));
    pod["spec"]["nodeName"] = StringAt(binding, "/target/name");
    const json& annotations = ValueAt(binding, "/metadata/annotations");
    if (!annotations.empty()) pod["metadata"]["annotations"].update(annotations);
    SetObjectCondition(pod["status"]["conditions"],
                       {{"type", "PodScheduled"}, {"status", "True"}, {"lastProbeTime", nullptr}},
                       params.context.Now());
  };
  if (!params.write.options.dry_run) {
    UpdateStoredPod(params.context, *pods, key, bind);
    return nullptr;
  }
  const StoredObjectPtr stored = params.context.store().Get(pods->storage_resource, key);
  if (stored == nullptr) throw NotFound(*pods, name);
  CheckPodIsUnbound(json::parse(stored->text), key, binding.at("metadata"));
  return nullptr;
}

}  // namespace kopp::apiserver
