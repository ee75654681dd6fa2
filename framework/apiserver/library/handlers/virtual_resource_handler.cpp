#include "handlers/virtual_resource_handler.hpp"

#include "api/request_body.hpp"
#include "api/status.hpp"
#include "decoding/defaults.hpp"
#include "fieldmanager/managed_fields.hpp"
#include "handlers/object_changes.hpp"
#include "storage/stored_objects.hpp"

#include <stdexcept>
#include <utility>

namespace kopp::apiserver {

using nlohmann::json;

VirtualKindHandler VirtualResourceHandler::HandlerOf(const std::string& kind) const {
  if (kind == "TokenReview") return &ReviewToken;
  if (kind.ends_with("SubjectAccessReview")) return &ReviewAccess;
  const auto& others = context_.extensions().virtual_kinds;
  const auto found = others.find(kind);
  if (found == others.end()) throw std::logic_error("no handler creates the kind " + kind);
  return found->second;
}

ServerResponse VirtualResourceHandler::Create(const ServerRequest& request, const Resource& kind,
                                              Warnings& warnings) {
  CheckMediaType(request, kind);
  const WriteOptions options = ReadWriteOptions(request, "CreateOptions");
  VirtualRequest virtual_request{context_, request, kind,
                                 DecodeObject(request, kind, options, warnings), options.dry_run};
  CheckNamespaceMatchesUrl(request, kind, EnsureMetadata(virtual_request.object));
  virtual_request.object.erase("status");
  json created = HandlerOf(kind.kind)(virtual_request);
  if (!created.is_null()) return {.status = 201, .body = ResponseObject(std::move(created), kind)};
  return {.status = 201,
          .body = json{{"kind", "Status"},
                       {"apiVersion", "v1"},
                       {"metadata", json::object()},
                       {"status", "Success"},
                       {"code", 201}}};
}

json WithManagedFields(const VirtualRequest& request) {
  const FieldManager manager{.name = request.request.field_manager(),
                             .api_version = request.kind.api_version(),
                             .subresource = request.request.target.subresource,
                             .time = request.context.Now()};
  return UpdateManagedFields(ZeroObject(*request.kind.schema), request.object, *request.kind.schema,
                             manager);
}

}  // namespace kopp::apiserver
