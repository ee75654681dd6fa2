#include "strategy/kind_strategy.hpp"

#include "decoding/defaults.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace kopp::apiserver {
namespace {

/// Returns the key in StrategiesByKind: the storage resource. The two API groups of Events share a
/// storage resource but differ in validation, so their key is the resource with its group.
std::string StrategyKey(const Resource& resource) {
  return resource.storage_resource == "events" ? resource.group_resource()
                                               : resource.storage_resource;
}

}  // namespace

const KindStrategy& StrategyOf(const Resource& resource) {
  static const KindStrategy default_strategy;
  return resource.strategy == nullptr ? default_strategy : *resource.strategy;
}

std::shared_ptr<const Catalog> BuiltInCatalog(StrategiesByKind strategies) {
  std::map<std::string, std::shared_ptr<const KindStrategy>> shared;  // by the versions of a kind
  std::vector<ResourcePtr> resources;
  const Catalog catalog = Catalog::BuiltIn();
  for (const ResourcePtr& built_in : catalog.all()) {
    const std::string key = StrategyKey(*built_in);
    std::shared_ptr<const KindStrategy>& strategy = shared[key];
    if (strategy == nullptr) {
      KindStrategy& made = strategies[key];
      if (!made.apply_defaults) {
        made.apply_defaults = [schema = built_in->schema](nlohmann::json& object) {
          ApplyBuiltInDefaults(object, *schema);
        };
      }
      strategy = std::make_shared<const KindStrategy>(std::move(made));
    }
    Resource resource = *built_in;
    resource.strategy = strategy;
    resources.push_back(std::make_shared<const Resource>(std::move(resource)));
  }
  return std::make_shared<const Catalog>(std::move(resources));
}

}  // namespace kopp::apiserver
