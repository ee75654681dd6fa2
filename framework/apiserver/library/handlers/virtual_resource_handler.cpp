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

VirtualResourceHandler::Handler VirtualResourceHandler::HandlerOf(const std::string& kind) {
  using Self = VirtualResourceHandler;
  constexpr std::pair<const char*, Handler> kHandlers[] = {
      {"Binding", &Self::Bind},
      {"Eviction", &Self::Evict},
      {"TokenRequest", &Self::RequestToken},
      {"TokenReview", &Self::ReviewToken},
      {"SelfSubjectReview", &Self::ReviewSelf},
      {"SubjectAccessReview", &Self::ReviewAccess},
      {"LocalSubjectAccessReview", &Self::ReviewAccess},
      {"SelfSubjectAccessReview", &Self::ReviewAccess},
      {"SelfSubjectRulesReview", &Self::ReviewRules},
  };
  for (const auto& [name, handler] : kHandlers) {
    if (name == kind) return handler;
  }
  throw std::logic_error("no handler creates the kind " + kind);
}

ServerResponse VirtualResourceHandler::Create(const ServerRequest& request, const Resource& kind,
                                              Warnings& warnings) {
  CheckMediaType(request, kind);
  const WriteOptions options = ReadWriteOptions(request, "CreateOptions");
  Params params{request, kind, DecodeObject(request, kind, options, warnings), options.dry_run};
  CheckNamespaceMatchesUrl(request, kind, EnsureMetadata(params.object));
  params.object.erase("status");
  const json created = (this->*HandlerOf(kind.kind))(params);
  if (!created.is_null()) return {.status = 201, .body = ResponseObject(created, kind).dump()};
  const json success{{"kind", "Status"},
                     {"apiVersion", "v1"},
                     {"metadata", json::object()},
                     {"status", "Success"},
                     {"code", 201}};
  return {.status = 201, .body = success.dump()};
}

json VirtualResourceHandler::WithManagedFields(const Params& params) {
  const FieldManager manager{.name = params.request.field_manager(),
                             .api_version = params.kind.api_version(),
                             .subresource = params.request.target.subresource,
                             .time = context_.Now()};
  return UpdateManagedFields(ZeroObject(*params.kind.schema), params.object, *params.kind.schema,
                             manager);
}

}  // namespace kopp::apiserver
