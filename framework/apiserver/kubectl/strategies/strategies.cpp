#include "kubectl/strategies/strategies.hpp"

#include <utility>
#include <vector>

namespace kopp::apiserver {
namespace {

StrategiesByKind MakeFurtherStrategies() {
  StrategiesByKind strategies;
  AddEndpointsStrategies(strategies);
  AddEndpointSliceStrategies(strategies);
  AddWebhookStrategies(strategies);
  AddAdmissionPolicyStrategies(strategies);
  AddStorageStrategies(strategies);
  AddCertificateStrategies(strategies);
  AddClusterStrategies(strategies);
  return strategies;
}

ResourcePtr WithStrategy(Resource resource, KindStrategy strategy) {
  if (!strategy.apply_defaults) strategy.apply_defaults = SchemaDefaultsOf(resource);
  resource.strategy = std::make_shared<const KindStrategy>(std::move(strategy));
  return std::make_shared<const Resource>(std::move(resource));
}

std::shared_ptr<const Catalog> MakeCatalog() {
  const StrategiesByKind strategies = MakeFurtherStrategies();
  std::vector<ResourcePtr> resources = Catalog::BuiltIn().all();
  for (ResourcePtr& resource : resources) {
    const auto found = strategies.find(resource->storage_resource);
    if (found != strategies.end()) resource = WithStrategy(*resource, found->second);
  }
  return std::make_shared<const Catalog>(std::move(resources));
}

}  // namespace

std::shared_ptr<const Catalog> CatalogWithAllStrategies() {
  static const std::shared_ptr<const Catalog> catalog = MakeCatalog();
  return catalog;
}

}  // namespace kopp::apiserver
