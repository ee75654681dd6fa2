#include "all_extensions.hpp"

#include "access/privileges.hpp"
#include "api/virtual_resources.hpp"
#include "kube_catalog.hpp"
#include "openapi/openapi_handler.hpp"
#include "printers/table.hpp"
#include "protobuf/protobuf_filter.hpp"
#include "virtual/virtual_kinds.hpp"

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

/// Returns KubeCatalog() with FurtherVirtualKinds().
std::shared_ptr<const Catalog> MakeCatalog() {
  std::vector<ResourcePtr> resources = KubeCatalog()->all();
  for (ResourcePtr& resource : resources) {
    Resource extended = *resource;
    if (FurtherVirtualKinds().AddSubresources(extended))
      resource = std::make_shared<const Resource>(std::move(extended));
  }
  const std::vector<ResourcePtr>& virtual_resources = FurtherVirtualKinds().resources();
  resources.insert(resources.end(), virtual_resources.begin(), virtual_resources.end());
  // All virtual kinds, in the order of discovery responses.
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
