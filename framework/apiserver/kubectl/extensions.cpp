#include "kubectl/extensions.hpp"

#include "api/virtual_resources.hpp"
#include "kubectl/access/privileges.hpp"
#include "kubectl/openapi/openapi_handler.hpp"
#include "kubectl/printers/table.hpp"
#include "kubectl/protobuf/protobuf_filter.hpp"
#include "kubectl/strategies/strategies.hpp"
#include "kubectl/virtual/virtual_kinds.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

namespace kopp::apiserver {
namespace {

constexpr TablePrinter kTables{.column_definitions = &MakeColumnDefinitions,
                               .cells = &MakeCells,
                               .row_conditions = &MakeRowConditions};

std::unique_ptr<RequestHandler> MakeProtobufFilter(ServerContext& context, RequestHandler& next) {
  return std::make_unique<ProtobufFilter>(context, next);
}

std::unique_ptr<PathHandler> MakeOpenApiHandler(ServerContext& context) {
  return std::make_unique<OpenApiHandler>(context);
}

/// Returns the resource with its strategy and its virtual subresources.
ResourcePtr Extend(const ResourcePtr& resource, const StrategiesByKind& strategies) {
  Resource extended = *resource;
  const auto found = strategies.find(resource->storage_resource);
  if (found != strategies.end()) {
    KindStrategy strategy = found->second;
    if (!strategy.apply_defaults) strategy.apply_defaults = SchemaDefaultsOf(*resource);
    extended.strategy = std::make_shared<const KindStrategy>(std::move(strategy));
  }
  const bool has_subresources = FurtherVirtualKinds().AddSubresources(extended);
  if (extended.strategy == nullptr && !has_subresources) return resource;
  return std::make_shared<const Resource>(std::move(extended));
}

StrategiesByKind FurtherStrategies() {
  StrategiesByKind strategies;
  AddEndpointsStrategies(strategies);
  AddEndpointSliceStrategies(strategies);
  AddWebhookStrategies(strategies);
  AddAdmissionPolicyStrategies(strategies);
  AddStorageStrategies(strategies);
  AddCertificateStrategies(strategies);
  AddClusterStrategies(strategies);
  for (const char* kind : {"endpoints", "endpointslices.discovery.k8s.io",
                           "mutatingwebhookconfigurations.admissionregistration.k8s.io",
                           "runtimeclasses.node.k8s.io", "storageclasses.storage.k8s.io",
                           "validatingwebhookconfigurations.admissionregistration.k8s.io"})
    strategies[kind].validates_generate_name_on_update = true;
  return strategies;
}

/// Returns Catalog::BuiltIn() with the strategies and the virtual kinds of this library.
std::shared_ptr<const Catalog> MakeCatalog() {
  const StrategiesByKind strategies = FurtherStrategies();
  std::vector<ResourcePtr> resources = Catalog::BuiltIn().all();
  for (ResourcePtr& resource : resources) resource = Extend(resource, strategies);
  const std::vector<ResourcePtr>& virtual_resources = FurtherVirtualKinds().resources();
  resources.insert(resources.end(), virtual_resources.begin(), virtual_resources.end());
  // The virtual kinds of both libraries, in the order of discovery responses.
  const auto first = std::find_if(resources.begin(), resources.end(),
                                  [](const ResourcePtr& each) { return IsVirtual(*each); });
  std::sort(first, resources.end(), [](const ResourcePtr& a, const ResourcePtr& b) {
    return std::tie(a->group, a->kind) < std::tie(b->group, b->kind);
  });
  return std::make_shared<const Catalog>(std::move(resources));
}

}  // namespace

const Extensions& AllExtensions() {
  static const Extensions all{.catalog = MakeCatalog(),
                              .virtual_kinds = FurtherVirtualKindHandlers(),
                              .tables = &kTables,
                              .make_protobuf_filter = &MakeProtobufFilter,
                              .make_path_handler = &MakeOpenApiHandler,
                              .impersonate = &Impersonate,
                              .check_write = &CheckEscalation};
  return all;
}

}  // namespace kopp::apiserver
