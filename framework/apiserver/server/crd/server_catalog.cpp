#include "crd/server_catalog.hpp"

#include "crd/crd_validation.hpp"
#include "decoding/defaults.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

std::shared_ptr<const Catalog> ServerCatalog(StrategiesByKind strategies) {
  strategies[kCrdStorageResource] = CrdStrategy();
  std::vector<ResourcePtr> resources;
  const Catalog catalog = Catalog::BuiltIn();  // has one version of each kind
  for (const ResourcePtr& built_in : catalog.all()) {
    KindStrategy strategy;
    if (auto found = strategies.extract(built_in->group_resource()))
      strategy = std::move(found.mapped());
    if (!strategy.apply_defaults) {
      strategy.apply_defaults = [schema = built_in->schema](nlohmann::json& object) {
        ApplyBuiltInDefaults(object, *schema);
      };
    }
    Resource resource = *built_in;
    resource.strategy = std::make_shared<const KindStrategy>(std::move(strategy));
    resources.push_back(std::make_shared<const Resource>(std::move(resource)));
  }
  if (!strategies.empty()) {
    throw std::invalid_argument("there is a strategy for " + strategies.begin()->first +
                                ", which is no built-in resource");
  }
  return std::make_shared<const Catalog>(std::move(resources));
}

}  // namespace kopp::apiserver
