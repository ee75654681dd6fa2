#include "crd/server_catalog.hpp"

#include "crd/crd_validation.hpp"
#include "decoding/defaults.hpp"

#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

std::shared_ptr<const Catalog> ServerCatalog(StrategiesByKind strategies) {
  strategies[kCrdStorageResource] = CrdStrategy();
  std::map<std::string, std::shared_ptr<const KindStrategy>> shared;  // by the versions of a kind
  std::vector<ResourcePtr> resources;
  const Catalog catalog = Catalog::BuiltIn();
  for (const ResourcePtr& built_in : catalog.all()) {
    std::shared_ptr<const KindStrategy>& strategy = shared[built_in->group_resource()];
    if (strategy == nullptr) {
      KindStrategy rules;
      if (auto found = strategies.extract(built_in->group_resource()))
        rules = std::move(found.mapped());
      if (!rules.apply_defaults) {
        rules.apply_defaults = [schema = built_in->schema](nlohmann::json& object) {
          ApplyBuiltInDefaults(object, *schema);
        };
      }
      strategy = std::make_shared<const KindStrategy>(std::move(rules));
    }
    Resource resource = *built_in;
    resource.strategy = strategy;
    resources.push_back(std::make_shared<const Resource>(std::move(resource)));
  }
  if (!strategies.empty()) {
    throw std::invalid_argument("there is a strategy for " + strategies.begin()->first +
                                ", which is no built-in resource");
  }
  return std::make_shared<const Catalog>(std::move(resources));
}

}  // namespace kopp::apiserver
