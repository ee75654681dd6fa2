#include "validation/kind_strategy.hpp"

#include "decoding/defaults.hpp"
#include "validation/crd_validation.hpp"

namespace kopp::apiserver {
namespace {

/// Returns the key in StrategiesByKind: the storage resource. The two API groups of Events share a
/// storage resource but differ in validation, so their key is the resource with its group.
std::string StrategyKey(const Resource& resource) {
  return resource.storage_resource == "events" ? resource.group_resource()
                                               : resource.storage_resource;
}

/// Kinds whose updates validate metadata.generateName again.
constexpr const char* kValidatingGenerateName[] = {
    "configmaps",
    "controllerrevisions.apps",
    "ingressclasses.networking.k8s.io",
    "ingresses.networking.k8s.io",
    "jobs.batch",
    "limitranges",
    "namespaces",
    "networkpolicies.networking.k8s.io",
    "nodes",
    "persistentvolumeclaims",
    "persistentvolumes",
    "pods",
    "replicationcontrollers",
    "secrets",
    "serviceaccounts",
};

StrategiesByKind MakeStrategies() {
  StrategiesByKind strategies;
  strategies[kCrdStorageResource] = CrdStrategy();
  AddConfigStrategies(strategies);
  AddEventStrategies(strategies);
  AddJobStrategies(strategies);
  AddAutoscalingStrategies(strategies);
  AddOtherStrategies(strategies);
  AddPodStrategies(strategies);
  AddPodSubresourceStrategies(strategies);
  AddRbacStrategies(strategies);
  AddServiceStrategies(strategies);
  AddVolumeStrategies(strategies);
  AddWorkloadStrategies(strategies);
  AddWorkloadStatusStrategies(strategies);
  for (const char* kind : kValidatingGenerateName)
    strategies[kind].validates_generate_name_on_update = true;
  const Catalog built_in = Catalog::BuiltIn();
  for (const ResourcePtr& resource : built_in.all()) {
    auto& apply_defaults = strategies[StrategyKey(*resource)].apply_defaults;
    if (!apply_defaults) apply_defaults = SchemaDefaultsOf(*resource);
  }
  return strategies;
}

}  // namespace

std::function<void(nlohmann::json&)> SchemaDefaultsOf(const Resource& resource) {
  return
      [schema = resource.schema](nlohmann::json& object) { ApplyBuiltInDefaults(object, *schema); };
}

const KindStrategy& StrategyOf(const Resource& resource) {
  if (resource.strategy != nullptr) return *resource.strategy;
  static const StrategiesByKind strategies = MakeStrategies();
  static const KindStrategy default_strategy;
  const auto found = strategies.find(StrategyKey(resource));
  return found == strategies.end() ? default_strategy : found->second;
}

}  // namespace kopp::apiserver
