#include "kubectl/extensions.hpp"

#include "kubectl/access/escalation.hpp"
#include "kubectl/access/impersonation.hpp"
#include "kubectl/full_catalog.hpp"
#include "kubectl/openapi/openapi_handler.hpp"
#include "kubectl/printers/table.hpp"
#include "kubectl/protobuf/protobuf_filter.hpp"
#include "kubectl/virtual/virtual_kinds.hpp"

#include <memory>

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

}  // namespace

const Extensions& AllExtensions() {
  static const Extensions all{.catalog = FullCatalog(),
                              .virtual_kinds = FurtherVirtualKindHandlers(),
                              .tables = &kTables,
                              .make_protobuf_filter = &MakeProtobufFilter,
                              .make_path_handler = &MakeOpenApiHandler,
                              .impersonate = &Impersonate,
                              .check_write = &CheckEscalation};
  return all;
}

}  // namespace kopp::apiserver
